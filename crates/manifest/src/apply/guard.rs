//! Ends before the end: deadlines and callers who changed their mind.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};

use crate::client::ClientError;

/// Ends a running apply or delete after the request that is under way; clones share it.
#[derive(Clone, Debug)]
pub struct Cancellation(Arc<watch::Sender<bool>>);

impl Default for Cancellation {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Cancellation {
    /// Ends it.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was ended.
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    async fn cancelled(&self) {
        // The sender lives as long as this does.
        let _ = self.0.subscribe().wait_for(|cancelled| *cancelled).await;
    }
}

/// Runs work until it is too late.
pub(crate) struct Guard {
    deadline: Option<Instant>,
    cancellation: Cancellation,
}

impl Guard {
    pub(crate) fn new(limit: Option<Duration>, cancellation: Cancellation) -> Self {
        Self {
            deadline: limit.map(|limit| Instant::now() + limit),
            cancellation,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        let is_late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        self.cancellation.is_cancelled() || is_late
    }

    pub(crate) async fn run<T>(
        &self,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let deadline = self.deadline.unwrap_or_else(far_away);
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(ClientError::Cancelled),
            () = tokio::time::sleep_until(deadline), if self.deadline.is_some() => Err(ClientError::Deadline),
            result = work => result,
        }
    }
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_hours(24)
}
