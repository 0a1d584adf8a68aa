//! Systems as a process: probes and metrics on every replica, the controllers on the leader, a clean end.
//!
//! Two threads. The one that calls [`run`] has the watches and the reconciles; `runtime::control` has what must go on while
//! those are busy: leases, probes, metrics.

mod health;
mod standing;

use std::{future::Future, io, net::TcpListener, time::Duration};

use kube::{Client, Config};
use mainstay_cluster::{
    fence::{Fence, Permit},
    reach::Reach,
};
use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
};

use self::{health::Health, standing::Standing};
use crate::{
    control::Control,
    leadership::Election,
    metrics::Metrics,
    pulse::Pulse,
    server::{self, Probe},
    shutdown::{Shutdown, Signals, Stopper},
    stores::Stores,
    work::{self, ControllerTask, Progress, RunState, TaskEnded},
};

/// How the process runs.
#[derive(Debug)]
pub struct ProcessSettings {
    /// Where metrics are served.
    pub metrics: Option<TcpListener>,
    /// Where probes are served.
    pub probes: Option<TcpListener>,
    /// Longest time for running reconciles to end after a signal.
    pub drain: Duration,
}

/// How the process reaches the cluster.
pub struct Connection {
    /// For clients of other threads: connections belong to the thread that opened them.
    pub config: Config,
    /// Client of the reconciles.
    pub client: Client,
    /// Whether somebody answers it.
    pub reach: Reach,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Connection")
    }
}

/// Makes the watches and controllers of a system when the process knows what they share.
pub type Start = Box<dyn FnOnce(Metrics, Fence) -> (Stores, Vec<ControllerTask>) + Send>;

/// A system that takes part in the process.
pub struct Participant {
    /// Name of the system.
    pub name: &'static str,
    /// Election, if there may be other replicas.
    pub election: Option<Election>,
    /// What else has to be well before the process counts as ready, leader or not.
    pub ready: Option<Probe>,
    /// Its parts.
    pub start: Start,
}

