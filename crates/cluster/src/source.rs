//! Where the snapshots of reconciles come from: the stores that the watches of a system fill, and what is fetched besides.

mod snapshot;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::{Api, Client, ResourceExt, api::DynamicObject, api::ListParams};
use mainstay_engine::{
    backoff::Backoff,
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind::{DeclaredKind, KindTable},
    snapshot::{AnyIndex, AnyView, Index, Projected},
};
use serde_json::Value;

pub use self::snapshot::{ClusterSnapshot, Fetched};
use crate::{
    cache::{Cache, Known},
    effects::Effects,
    fence::Fence,
    resource::{api, live_object, to_value},
    root::{RootObject, RootStore},
    views::{Interest, Subject, Views},
    watch::{Facts, Wake},
};

/// Tries of a fresh read before the reconcile counts as failed.
const ATTEMPTS: u32 = 6;
/// Objects of a list that are in memory as a whole at one time. A Secret may have a megabyte, which takes twice as much
/// while it is read.
const PAGE: u32 = 16;

/// Looks at how long units take.
pub trait UnitTimer: Send + Sync {
    /// Lets a unit of the reconcile of a root do its part.
    fn time(&self, root: &ObjectKey, unit: &'static str, work: &mut dyn FnMut());
}

/// The stores of a system, as far as reconciles read them.
pub struct Source {
    /// API client.
    pub client: Client,
    /// The system's kinds.
    pub declared: KindTable,
    /// Its field manager.
    pub manager: FieldManager,
    /// What it keeps of live objects.
    pub facts: Facts,
    /// Our own objects.
    pub cache: Arc<Cache>,
    /// What reconciles asked for.
    pub views: Arc<Views>,
    /// Roots, by kind.
    pub roots: HashMap<Kind, Arc<RootStore>>,
    /// What is done outside the cluster.
    pub effects: Arc<Effects>,
    /// Leadership.
    pub fence: Fence,
    /// Enqueues roots.
    pub wake: Wake,
    /// Whether reconciles wait for effects: at the command line nobody would enqueue their roots again.
    pub waits_for_effects: bool,
    /// Who looks at how long units take.
    pub timer: Option<Arc<dyn UnitTimer>>,
    /// Objects that are taken to be like this, whatever the cluster says: files over the cluster.
    pub supposed: Supposed,
}

/// Objects that are taken to be like this, whatever the cluster says.
#[derive(Debug, Default)]
pub struct Supposed(Mutex<BTreeMap<ObjectKey, Value>>);

impl Supposed {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Source")
    }
}

impl Source {
    /// What the reconcile of a root may know.
    pub fn snapshot(self: &Arc<Self>, root: &ObjectKey) -> ClusterSnapshot {
        ClusterSnapshot::new(root.clone(), self.clone())
    }

    /// A root is gone, and with it all interest that it had.
    pub fn forget(&self, root: &ObjectKey) {
        self.views.retain(root, BTreeSet::new());
        self.effects.forget_root(root);
    }

    /// Goes on as if there were an object like this. Returns the roots that are known to see a difference.
    pub fn suppose(&self, key: &ObjectKey, object: Value) -> Vec<ObjectKey> {
        let interested = self.suppose_indexed(key, &object);
        self.supposed.lock().insert(key.clone(), object);
        interested
    }

    /// Goes by the cluster again.
    pub fn suppose_no_more(&self, key: &ObjectKey) {
        self.supposed.lock().remove(key);
    }

    /// Goes on as if indexes held a root like this.
    pub fn suppose_indexed(&self, key: &ObjectKey, object: &Value) -> Vec<ObjectKey> {
        self.views.root_changed(key, "", Some(object))
    }

