//! Who is woken by what: the queues of the controllers, and the views of roots.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mainstay_cluster::{
    root::{RootObject, RootObserver},
    views::Views,
};
use mainstay_engine::key::{Kind, ObjectKey};
use serde_json::Value;
use tokio::sync::mpsc;

/// Keys of roots that somebody wants looked at.
pub type Changes = mpsc::UnboundedReceiver<ObjectKey>;

/// The ends of the queues, by kind of root.
#[derive(Debug, Default)]
pub struct Router {
    queues: Mutex<HashMap<Kind, mpsc::UnboundedSender<ObjectKey>>>,
}

impl Router {
    /// Has a root looked at. Waking somebody whom no controller is for is harmless.
    pub fn wake(&self, key: ObjectKey) {
        if let Some(queue) = self.queues().get(&key.kind) {
            // The receiver is gone only when the process stops.
            let _ = queue.send(key);
        }
    }

    pub(super) fn open(&self, kind: Kind) -> Changes {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.queues().insert(kind, sender);
        receiver
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Kind, mpsc::UnboundedSender<ObjectKey>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the views of roots, and wakes who sees a difference in them.
pub(super) struct RootViews {
    pub(super) views: Arc<Views>,
    pub(super) router: Arc<Router>,
}

impl RootViews {
    fn changed(&self, key: &ObjectKey, version: &str, object: Option<&Value>) {
        for root in self.views.root_changed(key, version, object) {
            self.router.wake(root);
        }
    }
}

impl RootObserver for RootViews {
    fn learned(&self, root: &RootObject) {
        let (key, version) = (&root.root.key, &root.root.resource_version);
        self.changed(key, version, Some(&root.value));
    }

    fn forgotten(&self, key: &ObjectKey) {
        self.changed(key, "", None);
    }
}
