//! All environments, apps and app references by what reconciles ask for, so that nobody scans them; and the domain of the
//! cluster.

mod topics;
mod waiting;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use mainstay_api::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment};
use mainstay_engine::ObjectKey;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::topics::Topics;
use self::waiting::Waiting;
use crate::{kinds, names, summary::AppSummary};

/// Namespace and name.
pub type Place = (String, String);

#[derive(Debug, Default)]
struct Members {
    /// By the text that an environment sorts its apps by, and by namespace, because the text is not unique.
    apps: BTreeMap<(String, String), Arc<AppSummary>>,
    /// Places in `apps` by name.
    apps_by_name: HashMap<String, Vec<(String, String)>>,
    references: HashMap<String, BTreeMap<String, Arc<ClowdAppRef>>>,
    /// Who depends on an app or reference of this name.
    dependents: HashMap<String, BTreeSet<Place>>,
    /// Kafka topics by the names that apps know them by.
    topics: Topics,
}

/// What a piece of news changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Environments whose view of their apps changed.
    pub environments: Vec<String>,
    /// Apps that see something else now.
    pub apps: Vec<Place>,
    /// Invocations that wait for what changed.
    pub invocations: Vec<Place>,
}

impl News {
    /// Everybody who has to look.
    pub fn roots(&self) -> impl Iterator<Item = ObjectKey> {
        let environments = self.environments.iter().map(|name| environment_key(name));
        let apps = self.apps.iter().map(app_key);
        let invocations = self.invocations.iter().map(invocation_key);
        environments.chain(apps).chain(invocations)
    }

    /// Whether nobody has to look.
    pub fn is_empty(&self) -> bool {
        self.environments.is_empty() && self.apps.is_empty() && self.invocations.is_empty()
    }
}

/// The index. Members of an environment are kept even if the environment does not exist.
#[derive(Debug, Default)]
pub struct Index {
    environments: HashMap<String, Arc<ClowdEnvironment>>,
    members: HashMap<String, Members>,
    /// Environment of every known app.
    app_homes: HashMap<Place, String>,
    /// Environment of every known reference.
    reference_homes: HashMap<Place, String>,
    /// Invocations that have not run, and the app that each of them waits for.
    invocations: Waiting,
    /// What OpenShift says about itself.
    ingress_domain: Option<String>,
}

impl Index {
    /// Takes in an environment, an app or a reference. An object that cannot be decoded is nobody's neighbour.
    pub fn learn(&mut self, key: &ObjectKey, value: &Value) -> News {
        let place = (key.namespace.clone(), key.name.clone());
        match key.kind.kind.as_ref() {
            "ClowdEnvironment" => match decode::<ClowdEnvironment>(value) {
                Some(environment) => self.learn_environment(environment),
                None => self.forget(key),
            },
            "ClowdApp" => match decode::<ClowdApp>(value) {
                Some(app) => self.learn_app(place, &Arc::new(AppSummary::of(&app))),
                None => self.forget(key),
            },
            "ClowdAppRef" => match decode::<ClowdAppRef>(value) {
                Some(reference) => self.learn_reference(place, reference),
                None => self.forget(key),
            },
            "ClowdJobInvocation" => {
                self.invocations.learn(place, decode(value).as_ref());
                News::default()
            }
            _ if is_cluster_ingress(key) => {
                let domain = value.pointer("/spec/domain").and_then(Value::as_str);
                let domain = domain.filter(|domain| !domain.is_empty());
                self.ingress_domain = domain.map(str::to_owned);
                News::default()
            }
            _ => News::default(),
        }
    }

    /// The object is gone.
    pub fn forget(&mut self, key: &ObjectKey) -> News {
        let place = (key.namespace.clone(), key.name.clone());
        match key.kind.kind.as_ref() {
            "ClowdEnvironment" => {
                self.environments.remove(&key.name);
                self.news_of_all(&key.name)
            }
            "ClowdApp" => {
                let topics = self.topics_of(&place);
                let invocations = self.invocations.waiting_for(&place);
                let Some(gone) = self.remove_app(&place) else {
                    return News {
                        invocations,
                        ..News::default()
                    };
                };
                let mut apps = self.dependents(&gone.environment, &gone.name);
                apps.extend(self.users_of_changed(&topics, &place));
                apps.extend(self.namesakes(&gone));
                News {
                    apps,
                    environments: vec![gone.environment.clone()],
                    invocations,
                }
            }
            "ClowdAppRef" => self.remove_reference(&place),
            "ClowdJobInvocation" => {
                self.invocations.learn(place, None);
                News::default()
            }
            _ if is_cluster_ingress(key) => {
                self.ingress_domain = None;
                News::default()
            }
            _ => News::default(),
        }
    }

