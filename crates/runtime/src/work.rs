//! One system at work: its watches from the moment it may work, then a controller for each kind of root until the stop.

mod task;

use std::time::Duration;

use futures::future::select_all;
use tokio::{sync::watch, task::JoinSet, time::Instant};

pub use self::task::ControllerTask;
use crate::{
    shutdown::Shutdown,
    stores::{Stores, WatchStates},
};

/// Longest time to wait for a kind that cannot be listed before work begins without it.
const SYNC_PATIENCE: Duration = Duration::from_secs(30);

/// Ends when every watch has seen everything once. A reconcile over half-filled stores would create what exists; the
/// guard of the create would catch it, at the price of requests.
///
/// A kind that cannot be listed must not stop the others, so after a while work begins without it: nothing of it is
/// cached, so nothing of it is deleted, and what exists is found by the guard of the create. Controllers that would
/// conclude something from what a kind does not hold wait on, see [`ControllerTask::needs`].
pub async fn wait_for_sync(stores: &Stores, receivers: &WatchStates) {
    // Counted from the first answer: while nobody answers there is nothing to be impatient about.
    let first = receivers.iter().map(|(_, receiver)| {
        let mut receiver = receiver.clone();
        // A closed channel means that the watch ended, which ends the process.
        Box::pin(async move { receiver.wait_for(|state| state.synced).await.is_ok() })
    });
    select_all(first).await;
    let patience = Instant::now() + SYNC_PATIENCE;
    for (row, (kind, receiver)) in stores.settings.declared.iter().zip(receivers) {
        let mut receiver = receiver.clone();
        let synced = receiver.wait_for(|state| state.synced);
        if tokio::time::timeout_at(patience, synced).await.is_err() {
            tracing::warn!(kind, "Work begins although this kind could not be listed");
            stores.views.go_on_without(&row.kind);
        }
    }
}

/// What a controller goes by while it runs.
#[derive(Clone, Debug)]
pub struct RunState {
    /// Whether the process shall stop.
    pub shutdown: Shutdown,
    /// Whether reconciles may run: we lead, and the API server can be reached.
    pub working: watch::Receiver<bool>,
}

/// How far a system has come, for the probes.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The watches, as soon as there are any.
    pub states: WatchStates,
    /// The controllers run.
    pub started: bool,
}

/// A task that never ends has ended.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what} ended, which it never should; this is a defect, please report it with the log above"
)]
pub struct TaskEnded {
    /// Which.
    pub what: String,
    /// Its panic.
    #[source]
    pub source: Option<tokio::task::JoinError>,
}

/// Follows the kinds of a system from the moment it may work and, when all is known, runs its controllers until the stop;
/// then they drain. The watches go on when the lead is lost, so that the next term begins with full stores.
pub async fn run(
    stores: Stores,
    controllers: Vec<ControllerTask>,
    progress: watch::Sender<Progress>,
    mut state: RunState,
) -> Result<(), TaskEnded> {
    tokio::select! {
        _ = state.working.wait_for(|working| *working) => {}
        () = state.shutdown.wait() => return Ok(()),
    }
    let mut watches = JoinSet::new();
    let receivers = stores.follow(&mut watches);
    progress.send_modify(|progress| progress.states.clone_from(&receivers));
    let work = async {
        let mut stop = state.shutdown.clone();
        tokio::select! {
            () = wait_for_sync(&stores, &receivers) => {}
            () = stop.wait() => return Ok(()),
        }
        progress.send_modify(|progress| progress.started = true);
        let mut running = JoinSet::new();
        for controller in controllers {
            let kinds = stores.settings.declared.iter().map(|row| &row.kind);
            let needed = controller.needed(kinds.zip(&receivers));
            running.spawn(controller.begin(needed, state.clone()));
        }
        while let Some(ended) = running.join_next().await {
            ended.map_err(|source| TaskEnded {
                what: "a controller".to_owned(),
                source: Some(source),
            })?;
        }
        Ok(())
    };
    tokio::select! {
        ended = work => ended,
        ended = first_end(&mut watches) => Err(TaskEnded {
            what: ended_watch(&receivers),
            source: ended,
        }),
    }
}

/// Waits for the first of the tasks to end.
async fn first_end(tasks: &mut JoinSet<()>) -> Option<tokio::task::JoinError> {
    match tasks.join_next().await {
        Some(ended) => ended.err(),
        // Without a kind there is no watch.
        None => std::future::pending().await,
    }
}

/// Which watch has ended: it reports its state no more.
fn ended_watch(states: &WatchStates) -> String {
    let mut ended = states.iter();
    let ended = ended.find(|(_, state)| state.has_changed().is_err());
    let kind = ended.map_or("some kind", |(kind, _)| kind.as_str());
    format!("the watch of {kind}")
}

#[cfg(test)]
mod tests {
    use mainstay_cluster::watch::WatchState;

    use super::*;

    #[tokio::test]
    async fn a_watch_that_panics_is_noticed_and_named() {
        let (_service, service) = watch::channel(WatchState::default());
        let (deployment, deployments) = watch::channel(WatchState::default());
        let states = vec![
            ("Service".to_owned(), service),
            ("Deployment".to_owned(), deployments),
        ];
        let mut watches = JoinSet::new();
        watches.spawn(std::future::pending());
        watches.spawn(async move {
            let _held = deployment;
            tokio::task::yield_now().await;
            panic!("a defect");
        });
        let source = first_end(&mut watches).await;
        assert!(source.is_some_and(|error| error.is_panic()));
        assert_eq!(ended_watch(&states), "the watch of Deployment");
    }
}
