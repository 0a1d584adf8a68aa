//! Roots as they are in the cluster at this moment. The watches bring the same a little later; what must not be started
//! from an old state waits for a read.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kube::{Api, Client, ResourceExt, api::DynamicObject};
use mainstay_api::clowder::ClowdApp;
use mainstay_clowder::{
    kinds,
    world::{Fact, Unknown},
};
use mainstay_cluster::{
    resource::{api, to_value},
    root::{RootObject, RootStore},
};
use mainstay_engine::{
    key::{Kind, ObjectKey},
    kind,
};
use mainstay_runtime::system::System;
use serde_json::Value;

use crate::neighbours::Neighbours;

/// Tries of a read before the reconcile counts as failed.
const ATTEMPTS: u32 = 6;

/// Reads roots, and remembers for each reconcile what was read for it.
pub(crate) struct Newest {
    client: Client,
    stores: HashMap<Kind, Arc<RootStore>>,
    neighbours: Arc<Neighbours>,
    /// By the root whose pass asked: versions of what was read, `None` of what does not exist.
    read: Mutex<HashMap<ObjectKey, BTreeMap<ObjectKey, Option<String>>>>,
    /// Apps that are taken to be like this, whatever the cluster says.
    supposed: Mutex<BTreeMap<ObjectKey, Arc<ClowdApp>>>,
}

impl fmt::Debug for Newest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Newest")
    }
}

impl Newest {
    pub(crate) fn new(system: &System, neighbours: Arc<Neighbours>) -> Self {
        let store = |kind: Kind| {
            let store = system.sink(&kind).roots;
            (kind, store)
        };
        Self {
            client: system.client.clone(),
            stores: [kinds::CLOWD_APP, kinds::CLOWD_JOB_INVOCATION]
                .map(store)
                .into(),
            neighbours,
            read: Mutex::default(),
            supposed: Mutex::default(),
        }
    }

    /// The app with this key, as far as is known.
    pub(crate) fn app(&self, key: &ObjectKey) -> Option<Arc<ClowdApp>> {
        if let Some(app) = lock(&self.supposed).get(key) {
            return Some(app.clone());
        }
        let root = self.stores.get(&key.kind)?.get(key)?;
        Some(Arc::new(serde_json::from_value(root.value).ok()?))
    }

    /// The version of a root that was read for the current reconcile of another, `None` if it does not exist; unknown if it
    /// was not read.
    pub(crate) fn version(&self, asking: &ObjectKey, key: &ObjectKey) -> Fact<Option<String>> {
        if lock(&self.supposed).contains_key(key) {
            return Ok(Some(String::new()));
        }
        let read = lock(&self.read);
        let known = read.get(asking).and_then(|read| read.get(key));
        known.cloned().ok_or(Unknown)
    }

    /// Reads a root for the reconcile of another.
    pub(crate) async fn read(&self, asking: &ObjectKey, key: ObjectKey) -> Result<(), kube::Error> {
        let Some((store, row)) = self
            .stores
            .get(&key.kind)
            .zip(kind::find(kinds::KINDS, &key.kind))
        else {
            return Ok(());
        };
        let api = api(self.client.clone(), row, &key.namespace);
        let mut version = None;
        if let Some(object) = get(&api, &key.name).await? {
            version = object.resource_version();
            let root = RootObject::of(key.clone(), to_value(row, object));
            // The watch will find nothing new in it, so whoever has to look is told now.
            if store.learn(&root) {
                self.neighbours.wake(key.clone());
            }
        } else if let Some(root) = store.get(&key) {
            store.forget(&key, &root.root.uid);
        }
        let mut read = lock(&self.read);
        read.entry(asking.clone()).or_default().insert(key, version);
        Ok(())
    }

    /// The reconcile has all its answers; the next one asks again.
    pub(crate) fn forget(&self, asking: &ObjectKey) {
        lock(&self.read).remove(asking);
    }

    /// Goes on as if an app were like this.
    pub(crate) fn suppose(&self, key: ObjectKey, app: Value) {
        if let Ok(app) = serde_json::from_value(app) {
            lock(&self.supposed).insert(key, Arc::new(app));
        }
    }
}

/// Reads an object; what the network or the server spoils is tried again. Two roots have to be read in one reconcile, so a
/// failure would cost the reconcile both, and a longer pause.
async fn get(api: &Api<DynamicObject>, name: &str) -> Result<Option<DynamicObject>, kube::Error> {
    let mut pause = Duration::from_millis(50);
    for _ in 1..ATTEMPTS {
        match api.get_opt(name).await {
            Err(kube::Error::Api(answer)) if answer.is_forbidden() => {
                return Err(kube::Error::Api(answer));
            }
            Err(_) => {}
            read => return read,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    api.get_opt(name).await
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
