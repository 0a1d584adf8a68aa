//! The index over all environments, apps and references of the cluster, and whom news about them wake.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_clowder::index::{Index, News, app_key, environment_key};
use mainstay_cluster::root::{RootObject, RootObserver};
use mainstay_engine::key::ObjectKey;
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

    fn spread(&self, news: &News) {
        for environment in &news.environments {
            self.router.wake(environment_key(environment));
        }
        for place in &news.apps {
            self.router.wake(app_key(place));
        }
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
