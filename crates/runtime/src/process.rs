//! Systems as a process: probes and metrics on every replica, the controllers on the leader, a clean end.

use std::{future::Future, sync::Arc, time::Duration};

use kube::Client;
use mainstay_cluster::{
    fence::{Fence, Permit},
    watch::WatchState,
};
use mainstay_engine::corridor::Note;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{
    events,
    leadership::{Candidate, Election},
    metrics::{LeaseLabel, Metrics},
    server::{self, Probe, Probes},
    shutdown::{Shutdown, Signals, Stopper},
    system::{self, ControllerTask, System, WatchStates},
};

/// Watches that fail this often in a row do not recover by themselves: about ten minutes.
const HOPELESS_WATCH: u32 = 20;

/// How the process runs.
#[derive(Debug)]
pub struct ProcessSettings {
    /// Where metrics are served.
    pub metrics: Option<TcpListener>,
    /// Where probes are served.
    pub probes: Option<TcpListener>,
    /// Longest time for running passes to end after a signal.
    pub drain: Duration,
}

/// Makes the watches and controllers of a system when the process knows what they share.
pub type Start = Box<dyn FnOnce(Metrics, Fence) -> (System, Vec<ControllerTask>) + Send>;

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
    /// Another replica leads now, or the lease could not be renewed in time.
    #[error("leadership was lost")]
    LeadershipLost,
    /// Signals cannot be received.
    #[error("could not listen for signals")]
    Signals(#[source] std::io::Error),
    /// A second signal came before the drain was over.
    #[error("stopped by a second signal")]
    SecondSignal,
    /// Running passes did not end in time.
    #[error("running passes did not end within the time for a clean stop")]
    DrainTimeout,
}

/// Runs systems until a signal or the loss of leadership over one of them.
pub async fn run(
    client: Client,
    participants: Vec<Participant>,
    settings: ProcessSettings,
    metrics: Metrics,
) -> Result<(), ProcessError> {
    let mut signals = Signals::listen().map_err(ProcessError::Signals)?;
    let (stopper, shutdown) = Shutdown::new();
    let mut probed = Vec::new();
    let mut further = Vec::new();
    let mut leads = JoinSet::new();
    for participant in participants {
        let (permit, fence) = Fence::new(match participant.election {
            Some(_) => Permit::Denied,
            None => Permit::Granted,
        });
        let (states_sender, states) = watch::channel(WatchStates::new());
        probed.push((fence.clone(), states));
        further.extend(participant.ready);
        let (system, controllers) = (participant.start)(metrics.clone(), fence);
        let work = system::run(system, controllers, states_sender, shutdown.clone());
        leads.spawn(lead(
            client.clone(),
            participant.election,
            permit,
            metrics.clone(),
            work,
            shutdown.clone(),
        ));
    }
    let mut servers = JoinSet::new();
    if let Some(listener) = settings.probes {
        servers.spawn(server::serve_probes(
            listener,
            probes(probed, further),
            shutdown.clone(),
        ));
    }
    if let Some(listener) = settings.metrics {
        servers.spawn(server::serve_metrics(listener, metrics, shutdown));
    }
    let all = async {
        while let Some(ended) = leads.join_next().await {
            // A panic here is one of the process itself: passes have walls of their own.
            ended.unwrap_or(Err(ProcessError::LeadershipLost))?;
        }
        Ok(())
    };
    Box::pin(supervise(all, &mut signals, &stopper, settings.drain)).await
}

/// Waits for the work, the first signal, then the drain or the second signal.
async fn supervise(
    lead: impl Future<Output = Result<(), ProcessError>>,
    signals: &mut Signals,
    stopper: &Stopper,
    drain: Duration,
) -> Result<(), ProcessError> {
    tokio::pin!(lead);
    let signal = tokio::select! {
        ended = &mut lead => return ended,
        signal = signals.next() => signal,
    };
    stopper.stop();
    // Whoever reads this may count on it: nothing is begun any more.
    tracing::info!(signal, "Stopping");
    tokio::select! {
        ended = &mut lead => ended,
        _ = signals.next() => Err(ProcessError::SecondSignal),
        () = tokio::time::sleep(drain) => Err(ProcessError::DrainTimeout),
    }
}

/// Leads if and as long as it may, and works meanwhile. Gives the lease back only after the last write.
async fn lead(
    client: Client,
    election: Option<Election>,
    permit: watch::Sender<Permit>,
    metrics: Metrics,
    work: impl Future<Output = ()>,
    mut shutdown: Shutdown,
) -> Result<(), ProcessError> {
    let Some(election) = election else {
        work.await;
        return Ok(());
    };
    let name = election.name.clone();
    let identity = election.identity.clone();
    let gauge = metrics
        .leader
        .get_or_create_owned(&LeaseLabel { name: name.clone() });
    gauge.set(0.0);
    let mut candidate = Candidate::new(client.clone(), election, permit);
    tracing::info!(lease = %name, "Waiting for the lease");
    tokio::select! {
        () = candidate.acquire() => {}
        () = shutdown.wait() => return Ok(()),
    }
    gauge.set(1.0);
    tracing::info!(lease = %name, "Became leader");
    tokio::spawn(events::record(
        client,
        identity.clone(),
        candidate.reference(),
        Note {
            warning: false,
            reason: "LeaderElection",
            message: format!("{identity} became leader"),
        },
    ));
    let kept = candidate.keep(work).await;
    gauge.set(0.0);
    if !kept {
        return Err(ProcessError::LeadershipLost);
    }
    candidate.release().await;
    Ok(())
}

/// A standby is ready as it is; a leader is ready when its caches are filled.
fn probes(systems: Vec<(Fence, watch::Receiver<WatchStates>)>, further: Vec<Probe>) -> Probes {
    let systems = Arc::new(systems);
    let waiting = {
        let systems = systems.clone();
        move || -> Result<(), String> {
            for (_, states) in systems.iter().filter(|(fence, _)| fence.is_open()) {
                let states = states.borrow();
                if states.is_empty() {
                    return Err("the watches have not started".to_owned());
                }
                if let Some((kind, _)) = states.iter().find(|(_, state)| !state.borrow().synced) {
                    return Err(format!("the list of {kind} is not complete"));
                }
            }
            further.iter().try_for_each(|probe| probe())
        }
    };
    let stuck = move || -> Result<(), String> {
        for (_, states) in systems.iter() {
            let states = states.borrow();
            let hopeless = |(_, state): &&(String, watch::Receiver<WatchState>)| {
                state.borrow().failures >= HOPELESS_WATCH
            };
            if let Some((kind, _)) = states.iter().find(hopeless) {
                return Err(format!("the watch of {kind} keeps failing"));
            }
        }
        Ok(())
    };
    let (ready, live): (Probe, Probe) = (Arc::new(waiting), Arc::new(stuck));
    Probes { ready, live }
}