    /// News for all apps of an environment and for those who wait for them.
    fn news_of_all(&self, environment: &str) -> News {
        let apps = self.places(environment);
        let waiting = apps.iter().map(|app| self.invocations.waiting_for(app));
        News {
            invocations: waiting.flatten().collect(),
            apps,
            ..News::default()
        }
    }

    fn learn_environment(&mut self, mut environment: ClowdEnvironment) -> News {
        // Every app looks at its environment; the list of all apps in it would make that expensive.
        if let Some(status) = &mut environment.status {
            status.apps.clear();
        }
        let name = names::name(&environment.metadata).to_owned();
        let environment = Arc::new(environment);
        let old = self.environments.insert(name.clone(), environment.clone());
        let concerns_apps = old.is_none_or(|old| seen_by_apps(&old) != seen_by_apps(&environment));
        if concerns_apps {
            self.news_of_all(&name)
        } else {
            News::default()
        }
    }

    fn learn_app(&mut self, place: Place, app: &Arc<AppSummary>) -> News {
        let invocations = self.invocations.waiting_for(&place);
        if self.app(&place).is_some_and(|old| old.looks_like(app)) {
            self.replace_app(place, app.clone());
            return News {
                invocations,
                ..News::default()
            };
        }
        let mut news = News {
            // What they wait for is in its status as well, and few of them wait.
            invocations,
            ..News::default()
        };
        let mut topics = self.topics_of(&place);
        topics.extend(self.topics_wanted_by(app));
        let old = self.remove_app(&place);
        let homes = old.iter().map(|old| old.environment.clone());
        news.environments = homes.chain([app.environment.clone()]).collect();
        news.environments.dedup();
        if let Some(old) = &old {
            news.apps = self.dependents(&old.environment, &old.name);
        }
        self.insert_app(place.clone(), app.clone());
        news.apps
            .extend(self.dependents(&app.environment, &app.name));
        news.apps.extend(self.users_of_changed(&topics, &place));
        let moved = old.is_none_or(|old| old.environment != app.environment);
        if moved {
            news.apps.extend(self.namesakes(app));
        }
        news.apps.sort();
        news.apps.dedup();
        news
    }

    /// Places of other apps of the same name in the environment of an app: each of them is told of the others.
    fn namesakes(&self, app: &AppSummary) -> Vec<Place> {
        let named = self.apps_named(&app.environment, &app.name).into_iter();
        let others = named.filter(|other| other.namespace != app.namespace);
        others
            .map(|other| (other.namespace.clone(), other.name.clone()))
            .collect()
    }

    /// Only what nobody goes by has changed.
    fn replace_app(&mut self, place: Place, app: Arc<AppSummary>) {
        if let Some(members) = self.members.get_mut(&app.environment) {
            members.apps.insert((app.sort_key(), place.0), app);
        }
    }

    fn insert_app(&mut self, place: Place, app: Arc<AppSummary>) {
        self.app_homes
            .insert(place.clone(), app.environment.clone());
        let members = self.members.entry(app.environment.clone()).or_default();
        for dependency in app.dependencies.iter().chain(&app.optional_dependencies) {
            let dependents = members.dependents.entry(dependency.clone()).or_default();
            dependents.insert(place.clone());
        }
        members.topics.join(&app, &place);
        let position = (app.sort_key(), place.0);
        let named = members.apps_by_name.entry(app.name.clone()).or_default();
        named.push(position.clone());
        named.sort();
        members.apps.insert(position, app);
    }

    fn remove_app(&mut self, place: &Place) -> Option<Arc<AppSummary>> {
        let home = self.app_homes.remove(place)?;
        let members = self.members.get_mut(&home)?;
        let position = (format!("{}-{}", place.1, place.0), place.0.clone());
        let app = members.apps.remove(&position)?;
        if let Some(named) = members.apps_by_name.get_mut(&app.name) {
            named.retain(|other| *other != position);
            if named.is_empty() {
                members.apps_by_name.remove(&app.name);
            }
        }
        for dependency in app.dependencies.iter().chain(&app.optional_dependencies) {
            if let Some(dependents) = members.dependents.get_mut(dependency) {
                dependents.remove(place);
                if dependents.is_empty() {
                    members.dependents.remove(dependency);
                }
            }
        }
        members.topics.leave(&app, place, &members.apps);
        self.forget_if_empty(&home);
        Some(app)
    }

