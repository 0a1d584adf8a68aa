//! One at a time: of the reconciles that want the same object the first writes it, and the others see what it wrote.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_engine::key::ObjectKey;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// Who is at writing which object.
#[derive(Debug, Default)]
pub struct WriteLocks {
    queues: Mutex<HashMap<ObjectKey, Arc<Queue<()>>>>,
}

/// The right to write an object, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    locks: &'a WriteLocks,
    key: &'a ObjectKey,
    guard: Option<OwnedMutexGuard<()>>,
}

impl WriteLocks {
    /// Waits for the turn to write an object.
    pub(crate) async fn take<'a>(&'a self, key: &'a ObjectKey) -> Turn<'a> {
        let queue = self.lock(|queues| queues.entry(key.clone()).or_default().clone());
        // Waiting from here on, so that a queue is cleared away also when the wait is given up.
        let mut turn = Turn {
            locks: self,
            key,
            guard: None,
        };
        turn.guard = Some(queue.lock_owned().await);
        turn
    }

    fn lock<R>(&self, with: impl FnOnce(&mut HashMap<ObjectKey, Arc<Queue<()>>>) -> R) -> R {
        with(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        self.locks.lock(|queues| {
            let unused = queues
                .get(self.key)
                .is_some_and(|queue| Arc::strong_count(queue) == 1);
            if unused {
                queues.remove(self.key);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use mainstay_engine::key::Kind;

    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Kind::new("", "v1", "ServiceAccount"), "shop", name)
    }

    #[tokio::test]
    async fn the_second_waits_for_the_first_and_others_do_not() {
        let locks = WriteLocks::default();
        let (shared, other) = (key("shared"), key("other"));
        let first = locks.take(&shared).await;
        let mut second = Box::pin(locks.take(&shared));
        assert!((&mut second).now_or_never().is_none());
        assert!(locks.take(&other).now_or_never().is_some());
        drop(first);
        assert!(second.now_or_never().is_some());
    }

    #[tokio::test]
    async fn nothing_is_left_behind_even_by_who_gives_up() {
        let locks = WriteLocks::default();
        let shared = key("shared");
        let first = locks.take(&shared).await;
        let waiting = locks.take(&shared).now_or_never();
        assert!(waiting.is_none());
        assert_eq!(locks.lock(|queues| queues.len()), 1, "the first is at it");
        drop(first);
        assert_eq!(locks.lock(|queues| queues.len()), 0);
    }
}
