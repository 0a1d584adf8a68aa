//! The facts of one reconcile, from watch caches; what is missing is noted, and looked up before the reconcile goes on.

mod world;

use std::{collections::BTreeSet, fmt, sync::Arc};

use futures::future::join_all;
use kube::{Client, ResourceExt, api::ListParams};
use mainstay_clowder::{
    kinds,
    settings::Settings,
    world::{World, files::tracked_facts},
};
use mainstay_cluster::{
    cache::{Cache, Known},
    error::causes,
    fence::Fence,
    referenced::{Interest, Referenced},
    resource::{api, live_object, to_value},
    watch::Facts,
};
use mainstay_engine::{
    definition::Definition,
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind,
    live::{LiveObject, LiveView},
};
use mainstay_runtime::{
    reconcile::{Look, Observe, ReconcileResult},
    system::System,
};
use serde_json::{Value, json};

use self::world::{Asked, ClusterWorld};
use crate::{accounts::Accounts, effects::Effects, neighbours::Neighbours, newest::Newest};

/// What all reconciles share.
struct Shared {
    settings: Arc<Settings>,
    client: Client,
    cache: Arc<Cache>,
    referenced: Arc<Referenced>,
    neighbours: Arc<Neighbours>,
    newest: Newest,
    effects: Arc<Effects>,
    accounts: Arc<Accounts>,
    fence: Fence,
    manager: FieldManager,
    facts: Facts,
}

/// Where reconciles look around.
#[derive(Clone)]
pub struct Surroundings {
    shared: Arc<Shared>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Surroundings")
    }
}

impl Surroundings {
    /// The surroundings that a system's watches fill.
    pub fn new(
        system: &System,
        settings: Arc<Settings>,
        neighbours: Arc<Neighbours>,
        effects: Arc<Effects>,
        accounts: Arc<Accounts>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                client: system.client.clone(),
                cache: system.cache.clone(),
                referenced: system.referenced.clone(),
                newest: Newest::new(system, neighbours.clone()),
                neighbours,
                effects,
                accounts,
                fence: system.fence.clone(),
                manager: system.settings.manager,
                facts: system.settings.facts.clone(),
            }),
        }
    }

    /// Goes on as if there were an object like this that roots refer to.
    pub(crate) fn suppose(&self, key: &ObjectKey, object: &Value) {
        for interest in [Interest::Object(key.clone()), Interest::Digest(key.clone())] {
            let kept = self.shared.kept(&interest, object.clone());
            let referenced = &self.shared.referenced;
            referenced.learn(interest, "", vec![Arc::new(kept)]);
        }
    }

    /// Goes on as if an app were like this, whatever the cluster says.
    pub(crate) fn suppose_app(&self, key: ObjectKey, app: Value) {
        self.shared.newest.suppose(key, app);
    }
}

impl Shared {
    /// Reads the content of something that a root is interested in.
    async fn read(&self, interest: Interest) -> Result<(), kube::Error> {
        let Some(row) = kind::find(kinds::KINDS, interest.kind()) else {
            return Ok(());
        };
        let (version, objects) = match &interest {
            Interest::All(_, namespace) => {
                let list = api(self.client.clone(), row, namespace)
                    .list(&ListParams::default())
                    .await?;
                let version = list.metadata.resource_version.unwrap_or_default();
                let objects = list.items.into_iter().map(|object| to_value(row, object));
                (version, objects.map(Arc::new).collect())
            }
            Interest::Object(key) | Interest::Digest(key) => {
                let api = api(self.client.clone(), row, &key.namespace);
                match api.get_opt(&key.name).await? {
                    None => (String::new(), Vec::new()),
                    Some(object) => {
                        let version = object.resource_version().unwrap_or_default();
                        let value = to_value(row, object);
                        (version, vec![Arc::new(self.kept(&interest, value))])
                    }
                }
            }
        };
        self.referenced.learn(interest, &version, objects);
        Ok(())
    }

