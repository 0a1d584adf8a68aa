//! What reconciles read of objects: views of single objects, and indexes over apps and references.
//!
//! A view holds no more than somebody goes by. Stores keep views and compare them, so what a view leaves out wakes
//! nobody: an app is not looked at because its environment has counted its Deployments anew.
//!
//! | Module | Content |
//! |---|---|
//! | [`lookup`] | what reconciles ask, in the words of Clowder |
//! | [`summary`], [`topics`] | what apps see of each other |
//! | [`facts`] | what is kept of our own objects |
//! | [`undecodable`] | objects that cannot be read as their type |

pub mod facts;
pub mod lookup;
pub mod summary;
pub mod topics;
pub mod undecodable;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_engine::{
    Kind, ObjectKey,
    snapshot::{AnyIndex, FileSnapshot, Index, View},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    gates::grants::Grants,
    kinds, names,
    names::Labels,
    providers::{confighash, web::claims},
    views::{summary::AppSummary, topics::TopicWishes},
};

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
    /// Reads a Secret off its JSON; `stringData` counts, as it does for the API server.
    pub fn of(object: &Value) -> Self {
        let texts = |pointer: &str| {
            let map = object.pointer(pointer).and_then(Value::as_object);
            map.into_iter()
                .flatten()
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        };
        let stored =
            texts("/data").map(|(key, value)| (key, STANDARD.decode(value).unwrap_or_default()));
        let plain = texts("/stringData").map(|(key, value)| (key, value.into_bytes()));
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        Self {
            name: text("/metadata/name").unwrap_or_default().to_owned(),
            annotations: texts("/metadata/annotations").collect(),
            kind: text("/type").map(str::to_owned),
            data: stored.chain(plain).collect(),
        }
    }

    /// A Secret that may describe something that others run: one with this annotation or with all these keys. Of the
    /// rest of a namespace nothing is kept.
    pub fn describing(
        object: &Value,
        annotation: &str,
        keys: &[&str],
        more: &[&str],
    ) -> Option<Self> {
        let mut facts = Self::of(object);
        facts.annotations.retain(|name, _| name == annotation);
        let has_all = facts.has_keys(keys);
        facts
            .data
            .retain(|key, _| keys.contains(&key.as_str()) || more.contains(&key.as_str()));
        (has_all || !facts.annotations.is_empty()).then_some(facts)
    }

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
    /// Annotations that say `true`; which of them restarts pods is a setting.
    pub switches: BTreeSet<String>,
}

impl TrackedFacts {
    fn of(object: &Value) -> Self {
        let annotations = object.pointer("/metadata/annotations");
        let annotations = annotations.and_then(Value::as_object).into_iter().flatten();
        let switches = annotations.filter(|(_, value)| value.as_str() == Some("true"));
        Self {
            hash: confighash::content_hash(object.get("data")),
            switches: switches.map(|(name, _)| name.clone()).collect(),
        }
    }
}

/// An environment, as its apps see it.
#[derive(Clone, Debug)]
pub struct SeenEnvironment(pub Arc<ClowdEnvironment>);

impl PartialEq for SeenEnvironment {
    /// Its counts, its list of apps and the times of its conditions decide nothing.
    fn eq(&self, other: &Self) -> bool {
        let seen = |environment: &ClowdEnvironment| {
            let metadata = &environment.metadata;
            let status = environment.status.as_ref();
            let status = status.map(|status| {
                (
                    status.ready,
                    !status.conditions.is_empty(),
                    status.generation,
                    status.target_namespace.clone(),
                    status.hostname.clone(),
                    status.prometheus.server_address.clone(),
                )
            });
            (
                metadata.uid.clone(),
                metadata.generation,
                metadata.deletion_timestamp.is_some(),
                status,
            )
        };
        seen(&self.0) == seen(&other.0)
    }
}

/// A whole app, as invocations that wait for it see it: any change may be what they wait for.
#[derive(Clone, Debug)]
pub struct SeenApp(pub Arc<ClowdApp>);

impl PartialEq for SeenApp {
    fn eq(&self, other: &Self) -> bool {
        let (own, other) = (&self.0.metadata, &other.0.metadata);
        own.resource_version.is_some()
            && (&own.uid, &own.resource_version) == (&other.uid, &other.resource_version)
    }
}

/// Where an app is: what others of its name are told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPlace {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its environment.
    pub environment: String,
}

/// Which namespace the status of an environment names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentTarget {
    /// Name of the environment.
    pub environment: String,
    /// Its target namespace.
    pub namespace: String,
}

/// A reference to an app elsewhere.
#[derive(Clone, Debug)]
pub struct SeenReference(pub Arc<ClowdAppRef>);