    fn learn_reference(&mut self, place: Place, reference: ClowdAppRef) -> News {
        let old_home = self.reference_homes.get(&place);
        let old = old_home.and_then(|home| {
            self.members
                .get(home)?
                .references
                .get(&place.1)?
                .get(&place.0)
        });
        if old.is_some_and(|old| old.spec == reference.spec) {
            return News::default();
        }
        let mut news = self.remove_reference(&place);
        let home = reference.spec.environment_name.clone();
        self.reference_homes.insert(place.clone(), home.clone());
        let members = self.members.entry(home.clone()).or_default();
        let named = members.references.entry(place.1.clone()).or_default();
        named.insert(place.0, Arc::new(reference));
        news.apps.extend(self.dependents(&home, &place.1));
        news.environments.push(home);
        news
    }

    fn remove_reference(&mut self, place: &Place) -> News {
        let Some(home) = self.reference_homes.remove(place) else {
            return News::default();
        };
        if let Some(members) = self.members.get_mut(&home)
            && let Some(named) = members.references.get_mut(&place.1)
        {
            named.remove(&place.0);
            if named.is_empty() {
                members.references.remove(&place.1);
            }
        }
        self.forget_if_empty(&home);
        News {
            apps: self.dependents(&home, &place.1),
            environments: vec![home],
            ..News::default()
        }
    }

    /// Anybody may name any environment, so of those without members nothing is kept.
    fn forget_if_empty(&mut self, environment: &str) {
        let members = self.members.get(environment);
        if members.is_some_and(|members| members.apps.is_empty() && members.references.is_empty()) {
            self.members.remove(environment);
        }
    }

    /// Places of the apps that depend on a name.
    fn dependents(&self, environment: &str, name: &str) -> Vec<Place> {
        let dependents = self
            .members
            .get(environment)
            .and_then(|members| members.dependents.get(name));
        dependents.into_iter().flatten().cloned().collect()
    }

    /// Places of all apps of an environment.
    fn places(&self, environment: &str) -> Vec<Place> {
        let apps = self.members.get(environment).map(|members| &members.apps);
        let apps = apps.into_iter().flat_map(BTreeMap::values);
        apps.map(|app| (app.namespace.clone(), app.name.clone()))
            .collect()
    }

    /// An environment.
    pub fn environment(&self, name: &str) -> Option<Arc<ClowdEnvironment>> {
        self.environments.get(name).cloned()
    }

    /// The domain that the cluster publishes hosts under.
    pub fn ingress_domain(&self) -> Option<String> {
        self.ingress_domain.clone()
    }

    /// The app in a place.
    pub fn app(&self, place: &Place) -> Option<Arc<AppSummary>> {
        let members = self.members.get(self.app_homes.get(place)?)?;
        let position = (format!("{}-{}", place.1, place.0), place.0.clone());
        members.apps.get(&position).cloned()
    }

    /// The apps of an environment, in its order.
    pub fn apps(&self, environment: &str) -> Vec<Arc<AppSummary>> {
        let apps = self.members.get(environment).map(|members| &members.apps);
        apps.into_iter()
            .flat_map(BTreeMap::values)
            .cloned()
            .collect()
    }

    /// The apps of an environment with a name.
    pub fn apps_named(&self, environment: &str, name: &str) -> Vec<Arc<AppSummary>> {
        let Some(members) = self.members.get(environment) else {
            return Vec::new();
        };
        let positions = members.apps_by_name.get(name).into_iter().flatten();
        positions
            .filter_map(|position| members.apps.get(position))
            .cloned()
            .collect()
    }

    /// The references of an environment with a name.
    pub fn app_refs_named(&self, environment: &str, name: &str) -> Vec<Arc<ClowdAppRef>> {
        let named = self
            .members
            .get(environment)
            .and_then(|members| members.references.get(name));
        named
            .into_iter()
            .flat_map(BTreeMap::values)
            .cloned()
            .collect()
    }
}

/// OpenShift has exactly one, under this name.
fn is_cluster_ingress(key: &ObjectKey) -> bool {
    key.kind == kinds::CLUSTER_INGRESS && key.name == "cluster"
}

fn decode<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// What of an environment decides what its apps do. Its counts, its list of apps and the times of its conditions do
/// not.
fn seen_by_apps(environment: &ClowdEnvironment) -> impl PartialEq {
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
}

/// Key of an environment.
pub fn environment_key(name: &str) -> ObjectKey {
    ObjectKey::new(kinds::CLOWD_ENVIRONMENT, "", name)
}

/// Key of an app.
pub fn app_key((namespace, name): &Place) -> ObjectKey {
    ObjectKey::new(kinds::CLOWD_APP, namespace.as_str(), name.as_str())
}

/// Key of an invocation.
pub fn invocation_key((namespace, name): &Place) -> ObjectKey {
    ObjectKey::new(
        kinds::CLOWD_JOB_INVOCATION,
        namespace.as_str(),
        name.as_str(),
    )
}

#[cfg(test)]
mod tests;
