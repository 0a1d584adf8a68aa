//! One system as a process: probes and metrics on every replica, the controller on the leader, a clean end.

use std::{future::Future, sync::Arc, time::Duration};

use kube::Client;
use mainstay_cluster::fence::{Fence, Permit};
use mainstay_engine::corridor::{Corridor, Note};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{
    controller::{Controller, ControllerSettings, WatchStates},
    events,
    leadership::{Candidate, Election},
    metrics::{LeaseLabel, Metrics},
    server::{self, Probe, Probes},
    shutdown::{Shutdown, Signals, Stopper},
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
    /// Election, if there may be other replicas.
    pub election: Option<Election>,
    /// Longest time for running passes to end after a signal.
    pub drain: Duration,
    /// The controller.
    pub controller: ControllerSettings,
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

/// Runs a system until a signal or the loss of leadership.
pub async fn run<C: Corridor<Observed = ()>>(
    corridor: C,
    client: Client,
    settings: ProcessSettings,
) -> Result<(), ProcessError> {
    let mut signals = Signals::listen().map_err(ProcessError::Signals)?;
    let (stopper, shutdown) = Shutdown::new();
    let metrics = Metrics::new();
    let (permit, fence) = Fence::new(match settings.election {
        Some(_) => Permit::Denied,
        None => Permit::Granted,
    });
    let (states_sender, states) = watch::channel(WatchStates::new());
    let mut servers = JoinSet::new();
    if let Some(listener) = settings.probes {
        servers.spawn(server::serve_probes(
            listener,
            probes(fence.clone(), states),
            shutdown.clone(),
        ));
    }
    if let Some(listener) = settings.metrics {
        servers.spawn(server::serve_metrics(
            listener,
            metrics.clone(),
            shutdown.clone(),
        ));
    }
    let controller = Controller::new(
        corridor,
        client.clone(),
        settings.controller,
        metrics.clone(),
        fence,
    );
    let work = controller.run(states_sender, shutdown.clone());
    let lead = lead(client, settings.election, permit, metrics, work, shutdown);
    Box::pin(supervise(lead, &mut signals, &stopper, settings.drain)).await
}

/// Waits for the work, the first signal, then the drain or the second signal.
async fn supervise(
    lead: impl Future<Output = Result<(), ProcessError>>,
    signals: &mut Signals,
    stopper: &Stopper,
    drain: Duration,
) -> Result<(), ProcessError> {
    tokio::pin!(lead);
    tokio::select! {
        ended = &mut lead => return ended,
        signal = signals.next() => tracing::info!(signal, "Stopping"),
    }
    stopper.stop();
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
fn probes(fence: Fence, states: watch::Receiver<WatchStates>) -> Probes {
    let waiting = {
        let states = states.clone();
        move || -> Result<(), String> {
            if !fence.is_open() {
                return Ok(());
            }
            let states = states.borrow();
            if states.is_empty() {
                return Err("the watches have not started".to_owned());
            }
            match states.iter().find(|(_, state)| !state.borrow().synced) {
                Some((kind, _)) => Err(format!("the list of {kind} is not complete")),
                None => Ok(()),
            }
        }
    };
    let stuck = move || -> Result<(), String> {
        let states = states.borrow();
        match states
            .iter()
            .find(|(_, state)| state.borrow().failures >= HOPELESS_WATCH)
        {
            Some((kind, _)) => Err(format!("the watch of {kind} keeps failing")),
            None => Ok(()),
        }
    };
    let (ready, live): (Probe, Probe) = (Arc::new(waiting), Arc::new(stuck));
    Probes { ready, live }
}