    /// Of what only has to be noticed no more than a hash is kept.
    fn kept(&self, interest: &Interest, value: Value) -> Value {
        if !matches!(interest, Interest::Digest(_)) {
            return value;
        }
        let annotation = &self.settings.config.settings.restarter_annotation;
        let tracked = tracked_facts(&value, annotation);
        json!({"hash": tracked.hash, "restarts": tracked.restarts})
    }

    /// Reads an object of ours of which only the metadata are known.
    async fn read_own(&self, key: ObjectKey) -> Result<(), kube::Error> {
        let Some(row) = kind::find(kinds::KINDS, &key.kind) else {
            return Ok(());
        };
        let api = api(self.client.clone(), row, &key.namespace);
        if let Some(object) = api.get_opt(&key.name).await? {
            let facts = |value: &Value| (self.facts)(&row.kind, value);
            let live = live_object(row, object, self.manager, facts);
            self.cache.learn(&live);
        } else if let Known::Metadata(live) | Known::Whole(live) = self.cache.known(&key) {
            self.cache.forget(&key, &live.uid);
        }
        Ok(())
    }
}

impl Observe<Arc<dyn World>> for Surroundings {
    type Look = ClusterLook;

    fn look(&self, root: &ObjectKey) -> ClusterLook {
        self.shared.accounts.reconcile_looks(root);
        let world = Arc::new(ClusterWorld::new(root.clone(), self.shared.clone()));
        ClusterLook {
            observed: world.clone(),
            world,
        }
    }

    fn ended(&self, root: &ObjectKey, result: Option<&ReconcileResult>) {
        self.shared.accounts.reconcile_ended(root, result);
        self.shared.newest.forget(root);
        if let Some(result) = result {
            self.shared.neighbours.topics_written(root, &result.changes);
        } else {
            self.shared.referenced.register(root, BTreeSet::new());
            self.shared.effects.forget(root);
        }
    }
}

/// A look of a reconcile.
pub struct ClusterLook {
    world: Arc<ClusterWorld>,
    /// The same, as reconcilers know it.
    observed: Arc<dyn World>,
}

impl fmt::Debug for ClusterLook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.world.fmt(formatter)
    }
}

impl LiveView for ClusterLook {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.world.get(key)
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.world.shared.cache.owned_by(owner_uid)
    }

    fn definition(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.world.shared.cache.definition(kind)
    }
}

impl Look<Arc<dyn World>> for ClusterLook {
    fn observed(&self) -> &Arc<dyn World> {
        &self.observed
    }

    async fn complete(&self) -> Result<bool, String> {
        let Asked {
            interests,
            missing,
            missing_own,
            missing_roots,
            missing_effects,
            lacks_randomness,
        } = std::mem::take(&mut *self.world.asked());
        if lacks_randomness {
            return Err("the machine has no random values to give".to_owned());
        }
        let shared = &self.world.shared;
        let root = &self.world.root;
        let is_complete = missing.is_empty() && missing_own.is_empty() && missing_roots.is_empty();
        if is_complete && missing_effects.is_empty() {
            shared.referenced.register(root, interests);
            shared.newest.forget(root);
            return Ok(false);
        }
        // What is done outside the cluster is a write like any other.
        if !missing_effects.is_empty() && !shared.fence.is_open() {
            return Err("leadership was lost".to_owned());
        }
        // Whoever reads before listening misses what happens in between.
        shared.referenced.extend(root, interests);
        let reads = join_all(missing.into_iter().map(|interest| shared.read(interest)));
        let own = join_all(missing_own.into_iter().map(|key| shared.read_own(key)));
        let roots = missing_roots.into_iter();
        let roots = join_all(roots.map(|key| shared.newest.read(root, key)));
        let effects = missing_effects
            .into_iter()
            .map(|effect| shared.effects.run(root, effect));
        let (reads, own, roots, _) = tokio::join!(reads, own, roots, join_all(effects));
        for result in reads.into_iter().chain(own).chain(roots) {
            result.map_err(|error| causes(&error).join(": "))?;
        }
        Ok(true)
    }
}
