//! The facts of one pass, from watch caches; what is missing is noted, and looked up before the pass goes on.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use kube::{Client, ResourceExt, api::ListParams};
use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_clowder::{
    errand::Errand,
    kinds,
    settings::Settings,
    summary::AppSummary,
    topics::TopicWishes,
    world::{
        Alphabet, Fact, NamespaceFacts, SecretFacts, TrackedFacts, TrackedKind, Unknown, World,
        files::{secret_facts, tracked_facts},
    },
};
use mainstay_cluster::{
    cache::{Cache, Known},
    error::causes,
    referenced::{Answer, Interest, Referenced},
    resource::{api, live_object, to_value},
    watch::Facts,
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind,
    live::{LiveObject, LiveView},
};
use mainstay_runtime::{
    pass::{Look, Observe, PassResult},
    system::System,
};
use serde_json::{Value, json};

use crate::{accounts::Accounts, errands::Errands, neighbours::Neighbours, newest::Newest, random};

/// What all passes share.
struct Shared {
    settings: Arc<Settings>,
    client: Client,
    cache: Arc<Cache>,
    referenced: Arc<Referenced>,
    neighbours: Arc<Neighbours>,
    newest: Newest,
    errands: Arc<Errands>,
    accounts: Arc<Accounts>,
    manager: FieldManager,
    facts: Facts,
}

/// Where passes look around.
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
        errands: Arc<Errands>,
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
                errands,
                accounts,
                manager: system.settings.manager,
                facts: system.settings.facts.clone(),
            }),
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
        self.shared.accounts.pass_looks(root);
        let world = Arc::new(ClusterWorld {
            root: root.clone(),
            shared: self.shared.clone(),
            asked: Mutex::default(),
        });
        ClusterLook {
            observed: world.clone(),
            world,
        }
    }

    fn ended(&self, root: &ObjectKey, result: Option<&PassResult>) {
        self.shared.accounts.pass_ended(root, result);
        self.shared.newest.forget(root);
        if let Some(result) = result {
            self.shared.neighbours.topics_written(root, &result.changes);
        } else {
            self.shared.referenced.register(root, BTreeSet::new());
            self.shared.errands.forget(root);
        }
    }
}

/// What a look asked for.
#[derive(Debug, Default)]
struct Asked {
    interests: BTreeSet<Interest>,
    missing: BTreeSet<Interest>,
    missing_own: BTreeSet<ObjectKey>,
    missing_roots: BTreeSet<ObjectKey>,
    missing_errands: BTreeSet<Errand>,
}

/// The world as one pass sees it.
pub struct ClusterWorld {
    root: ObjectKey,
    shared: Arc<Shared>,
    asked: Mutex<Asked>,
}

impl fmt::Debug for ClusterWorld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClusterWorld")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl ClusterWorld {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, interest: Interest) -> Fact<Vec<Arc<Value>>> {
        // Nothing goes on without its namespace, so its absence is made sure of; other absences are common and heal.
        let is_confirmed = *interest.kind() == kinds::NAMESPACE || is_unseen(&interest);
        let answer = if is_confirmed {
            self.shared.referenced.get_confirmed(&interest)
        } else {
            self.shared.referenced.get(&interest)
        };
        let mut asked = self.asked();
        // No watch would tell that it is there after all, so the next pass reads it again.
        let is_told_apart = is_unseen(&interest) && answer == Answer::Known(Vec::new());
        if !is_told_apart {
            asked.interests.insert(interest.clone());
        }
        match answer {
            Answer::Known(objects) => Ok(objects),
            Answer::Unknown => {
                asked.missing.insert(interest);
                Err(Unknown)
            }
        }
    }

    fn ask_one(&self, kind: Kind, namespace: &str, name: &str) -> Fact<Option<Arc<Value>>> {
        let interest = Interest::Object(ObjectKey::new(kind, namespace, name));
        Ok(self.ask(interest)?.into_iter().next())
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        match self.shared.cache.known(key) {
            Known::Nothing => None,
            Known::Whole(live) => Some(live),
            Known::Metadata(_) => {
                self.asked().missing_own.insert(key.clone());
                None
            }
        }
    }
}

