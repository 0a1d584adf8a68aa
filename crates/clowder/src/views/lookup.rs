//! What a reconcile asks its snapshot, in Clowder's words.

use std::sync::Arc;

use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_engine::{
    ObjectKey,
    live::{LiveObject, LiveView},
    snapshot::{Alphabet, Answer, EffectResult, Snapshot},
};
use serde_json::Value;

use crate::{
    gates::grants::{Grants, Standing},
    kinds,
    names::{self, Labels},
    providers::effect::Effect,
    settings::Settings,
    views::{
        self, AppPlace, NamespaceFacts, SecretFacts, TrackedFacts, TrackedKind,
        summary::AppSummary, topics::TopicWishes, within,
    },
};

/// The questions of a reconcile.
#[derive(Clone, Copy)]
pub struct Lookup<'render> {
    snapshot: &'render dyn Snapshot,
    /// Whether only those belong to an environment whom it grants it.
    requires_grants: bool,
}

impl std::fmt::Debug for Lookup<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Lookup")
    }
}

impl<'render> Lookup<'render> {
    /// Asks a snapshot.
    pub const fn new(snapshot: &'render dyn Snapshot, settings: &Settings) -> Self {
        Self {
            snapshot,
            requires_grants: settings.config.settings.require_environment_grant,
        }
    }

    /// The environment of this name. Its `status.apps` is not filled.
    pub fn environment(self, name: &str) -> Answer<Option<Arc<ClowdEnvironment>>> {
        let key = kinds::environment_key(name);
        let seen = self.snapshot.view(&key, &views::ENVIRONMENT)?;
        Ok(seen.map(|seen| seen.0.clone()))
    }

    /// All apps that belong to an environment, in any namespace, in ascending order of the text `<app>-<namespace>`.
    pub fn apps(self, environment: &str) -> Vec<Arc<AppSummary>> {
        let apps = self
            .snapshot
            .indexed(&views::APPS_BY_ENVIRONMENT, environment);
        in_order(self.members(apps))
    }

    /// The apps of an environment with this name, in the order of [`apps`](Self::apps).
    pub fn apps_named(self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        let key = within(environment, name);
        in_order(self.members(self.snapshot.indexed(&views::APPS_BY_NAME, &key)))
    }

    /// The apps of an environment with paths that may meet one with this key.
    pub fn apps_at(self, environment: &str, key: &str) -> Vec<Arc<AppSummary>> {
        let key = within(environment, key);
        in_order(self.members(self.snapshot.indexed(&views::APPS_BY_PATH, &key)))
    }

    /// Where the apps of an environment with this name are, in the order of [`apps`](Self::apps).
    pub fn places_named(self, environment: &str, name: &str) -> Vec<Arc<AppPlace>> {
        // Of one name, so the order of namespaces is the order of the text.
        let key = within(environment, name);
        let mut places = self.snapshot.indexed(&views::PLACES_BY_NAME, &key);
        places.retain(|place| self.is_member(environment, &place.namespace, name));
        places
    }

    /// The whole app in a place, as far as the watches know.
    pub fn app(self, namespace: &str, name: &str) -> Answer<Option<Arc<ClowdApp>>> {
        let seen = self
            .snapshot
            .view(&kinds::app_key(namespace, name), &views::APP)?;
        Ok(seen.map(|seen| seen.0.clone()))
    }

    /// The newest resource version of a root, read from the cluster in this very reconcile; `None` if the root does not
    /// exist. Whoever asked and got an answer sees a state of the root that is at least as new.
    pub fn fresh(self, root: &ObjectKey) -> Answer<Option<String>> {
        self.snapshot.fresh(root)
    }