impl PartialEq for SeenReference {
    fn eq(&self, other: &Self) -> bool {
        self.0.spec == other.0.spec
    }
}

/// A Secret.
pub static SECRET: View<SecretFacts> = View::new("secret", |object| Some(SecretFacts::of(object)));

/// What is tracked of a Secret or `ConfigMap`.
pub static TRACKED: View<TrackedFacts> =
    View::new("tracked", |object| Some(TrackedFacts::of(object)));

/// A namespace.
pub static NAMESPACE: View<NamespaceFacts> = View::new("namespace", |object| {
    Some(NamespaceFacts {
        terminating: object.pointer("/metadata/deletionTimestamp").is_some(),
    })
});

/// The labels of a namespace. A view of its own, so that a label wakes only those who go by labels.
pub static NAMESPACE_LABELS: View<Labels> = View::new("namespace-labels", |object| {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    Some(labels.collect())
});

/// The uid of the environment that made a namespace; nothing if none says so.
pub static NAMESPACE_MAKER: View<String> = View::new("namespace-maker", |object| {
    let annotations = object.pointer("/metadata/annotations")?;
    Some(annotations.get(names::MAKER)?.as_str()?.to_owned())
});

/// What an environment grants to namespaces.
pub static GRANTS: View<Grants> = View::new("grants", |object| Some(Grants::of(object)));

/// An environment.
pub static ENVIRONMENT: View<SeenEnvironment> = View::new("environment", |object| {
    let mut environment: ClowdEnvironment = decode(object)?;
    // Every app looks at its environment; the list of all apps in it would make that expensive.
    if let Some(status) = &mut environment.status {
        status.apps.clear();
    }
    Some(SeenEnvironment(Arc::new(environment)))
});

/// A whole app.
pub static APP: View<SeenApp> = View::new("app", |object| Some(SeenApp(Arc::new(decode(object)?))));

/// The domain that the cluster publishes hosts under.
pub static INGRESS_DOMAIN: View<String> = View::new("ingress-domain", |object| {
    let domain = object.pointer("/spec/domain")?.as_str()?;
    (!domain.is_empty()).then(|| domain.to_owned())
});

static APP_SUMMARY: View<AppSummary> = View::new("app-summary", |object| {
    Some(AppSummary::of(&decode(object)?))
});

static APP_PLACE: View<AppPlace> = View::new("app-place", |object| {
    let app: ClowdApp = decode(object)?;
    Some(AppPlace {
        name: names::name(&app.metadata).to_owned(),
        namespace: names::namespace(&app.metadata).to_owned(),
        environment: app.spec.environment_name,
    })
});

static TARGET: View<EnvironmentTarget> = View::new("environment-target", |object| {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    Some(EnvironmentTarget {
        environment: text("/metadata/name")?.to_owned(),
        namespace: text("/status/targetNamespace")?.to_owned(),
    })
});

static REFERENCE: View<SeenReference> = View::new("app-reference", |object| {
    Some(SeenReference(Arc::new(decode(object)?)))
});

/// Apps by environment.
pub static APPS_BY_ENVIRONMENT: Index<AppSummary> = Index {
    name: "apps-by-environment",
    kind: kinds::CLOWD_APP,
    view: &APP_SUMMARY,
    keys: |app| vec![app.environment.clone()],
    fold: None,
};

/// Apps by environment and name.
pub static APPS_BY_NAME: Index<AppSummary> = Index {
    name: "apps-by-name",
    kind: kinds::CLOWD_APP,
    view: &APP_SUMMARY,
    keys: |app| vec![within(&app.environment, &app.name)],
    fold: None,
};

/// Places of apps by environment and name.
pub static PLACES_BY_NAME: Index<AppPlace> = Index {
    name: "places-by-name",
    kind: kinds::CLOWD_APP,
    view: &APP_PLACE,
    keys: |app| vec![within(&app.environment, &app.name)],
    fold: None,
};

/// What all apps of an environment together want of a Kafka topic, by environment and the name that apps know it by.
pub static TOPICS: Index<AppSummary, TopicWishes> = Index {
    name: "topics",
    kind: kinds::CLOWD_APP,
    view: &APP_SUMMARY,
    keys: |app| {
        let topics: BTreeSet<&str> = app.topic_names().collect();
        let topics = topics.into_iter();
        topics
            .map(|topic| within(&app.environment, topic))
            .collect()
    },
    fold: Some(|wishes, key, app| {
        let topic = key.split_once('/').map_or("", |(_, topic)| topic);
        wishes.add_all(topic, app);
    }),
};