impl World for ClusterWorld {
    fn environment(&self, name: &str) -> Option<Arc<ClowdEnvironment>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.environment(name))
    }

    fn apps(&self, environment: &str) -> Vec<Arc<AppSummary>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.apps(environment))
    }

    fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.apps_named(environment, name))
    }

    fn app(&self, namespace: &str, name: &str) -> Option<Arc<ClowdApp>> {
        let key = ObjectKey::new(kinds::CLOWD_APP, namespace, name);
        self.shared.newest.app(&key)
    }

    fn newest(&self, root: &ObjectKey) -> Fact<Option<String>> {
        let known = self.shared.newest.version(&self.root, root);
        known.inspect_err(|_| {
            self.asked().missing_roots.insert(root.clone());
        })
    }

    fn app_refs_named(&self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.app_refs_named(environment, name))
    }

    fn ingress_domain(&self) -> Option<String> {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.ingress_domain())
    }

    fn namespace(&self, name: &str) -> Fact<Option<NamespaceFacts>> {
        let namespace = self.ask_one(kinds::NAMESPACE, "", name)?;
        Ok(namespace.map(|namespace| NamespaceFacts {
            terminating: namespace.pointer("/metadata/deletionTimestamp").is_some(),
        }))
    }

    fn secret(&self, namespace: &str, name: &str) -> Fact<Option<Arc<SecretFacts>>> {
        let key = ObjectKey::new(kinds::SECRET, namespace, name);
        match self.shared.cache.known(&key) {
            // Values that we generated are among the facts of the Secret that holds them.
            Known::Whole(live) if live.facts.get("data").is_some() => {
                let mut facts = secret_facts(&live.facts);
                name.clone_into(&mut facts.name);
                return Ok(Some(Arc::new(facts)));
            }
            Known::Metadata(live) if live.facts.is_null() => {
                self.asked().missing_own.insert(key);
                return Err(Unknown);
            }
            _ => {}
        }
        let secret = self.ask_one(kinds::SECRET, namespace, name)?;
        Ok(secret.map(|secret| Arc::new(secret_facts(&secret))))
    }

    fn secrets_in(&self, namespace: &str) -> Fact<Vec<Arc<SecretFacts>>> {
        let secrets = self.ask(Interest::All(kinds::SECRET, namespace.to_owned()))?;
        let secrets = secrets.iter().map(|secret| Arc::new(secret_facts(secret)));
        Ok(secrets.collect())
    }

    fn tracked(
        &self,
        kind: TrackedKind,
        namespace: &str,
        name: &str,
    ) -> Fact<Option<TrackedFacts>> {
        let kind = match kind {
            TrackedKind::ConfigMap => kinds::CONFIG_MAP,
            TrackedKind::Secret => kinds::SECRET,
        };
        let interest = Interest::Digest(ObjectKey::new(kind, namespace, name));
        let digest = self.ask(interest)?.into_iter().next();
        Ok(digest.map(|digest| TrackedFacts {
            hash: digest["hash"].as_str().unwrap_or_default().to_owned(),
            restarts: digest["restarts"] == true,
        }))
    }

    fn live(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.get(key)
    }

    fn topic(&self, environment: &str, topic: &str) -> TopicWishes {
        let neighbours = &self.shared.neighbours;
        neighbours.with(|index| index.topic(environment, topic))
    }

    fn reported(&self, key: &ObjectKey) -> Option<Value> {
        self.asked().interests.insert(Interest::Object(key.clone()));
        let live = self.shared.cache.get(key);
        live.map(|live| live.facts.clone())
    }

    fn service_exists(&self, namespace: &str, name: &str) -> Fact<bool> {
        let key = ObjectKey::new(kinds::SERVICE, namespace, name);
        if !matches!(self.shared.cache.known(&key), Known::Nothing) {
            return Ok(true);
        }
        Ok(self.ask_one(kinds::SERVICE, namespace, name)?.is_some())
    }

    fn errand(&self, errand: &Errand) -> Fact<Result<String, String>> {
        let known = self.shared.errands.result(&self.root, errand);
        known.ok_or_else(|| {
            self.asked().missing_errands.insert(errand.clone());
            Unknown
        })
    }

    fn random(&self, _field: &str, alphabet: Alphabet, length: usize) -> String {
        random::text(alphabet, length)
    }

    fn watch_provider(&self, provider: &'static str, work: &mut dyn FnMut()) {
        let accounts = &self.shared.accounts;
        accounts.watch_provider(&self.root, provider, work);
    }
}

/// Whether no watch shows what somebody is interested in: of Services only ours are followed.
fn is_unseen(interest: &Interest) -> bool {
    *interest.kind() == kinds::SERVICE
}

/// A look of a pass.
pub struct ClusterLook {
    world: Arc<ClusterWorld>,
    /// The same, as corridors know it.
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
            missing_errands,
        } = std::mem::take(&mut *self.world.asked());
        let shared = &self.world.shared;
        let root = &self.world.root;
        let is_complete = missing.is_empty() && missing_own.is_empty() && missing_roots.is_empty();
        if is_complete && missing_errands.is_empty() {
            shared.referenced.register(root, interests);
            shared.newest.forget(root);
            return Ok(false);
        }
        // Whoever reads before listening misses what happens in between.
        shared.referenced.extend(root, interests);
        let reads = join_all(missing.into_iter().map(|interest| shared.read(interest)));
        let own = join_all(missing_own.into_iter().map(|key| shared.read_own(key)));
        let roots = missing_roots.into_iter();
        let roots = join_all(roots.map(|key| shared.newest.read(root, key)));
        let errands = missing_errands
            .into_iter()
            .map(|errand| shared.errands.run(root, errand));
        let (reads, own, roots, _) = tokio::join!(reads, own, roots, join_all(errands));
        for result in reads.into_iter().chain(own).chain(roots) {
            result.map_err(|error| causes(&error).join(": "))?;
        }
        Ok(true)
    }
}
