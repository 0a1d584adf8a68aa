//! A controller that waits for what it cannot do without.

use std::{fmt, future::Future, pin::Pin};

use mainstay_cluster::watch::WatchState;
use mainstay_engine::key::Kind;
use tokio::sync::watch::Receiver;

use super::RunState;

/// Work that lasts until the stop.
type Work = Box<dyn FnOnce(RunState) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// A controller, whatever it is for.
pub struct ControllerTask {
    /// Kinds that it does not work without: it would take what it cannot see for absent, and tell or write so.
    pub needs: &'static [Kind],
    /// Its work, until the stop.
    pub run: Work,
}

impl fmt::Debug for ControllerTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ControllerTask")
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

impl ControllerTask {
    /// The watches of the kinds that it needs, of all.
    pub(super) fn needed<'all>(
        &self,
        watches: impl Iterator<Item = (&'all Kind, &'all (String, Receiver<WatchState>))>,
    ) -> Vec<Receiver<WatchState>> {
        let needed = watches.filter(|(kind, _)| self.needs.contains(kind));
        needed.map(|(_, (_, receiver))| receiver.clone()).collect()
    }

    /// Runs as soon as everything that it needs has been seen once.
    pub(super) async fn begin(self, needed: Vec<Receiver<WatchState>>, mut state: RunState) {
        for mut receiver in needed {
            tokio::select! {
                _ = receiver.wait_for(|state| state.synced) => {}
                () = state.shutdown.wait() => return,
            }
        }
        (self.run)(state).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::{oneshot, watch};

    use super::*;
    use crate::shutdown::Shutdown;

    const APP: Kind = Kind::new("example.io", "v1", "App");
    const NEEDS: &[Kind] = &[APP];
    const JOB: Kind = Kind::new("example.io", "v1", "Job");

    #[tokio::test(start_paused = true)]
    async fn a_controller_waits_for_the_kinds_that_it_needs_and_for_no_other() {
        let (apps, listed_apps) = watch::channel(WatchState::default());
        let (_jobs, listed_jobs) = watch::channel(WatchState::default());
        let watches = [
            ("App".to_owned(), listed_apps),
            ("Job".to_owned(), listed_jobs),
        ];
        let (begun, mut has_begun) = oneshot::channel();
        let task = ControllerTask {
            needs: NEEDS,
            run: Box::new(|_| {
                let _ = begun.send(());
                Box::pin(std::future::ready(()))
            }),
        };
        let needed = task.needed([&APP, &JOB].into_iter().zip(&watches));
        let (_stopper, shutdown) = Shutdown::new();
        let (_working, working) = watch::channel(true);
        let state = RunState { shutdown, working };
        let running = tokio::spawn(task.begin(needed, state));
        tokio::time::sleep(std::time::Duration::from_mins(10)).await;
        assert!(has_begun.try_recv().is_err(), "apps are not listed yet");
        apps.send_modify(|state| state.synced = true);
        running.await.unwrap();
        assert!(has_begun.try_recv().is_ok());
    }
}