impl std::fmt::Debug for Participant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Participant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Why the process ends although nobody asked it to.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// A part that never ends has ended.
    #[error(transparent)]
    Ended(#[from] TaskEnded),
    /// Probes or metrics cannot be served any more.
    #[error("could not serve {what}")]
    Served {
        /// What.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The thread for leases, probes and metrics cannot be started.
    #[error("could not start a thread")]
    Thread(#[source] io::Error),
    /// Signals cannot be received.
    #[error("could not listen for signals")]
    Signals(#[source] io::Error),
    /// A second signal came before the drain was over.
    #[error("stopped by a second signal")]
    SecondSignal,
    /// Running passes did not end in time.
    #[error("running passes did not end within the time for a clean stop")]
    DrainTimeout,
}

/// Runs systems until a signal. Who takes part may take a while to find out; probes are answered meanwhile.
pub async fn run<E: From<ProcessError>>(
    connection: Connection,
    participants: impl Future<Output = Result<Vec<Participant>, E>>,
    settings: ProcessSettings,
    metrics: Metrics,
) -> Result<(), E> {
    let mut signals = Signals::listen().map_err(ProcessError::Signals)?;
    let (stopper, shutdown) = Shutdown::new();
    let process = Process {
        control: Control::start().map_err(ProcessError::Thread)?,
        connection,
        pulse: Pulse::default(),
        health: Health::default(),
        metrics,
        shutdown,
    };
    // Until the first beat the pulse is as old as the process.
    let mut aside = JoinSet::new();
    aside.spawn(process.pulse.clone().keep());
    let reach = process.connection.reach.clone();
    aside.spawn(reach.look_out(process.connection.client.clone()));
    let servers = process.serve(settings.probes, settings.metrics);
    let work = async {
        let mut stop = process.shutdown.clone();
        let participants = tokio::select! {
            participants = participants => participants?,
            () = stop.wait() => return Ok(()),
        };
        Ok(process.lead_all(participants).await?)
    };
    let all = async {
        tokio::select! {
            ended = work => ended,
            failed = failure(servers) => Err(failed.into()),
            Some(ended) = aside.join_next() => Err(ended_task("the heartbeat", ended.err()).into()),
        }
    };
    Box::pin(supervise(all, &mut signals, &stopper, settings.drain)).await
}

/// What the parts of the process share.
struct Process {
    control: Control,
    connection: Connection,
    pulse: Pulse,
    health: Health,
    metrics: Metrics,
    shutdown: Shutdown,
}

impl Process {
    /// Serves probes and metrics beside everything else.
    fn serve(
        &self,
        probes: Option<TcpListener>,
        metrics: Option<TcpListener>,
    ) -> JoinSet<(&'static str, io::Result<()>)> {
        let mut servers = JoinSet::new();
        if let Some(listener) = probes {
            let probes = self.health.probes(self.pulse.clone());
            let serve = server::serve_probes(listener, probes, self.shutdown.clone());
            servers.spawn_on(async { ("probes", serve.await) }, self.control.handle());
        }
        if let Some(listener) = metrics {
            let serve =
                server::serve_metrics(listener, self.metrics.clone(), self.shutdown.clone());
            servers.spawn_on(async { ("metrics", serve.await) }, self.control.handle());
        }
        servers
    }

    /// Runs all systems until each of them has drained.
    async fn lead_all(&self, participants: Vec<Participant>) -> Result<(), ProcessError> {
        let mut systems = JoinSet::new();
        let mut further = Vec::new();
        let mut probed = Vec::new();
        for participant in participants {
            let (permit, fence) = Fence::new(match participant.election {
                Some(_) => Permit::Denied,
                None => Permit::Granted,
            });
            let (progress, seen) = watch::channel(Progress::default());
            probed.push((fence.clone(), seen));
            further.extend(participant.ready);
            let (leading, leads) = watch::channel(participant.election.is_none());
            let standing = participant.election.map(|election| Standing {
                election,
                permit,
                leading,
                fence: fence.clone(),
                pulse: self.pulse.clone(),
                metrics: self.metrics.clone(),
            });
            let (stores, controllers) = (participant.start)(self.metrics.clone(), fence);
            let (working, may_work) = watch::channel(false);
            let state = RunState {
                shutdown: self.shutdown.clone(),
                working: may_work,
            };
            let work = work::run(stores, controllers, progress, state);
            let away = self.connection.reach.away();
            let config = self.connection.config.clone();
            let control = self.control.handle().clone();
            systems.spawn(async move {
                let combine = combine(leads, away, working);
                let work = async {
                    tokio::select! {
                        ended = work => ended.map_err(ProcessError::from),
                        () = combine => std::future::pending().await,
                    }
                };
                match standing {
                    Some(standing) => standing.beside(work, config, &control).await,
                    None => work.await,
                }
            });
        }
        self.health.set(probed, further);
        while let Some(ended) = systems.join_next().await {
            ended.unwrap_or_else(|error| Err(ended_task("a system", Some(error))))?;
        }
        Ok(())
    }
}

/// Passes run while we lead and somebody answers.
async fn combine(
    mut leads: watch::Receiver<bool>,
    mut away: watch::Receiver<bool>,
    working: watch::Sender<bool>,
) {
    loop {
        let may_work = *leads.borrow_and_update() && !*away.borrow_and_update();
        working.send_if_modified(|working| std::mem::replace(working, may_work) != may_work);
        tokio::select! {
            Ok(()) = leads.changed() => {}
            Ok(()) = away.changed() => {}
            else => return,
        }
    }
}

fn ended_task(what: &str, source: Option<JoinError>) -> ProcessError {
    ProcessError::Ended(TaskEnded {
        what: what.to_owned(),
        source,
    })
}

/// Waits for a server to fail. At the stop they end well, which says nothing.
async fn failure(mut servers: JoinSet<(&'static str, io::Result<()>)>) -> ProcessError {
    while let Some(ended) = servers.join_next().await {
        match ended {
            Ok((_, Ok(()))) => {}
            Ok((what, Err(source))) => return ProcessError::Served { what, source },
            Err(error) => return ended_task("a server", Some(error)),
        }
    }
    std::future::pending().await
}

/// Waits for the work, the first signal, then the drain or the second signal.
async fn supervise<E: From<ProcessError>>(
    work: impl Future<Output = Result<(), E>>,
    signals: &mut Signals,
    stopper: &Stopper,
    drain: Duration,
) -> Result<(), E> {
    tokio::pin!(work);
    let signal = tokio::select! {
        ended = &mut work => return ended,
        signal = signals.next() => signal,
    };
    stopper.stop();
    // Whoever reads this may count on it: nothing is begun any more.
    tracing::info!(signal, "Stopping");
    tokio::select! {
        ended = &mut work => ended,
        _ = signals.next() => Err(ProcessError::SecondSignal.into()),
        () = tokio::time::sleep(drain) => Err(ProcessError::DrainTimeout.into()),
    }
}