    /// The roots that an index has under a key.
    pub fn indexed<V, A>(&self, index: &'static Index<V, A>, key: &str) -> Vec<Arc<V>>
    where
        V: Send + Sync + 'static,
        Index<V, A>: AnyIndex,
    {
        let members = self.views.members(index, key).into_iter();
        members.filter_map(Projected::downcast).collect()
    }

    /// A view of a root as the store has it, with its version.
    fn root_view(
        &self,
        key: &ObjectKey,
        view: &'static dyn AnyView,
    ) -> Option<(String, Vec<Projected>)> {
        let store = self.roots.get(&key.kind)?;
        let Some(root) = store.get(key) else {
            return Some((String::new(), Vec::new()));
        };
        let views = view.project(&root.value).into_iter().collect();
        Some((root.root.resource_version, views))
    }

    fn row(&self, kind: &Kind) -> Option<&DeclaredKind> {
        self.declared.find(kind)
    }

    /// Reads what a root is interested in, and keeps the view of it.
    async fn fetch(
        &self,
        subject: Arc<Subject>,
        view: &'static dyn AnyView,
    ) -> Result<(), kube::Error> {
        let Some(row) = subject.kind().and_then(|kind| self.row(kind)) else {
            return Ok(());
        };
        let (version, views) = match &*subject {
            Subject::Indexed(_) => return Ok(()),
            Subject::List(_, namespace) => self.fetch_list(row, namespace, view).await?,
            Subject::Object(key) => {
                let api = api(self.client.clone(), row, &key.namespace);
                match api.get_opt(&key.name).await? {
                    None => (String::new(), Vec::new()),
                    Some(object) => {
                        let version = object.resource_version().unwrap_or_default();
                        let value = to_value(row, object);
                        (version, view.project(&value).into_iter().collect())
                    }
                }
            }
        };
        let interest = Interest {
            subject,
            view: view.name(),
        };
        self.views.learn(&interest, &version, views);
        Ok(())
    }

    /// Reads a list page by page; of each page nothing but the views is kept.
    async fn fetch_list(
        &self,
        row: &DeclaredKind,
        namespace: &str,
        view: &'static dyn AnyView,
    ) -> Result<(String, Vec<Projected>), kube::Error> {
        let api = api(self.client.clone(), row, namespace);
        let mut parameters = ListParams::default().limit(PAGE);
        let mut views = Vec::new();
        loop {
            let page = api.list(&parameters).await?;
            let objects = page.items.into_iter().map(|object| to_value(row, object));
            views.extend(objects.filter_map(|object| view.project(&object)));
            let Some(token) = page.metadata.continue_.filter(|token| !token.is_empty()) else {
                let version = page.metadata.resource_version.unwrap_or_default();
                return Ok((version, views));
            };
            parameters = parameters.continue_token(&token);
        }
    }

    /// Reads an object of ours of which only the metadata are known.
    async fn fetch_own(&self, key: &ObjectKey) -> Result<(), kube::Error> {
        let Some(row) = self.row(&key.kind) else {
            return Ok(());
        };
        let api = api(self.client.clone(), row, &key.namespace);
        if let Some(object) = api.get_opt(&key.name).await? {
            let facts = |value: &Value| (self.facts)(&row.kind, value);
            self.cache
                .learn(&live_object(row, object, self.manager, facts));
        } else if let Known::Metadata(live) | Known::Whole(live) = self.cache.known(key) {
            self.cache.forget(key, &live.uid);
        }
        Ok(())
    }

    /// Reads a root as it is at this moment; returns its version. The stores learn from it, so that whoever asked sees a
    /// state that is at least as new.
    async fn fetch_fresh(&self, key: &ObjectKey) -> Result<Option<String>, kube::Error> {
        let Some((store, row)) = self.roots.get(&key.kind).zip(self.row(&key.kind)) else {
            return Ok(None);
        };
        let api = api(self.client.clone(), row, &key.namespace);
        let Some(object) = get_steadily(&api, &key.name).await? else {
            if let Some(root) = store.get(key) {
                store.forget(key, &root.root.uid);
            }
            return Ok(None);
        };
        let version = object.resource_version();
        let root = RootObject::of(key.clone(), to_value(row, object));
        // The watch will find nothing new in it, so whoever has to look is told now.
        if store.learn(&root) {
            (self.wake)(key.clone());
        }
        Ok(version)
    }
}

/// Reads an object; what the network or the server spoils is tried again. Two roots have to be read in one reconcile, so
/// a failure would cost the reconcile both, and a longer pause.
async fn get_steadily(
    api: &Api<DynamicObject>,
    name: &str,
) -> Result<Option<DynamicObject>, kube::Error> {
    for attempt in 1..ATTEMPTS {
        match api.get_opt(name).await {
            Err(kube::Error::Api(answer)) if answer.is_forbidden() => {
                return Err(kube::Error::Api(answer));
            }
            Err(_) => {}
            read => return read,
        }
        tokio::time::sleep(Backoff::SHORT.pause(attempt)).await;
    }
    api.get_opt(name).await
}

#[cfg(test)]
mod tests;
