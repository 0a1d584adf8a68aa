//! The index over all environments, apps and references of the cluster, and whom news about them wake.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_clowder::{
    index::{Index, News, app_key, environment_key, invocation_key},
    kinds,
};
use mainstay_cluster::root::{RootObject, RootObserver};
use mainstay_engine::{
    change_set::{Change, ChangeSet},
    key::ObjectKey,
};
use mainstay_runtime::system::Router;

/// The shared index.
pub struct Neighbours {
    index: Mutex<Index>,
    router: Arc<Router>,
}

impl fmt::Debug for Neighbours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Neighbours")
    }
}

impl Neighbours {
    /// An empty index that wakes through a router.
    pub fn new(router: Arc<Router>) -> Self {
        Self {
            index: Mutex::default(),
            router,
        }
    }

    /// Asks the index.
    pub fn with<R>(&self, ask: impl FnOnce(&mut Index) -> R) -> R {
        ask(&mut self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An app has written topics. They belong to its environment, which counts them; the echo of the write would not wake
    /// it, because it is no news to the caches.
    pub fn topics_written(&self, root: &ObjectKey, changes: &ChangeSet) {
        if root.kind != kinds::CLOWD_APP {
            return;
        }
        let written = changes.rows.iter().filter_map(|row| match &row.change {
            Change::Created(live) | Change::Configured(live) => Some(live),
            _ => None,
        });
        let topics = written.filter(|live| live.key.kind == kinds::KAFKA_TOPIC);
        let owners = topics.flat_map(|topic| topic.owners.iter().map(|owner| owner.name.as_str()));
        for environment in owners.collect::<BTreeSet<&str>>() {
            self.router.wake(environment_key(environment));
        }
    }

    fn spread(&self, news: &News) {
        for environment in &news.environments {
            self.router.wake(environment_key(environment));
        }
        for place in &news.apps {
            self.router.wake(app_key(place));
        }
        for place in &news.invocations {
            self.router.wake(invocation_key(place));
        }
    }

    /// Has a root looked at.
    pub(crate) fn wake(&self, key: ObjectKey) {
        self.router.wake(key);
    }
}

impl RootObserver for Neighbours {
    fn learned(&self, root: &RootObject) {
        let news = self.with(|index| index.learn(&root.root.key, &root.value));
        self.spread(&news);
    }

    fn forgotten(&self, key: &ObjectKey) {
        let news = self.with(|index| index.forget(key));
        self.spread(&news);
    }
}