/// Apps by environment and the beginning of the paths that they publish.
pub static APPS_BY_PATH: Index<AppSummary> = Index {
    name: "apps-by-path",
    kind: kinds::CLOWD_APP,
    view: &APP_SUMMARY,
    keys: |app| {
        let keys = claims::keys(app).into_iter();
        keys.map(|key| within(&app.environment, &key)).collect()
    },
    fold: None,
};

/// Environments by target namespace.
pub static ENVIRONMENTS_BY_TARGET: Index<EnvironmentTarget> = Index {
    name: "environments-by-target",
    kind: kinds::CLOWD_ENVIRONMENT,
    view: &TARGET,
    keys: |target| vec![target.namespace.clone()],
    fold: None,
};

/// References by environment and name.
pub static REFERENCES_BY_NAME: Index<SeenReference> = Index {
    name: "references-by-name",
    kind: kinds::CLOWD_APP_REF,
    view: &REFERENCE,
    keys: |reference| {
        let environment = &reference.0.spec.environment_name;
        vec![within(environment, names::name(&reference.0.metadata))]
    },
    fold: None,
};

/// All indexes.
pub static INDEXES: &[&dyn AnyIndex] = &[
    &APPS_BY_ENVIRONMENT,
    &APPS_BY_NAME,
    &PLACES_BY_NAME,
    &APPS_BY_PATH,
    &TOPICS,
    &REFERENCES_BY_NAME,
    &ENVIRONMENTS_BY_TARGET,
];

/// The key of a name in an environment. Neither can hold a slash.
pub fn within(environment: &str, name: &str) -> String {
    format!("{environment}/{name}")
}

/// Environments and apps that see a difference between two states of an environment, an app or a reference, by what they
/// are declared to go by: of roots that were not reconciled here nobody knows what they asked for.
pub fn who_sees(
    key: &ObjectKey,
    before: Option<&Value>,
    after: &Value,
    apps: impl Fn(&str) -> Vec<Arc<AppSummary>>,
) -> BTreeSet<ObjectKey> {
    let mut seen = match key.kind.kind.as_ref() {
        "ClowdEnvironment"
            if before.and_then(ENVIRONMENT.of) != (ENVIRONMENT.of)(after)
                || before.and_then(GRANTS.of) != (GRANTS.of)(after) =>
        {
            apps(&key.name).iter().map(|app| app.key()).collect()
        }
        "ClowdApp" => {
            let states = [before.and_then(APP_SUMMARY.of), (APP_SUMMARY.of)(after)];
            who_sees_app(&states, apps)
        }
        "ClowdAppRef" => {
            let states = [before.and_then(REFERENCE.of), (REFERENCE.of)(after)];
            who_sees_reference(&key.name, &states, apps)
        }
        _ => BTreeSet::new(),
    };
    seen.remove(key);
    seen
}

/// Who sees a difference between two states of an app: its environment, who depends on it, who shares its name or a topic.
fn who_sees_app(
    states: &[Option<AppSummary>; 2],
    apps: impl Fn(&str) -> Vec<Arc<AppSummary>>,
) -> BTreeSet<ObjectKey> {
    let mut seen = BTreeSet::new();
    let [before, after] = states;
    if before == after {
        return seen;
    }
    for state in states.iter().flatten() {
        seen.insert(kinds::environment_key(&state.environment));
        let topics: BTreeSet<&str> = state.topic_names().collect();
        let others = apps(&state.environment);
        let others = others.iter().filter(|app| {
            app.name == state.name
                || app.depends_on(&state.name)
                || app.topic_names().any(|topic| topics.contains(topic))
        });
        seen.extend(others.map(|app| app.key()));
    }
    seen
}

/// Who sees a difference between two states of a reference: who depends on its name.
fn who_sees_reference(
    name: &str,
    states: &[Option<SeenReference>; 2],
    apps: impl Fn(&str) -> Vec<Arc<AppSummary>>,
) -> BTreeSet<ObjectKey> {
    let [before, after] = states;
    if before == after {
        return BTreeSet::new();
    }
    let environments = states.iter().flatten();
    let environments = environments.map(|state| state.0.spec.environment_name.as_str());
    let others = environments.flat_map(apps);
    let others = others.filter(|app| app.depends_on(name));
    others.map(|app| app.key()).collect()
}

/// A snapshot made of files. Namespaces are taken to exist.
pub fn files(objects: impl IntoIterator<Item = Value>) -> FileSnapshot {
    let mut snapshot = FileSnapshot::new(kinds::KINDS, INDEXES, facts::facts, &[kinds::NAMESPACE]);
    for object in objects {
        snapshot.add(object);
    }
    snapshot
}

/// An object that cannot be decoded is nobody's business but its own.
fn decode<T: DeserializeOwned>(object: &Value) -> Option<T> {
    T::deserialize(object).ok()
}

#[cfg(test)]
mod tests;
