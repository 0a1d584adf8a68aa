//! One system's candidature, on the thread that nothing can block.

use std::future::Future;

use kube::Config;
use mainstay_cluster::{
    client::connect,
    fence::{Fence, Permit},
};
use mainstay_engine::reconciler::Event;
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
};

use super::{ProcessError, ended_task};
use crate::{
    events,
    leadership::{Candidate, Election},
    metrics::{LeaseLabel, Metrics},
    pulse::Pulse,
};

/// Everything that a candidature needs, so that it can run on another thread.
pub(super) struct Standing {
    pub(super) election: Election,
    pub(super) permit: watch::Sender<Permit>,
    /// Says whether we lead.
    pub(super) leading: watch::Sender<bool>,
    pub(super) fence: Fence,
    pub(super) pulse: Pulse,
    pub(super) metrics: Metrics,
}

impl Standing {
    /// Stands for election again and again while the work goes on, and gives the lease back after its last write.
    pub(super) async fn beside(
        self,
        work: impl Future<Output = Result<(), ProcessError>>,
        config: Config,
        control: &Handle,
    ) -> Result<(), ProcessError> {
        let (finish, finished) = oneshot::channel();
        let mut standing = control.spawn(self.stand(config, finished));
        tokio::select! {
            ended = work => {
                drop(finish);
                let standing = standing.await;
                ended?;
                standing.map_err(|error| ended_task("the election", Some(error)))
            }
            ended = &mut standing => Err(ended_task("the election", ended.err())),
        }
    }

    async fn stand(self, config: Config, mut finished: oneshot::Receiver<()>) {
        let name = self.election.name.clone();
        let gauge = self
            .metrics
            .leader
            .get_or_create_owned(&LeaseLabel { name: name.clone() });
        gauge.set(0.0);
        let client = match connect(config, None) {
            Ok(client) => client,
            // The client of the reconciles was made from the same configuration.
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "Could not build the API client of the lease"
                );
                return;
            }
        };
        let identity = self.election.identity.clone();
        let mut candidate = Candidate::new(client.clone(), self.election, self.permit, self.pulse);
        loop {
            tracing::info!(lease = %name, "Waiting for the lease");
            tokio::select! {
                () = candidate.acquire() => {}
                _ = &mut finished => return,
            }
            gauge.set(1.0);
            tracing::info!(lease = %name, "Became leader");
            self.leading.send_replace(true);
            tokio::spawn(events::record(
                client.clone(),
                self.fence.clone(),
                identity.clone(),
                candidate.reference(),
                Event {
                    warning: false,
                    reason: "LeaderElection",
                    message: format!("{identity} became leader"),
                },
            ));
            let kept = candidate
                .keep(async {
                    let _ = (&mut finished).await;
                })
                .await;
            gauge.set(0.0);
            if kept {
                candidate.release().await;
                return;
            }
            tracing::warn!(lease = %name, "Lost the lease; nothing is written until it is ours again");
            self.leading.send_replace(false);
        }
    }
}