    /// The app references of an environment with this name, in ascending order of their namespace.
    pub fn app_refs_named(self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>> {
        let key = within(environment, name);
        let references = self
            .snapshot
            .indexed(&views::REFERENCES_BY_NAME, &key)
            .into_iter();
        let references = references.map(|seen| seen.0.clone());
        let may_join = |reference: &Arc<ClowdAppRef>| {
            let joins = self.may_join(environment, names::namespace(&reference.metadata));
            joins.unwrap_or(false)
        };
        references.filter(may_join).collect()
    }

    /// Whether only those belong to an environment whom it grants it.
    pub const fn requires_grants(self) -> bool {
        self.requires_grants
    }

    /// Whether apps of a namespace may join an environment.
    pub fn may_join(self, environment: &str, namespace: &str) -> Answer<bool> {
        self.is_granted(environment, |grants| {
            grants.join(namespace, || self.namespace_labels(namespace))
        })
    }

    /// Whether apps of a namespace may use what belongs to apps of other namespaces of the environment.
    pub fn may_share(self, environment: &str, namespace: &str) -> Answer<bool> {
        self.is_granted(environment, |grants| {
            grants.share(namespace, || self.namespace_labels(namespace))
        })
    }

    fn is_granted(
        self,
        environment: &str,
        question: impl FnOnce(&Grants) -> Answer<bool>,
    ) -> Answer<bool> {
        if !self.requires_grants {
            return Ok(true);
        }
        let key = kinds::environment_key(environment);
        match self.snapshot.view(&key, &views::GRANTS)? {
            Some(grants) => question(&grants),
            None => Ok(false),
        }
    }

    fn namespace_labels(self, name: &str) -> Answer<Option<Labels>> {
        let key = ObjectKey::new(kinds::NAMESPACE, "", name);
        let labels = self.snapshot.view(&key, &views::NAMESPACE_LABELS)?;
        Ok(labels.map(|labels| Labels::clone(&labels)))
    }

    /// Where an app stands with the environment that it names. Much is named after apps, so of several with one name
    /// only the oldest belongs to it, and those that may share.
    pub fn standing(self, environment: &str, namespace: &str, name: &str) -> Answer<Standing> {
        if !self.requires_grants {
            return Ok(Standing::Member);
        }
        if !self.may_join(environment, namespace)? {
            return Ok(Standing::NotGranted);
        }
        if self.may_share(environment, namespace)? {
            return Ok(Standing::Member);
        }
        let mut named = self
            .snapshot
            .indexed(&views::APPS_BY_NAME, &within(environment, name));
        named.sort_by_cached_key(|app| app.seniority());
        for app in named {
            if app.namespace == namespace {
                break;
            }
            if self.may_join(environment, &app.namespace)? {
                return Ok(Standing::NameTaken(app.namespace.clone()));
            }
        }
        Ok(Standing::Member)
    }

    /// Whether an app belongs to the environment that it names. Not as long as that is unknown, which ends the round.
    fn is_member(self, environment: &str, namespace: &str, name: &str) -> bool {
        self.standing(environment, namespace, name) == Ok(Standing::Member)
    }

    fn members(self, mut apps: Vec<Arc<AppSummary>>) -> Vec<Arc<AppSummary>> {
        apps.retain(|app| self.is_member(&app.environment, &app.namespace, &app.name));
        apps
    }

    /// The domain that the cluster publishes hosts under. Only OpenShift has one.
    pub fn ingress_domain(self) -> Answer<Option<String>> {
        let key = ObjectKey::new(kinds::CLUSTER_INGRESS, "", "cluster");
        let domain = self.snapshot.view(&key, &views::INGRESS_DOMAIN)?;
        Ok(domain.map(|domain| String::clone(&domain)))
    }

    /// A namespace.
    pub fn namespace(self, name: &str) -> Answer<Option<NamespaceFacts>> {
        let key = ObjectKey::new(kinds::NAMESPACE, "", name);
        let facts = self.snapshot.view(&key, &views::NAMESPACE)?;
        Ok(facts.map(|facts| *facts))
    }

    /// The uid of the environment that made a namespace; `None` if none says so.
    pub fn namespace_maker(self, name: &str) -> Answer<Option<Arc<String>>> {
        let key = ObjectKey::new(kinds::NAMESPACE, "", name);
        self.snapshot.view(&key, &views::NAMESPACE_MAKER)
    }

    /// Whether another environment says that a namespace is its own.
    pub fn is_target_of_another(self, namespace: &str, environment: &str) -> bool {
        let targets = self
            .snapshot
            .indexed(&views::ENVIRONMENTS_BY_TARGET, namespace);
        targets
            .iter()
            .any(|target| target.environment != environment)
    }

    /// A Secret.
    pub fn secret(self, namespace: &str, name: &str) -> Answer<Option<Arc<SecretFacts>>> {
        let key = ObjectKey::new(kinds::SECRET, namespace, name);
        self.snapshot.view(&key, &views::SECRET)
    }

    /// The Secrets of a namespace that a view has something to say about, in ascending order of their names.
    pub fn secrets_in(
        self,
        namespace: &str,
        view: &'static mainstay_engine::snapshot::View<SecretFacts>,
    ) -> Answer<Vec<Arc<SecretFacts>>> {
        self.snapshot.list(&kinds::SECRET, namespace, view)
    }

    /// What is tracked of a referenced object.
    pub fn tracked(
        self,
        kind: TrackedKind,
        namespace: &str,
        name: &str,
    ) -> Answer<Option<Arc<TrackedFacts>>> {
        let key = ObjectKey::new(kind.kind(), namespace, name);
        self.snapshot.view(&key, &views::TRACKED)
    }

    /// An object of ours, as far as it is known. Absence here is no proof of absence in the cluster.
    pub fn live(self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        LiveView::get(self.snapshot, key)
    }

    /// What all apps of an environment together want of a Kafka topic.
    pub fn topic(self, environment: &str, topic: &str) -> Arc<TopicWishes> {
        let key = within(environment, topic);
        if !self.requires_grants {
            return self.snapshot.aggregate(&views::TOPICS, &key);
        }
        let mut wishes = TopicWishes::default();
        for app in self.members(self.snapshot.indexed(&views::TOPICS, &key)) {
            wishes.add_all(topic, &app);
        }
        Arc::new(wishes)
    }

    /// What another operator reports about an object, ours or not, as the facts of [`crate::views::facts`]; `None` if there is
    /// no such object. Whoever asks is woken when the answer changes.
    pub fn reported(self, key: &ObjectKey) -> Option<Value> {
        self.snapshot.reported(key)
    }

    /// Whether there is a Service of this name, whoever it belongs to.
    pub fn service_exists(self, namespace: &str, name: &str) -> Answer<bool> {
        let key = ObjectKey::new(kinds::SERVICE, namespace, name);
        self.snapshot.exists(&key)
    }

    /// What came of an effect outside the cluster.
    pub fn effect(self, effect: Effect) -> Answer<EffectResult> {
        self.snapshot.effect(Arc::new(effect))
    }

    /// A value that has never been used before, for a field of an object. Offline: a placeholder that says so.
    pub fn generated(self, field: &str, alphabet: Alphabet, length: usize) -> String {
        self.snapshot.generated(field, alphabet, length)
    }

    /// Lets a provider do its part, see [`Snapshot::run_unit`].
    pub fn run_unit(self, provider: &'static str, work: &mut dyn FnMut()) {
        self.snapshot.run_unit(provider, work);
    }

    /// The namespaces that belong to an environment: those of its apps and the target namespace, each once.
    pub fn namespaces(self, environment: &str, target_namespace: &str) -> Vec<String> {
        let apps = self.apps(environment);
        let mut namespaces: Vec<String> = apps.iter().map(|app| app.namespace.clone()).collect();
        namespaces.push(target_namespace.to_owned());
        namespaces.sort();
        namespaces.dedup();
        namespaces
    }
}

fn in_order(mut apps: Vec<Arc<AppSummary>>) -> Vec<Arc<AppSummary>> {
    apps.sort_by_cached_key(|app| (app.sort_key(), app.namespace.clone()));
    apps
}
