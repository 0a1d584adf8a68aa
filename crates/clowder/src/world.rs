//! What a reconcile can see of the cluster.
//!
//! In the cluster the facts come from watch caches, offline from files. Both sides of a question are facts: that an
//! object is absent is known as surely as that it is there, or else the answer is [`Unknown`].

pub mod files;

use std::{collections::BTreeMap, sync::Arc};

use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_engine::{Kind, ObjectKey, live::LiveObject};
use serde_json::Value;

use crate::{effect::Effect, kinds, summary::AppSummary, topics::TopicWishes};

/// The answer is not known yet. The reconcile is told what was asked, looks it up and renders again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not known yet")]
pub struct Unknown;

/// An answer, or the wish to know it.
pub type Fact<T> = Result<T, Unknown>;

/// A Secret, with its values decoded.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretFacts {
    /// Name of the Secret.
    pub name: String,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// `type`.
    pub kind: Option<String>,
    /// `data`, decoded.
    pub data: BTreeMap<String, Vec<u8>>,
}

impl std::fmt::Debug for SecretFacts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<&String> = self.data.keys().collect();
        let mut shown = formatter.debug_struct("SecretFacts");
        shown.field("name", &self.name).field("keys", &keys);
        shown.finish_non_exhaustive()
    }
}

impl SecretFacts {
    /// A value as text; bytes that are no text are replaced, as the original does when it writes JSON.
    pub fn text(&self, key: &str) -> Option<String> {
        self.data
            .get(key)
            .map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Whether all of these keys exist; empty values count.
    pub fn has_keys(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.data.contains_key(*key))
    }
}

/// A namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Deletion was requested.
    pub terminating: bool,
}

/// Which kind of object a workload refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrackedKind {
    /// A `ConfigMap`.
    ConfigMap,
    /// A `Secret`.
    Secret,
}

impl TrackedKind {
    /// The kind.
    pub const fn kind(self) -> Kind {
        match self {
            Self::ConfigMap => kinds::CONFIG_MAP,
            Self::Secret => kinds::SECRET,
        }
    }

    /// Name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// What is kept of an object whose changes restart pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedFacts {
    /// Hash of its data: see [`crate::providers::confighash`].
    pub hash: String,
    /// Whether the restarter annotation says `true`.
    pub restarts: bool,
}

/// Letters that a generated value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `A-Z a-z 0-9`.
    Alphanumeric,
    /// `a-z 0-9`.
    LowerAlphanumeric,
    /// `a-f 0-9`.
    Hexadecimal,
}

impl Alphabet {
    /// The letters.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Alphanumeric => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            Self::LowerAlphanumeric => "abcdefghijklmnopqrstuvwxyz0123456789",
            Self::Hexadecimal => "abcdef0123456789",
        }
    }
}

/// The facts of one reconcile.
pub trait World: Send + Sync {
    /// The environment of this name. Its `status.apps` is not filled.
    fn environment(&self, name: &str) -> Option<Arc<ClowdEnvironment>>;

    /// All apps of an environment in any namespace, in ascending order of the text `<app>-<namespace>`.
    fn apps(&self, environment: &str) -> Vec<Arc<AppSummary>>;

    /// The apps of an environment with this name, in the order of [`apps`](Self::apps).
    fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>>;

    /// The whole app in a place, as far as the watches know.
    fn app(&self, namespace: &str, name: &str) -> Option<Arc<ClowdApp>>;

    /// The newest resource version of a root, read from the cluster in this very pass; `None` if the root does not
    /// exist. Whoever asked and got an answer sees a state of the root that is at least as new.
    fn newest(&self, root: &ObjectKey) -> Fact<Option<String>>;

    /// The app references of an environment with this name, in ascending order of their namespace.
    fn app_refs_named(&self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>>;

    /// The domain that the cluster publishes hosts under. Only OpenShift has one.
    fn ingress_domain(&self) -> Option<String>;

    /// A namespace.
    fn namespace(&self, name: &str) -> Fact<Option<NamespaceFacts>>;

    /// A Secret.
    fn secret(&self, namespace: &str, name: &str) -> Fact<Option<Arc<SecretFacts>>>;

    /// All Secrets of a namespace, in ascending order of their names.
    fn secrets_in(&self, namespace: &str) -> Fact<Vec<Arc<SecretFacts>>>;

    /// What is tracked of a referenced object.
    fn tracked(&self, kind: TrackedKind, namespace: &str, name: &str)
    -> Fact<Option<TrackedFacts>>;

    /// An object of ours, as far as it is known. Absence here is no proof of absence in the cluster.
    fn live(&self, key: &ObjectKey) -> Option<Arc<LiveObject>>;

    /// What all apps of an environment together want of a Kafka topic.
    fn topic(&self, environment: &str, topic: &str) -> TopicWishes;

    /// What another operator reports about an object, ours or not, as the facts of [`crate::facts`]; `None` if there is no
    /// such object. Whoever asks is woken when the answer changes.
    fn reported(&self, key: &ObjectKey) -> Option<Value>;

    /// Whether there is a Service of this name, whoever it belongs to.
    fn service_exists(&self, namespace: &str, name: &str) -> Fact<bool>;

    /// What came of an effect outside the cluster.
    fn effect(&self, effect: &Effect) -> Fact<Result<String, String>>;

    /// A value that has never been used before, for a field of an object. Offline: a placeholder that says so.
    fn random(&self, field: &str, alphabet: Alphabet, length: usize) -> String;

    /// Lets a provider do its part. Who has a clock can look at it; the pure part has none.
    fn watch_provider(&self, _provider: &'static str, work: &mut dyn FnMut()) {
        work();
    }
}

/// The namespaces that belong to an environment: those of its apps and the target namespace, each once.
pub fn namespaces(world: &dyn World, environment: &str, target_namespace: &str) -> Vec<String> {
    let apps = world.apps(environment);
    let mut namespaces: Vec<String> = apps.iter().map(|app| app.namespace.clone()).collect();
    namespaces.push(target_namespace.to_owned());
    namespaces.sort();
    namespaces.dedup();
    namespaces
}
