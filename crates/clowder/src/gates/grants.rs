//! Which namespaces may join an environment, and which of them may use what belongs to apps of others.
//!
//! Who may write an environment says so, in its annotations. What the namespaces themselves say counts only where the
//! environment asks for it by a selector: a label alone is the consent of whoever may edit namespaces. Nobody is asked
//! unless the operator is told so (`settings.requireEnvironmentGrant`).

mod selector;

use std::collections::BTreeSet;

use mainstay_api::clowder::{
    ClowdApp, ClowdEnvironment, ClowdJobInvocation,
    environment::{kafka::KafkaMode, testing::ConfigAccess},
};
use mainstay_engine::{reconciler::ValidateError, snapshot::Answer};
use serde_json::Value;

use self::selector::Selector;
use super::waiting;
use crate::{
    names::{self, Labels},
    views::lookup::Lookup,
};

/// The namespace of an app may not join its environment.
pub const NOT_GRANTED: &str = "EnvironmentNotGranted";
/// The namespace of an app may not use what belongs to apps of other namespaces.
pub const NOT_SHARED: &str = "EnvironmentNotShared";
/// An app of another namespace has the name already.
pub const NAME_TAKEN: &str = "ClowdAppNameTaken";

/// A grant: namespaces by name and by label. The two annotations of an environment that say so.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    names: BTreeSet<String>,
    /// `None` if there is none, or one that cannot be read: that grants nothing.
    selector: Option<Selector>,
}

/// Annotations of a grant: a list of names, and a label selector.
#[derive(Clone, Copy, Debug)]
struct Annotations {
    names: &'static str,
    selector: &'static str,
}

/// Kafka Connect, as the names of users in Kafka have it.
const CONNECT: &str = "connect";

/// Who may join.
const JOIN: Annotations = Annotations {
    names: "mainstay/join-namespaces",
    selector: "mainstay/join-selector",
};
/// Who may also use what belongs to apps of other namespaces.
const SHARE: Annotations = Annotations {
    names: "mainstay/share-namespaces",
    selector: "mainstay/share-selector",
};

/// What an environment grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants {
    join: Grant,
    share: Grant,
    /// Who may run pods there can read whatever the environment has there.
    target_namespace: String,
}

/// Where an app stands with its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It belongs to it.
    Member,
    /// Its namespace may not join.
    NotGranted,
    /// The app of its name in this namespace is older.
    NameTaken(String),
}

impl Grant {
    fn of(environment: &Value, annotations: Annotations) -> Self {
        let text = |name: &str| {
            let all = environment.pointer("/metadata/annotations")?;
            all.get(name)?.as_str()
        };
        let names = text(annotations.names).unwrap_or_default().split(',');
        let names = names.map(str::trim).filter(|name| !name.is_empty());
        Self {
            names: names.map(str::to_owned).collect(),
            selector: text(annotations.selector).and_then(Selector::parse),
        }
    }

    fn holds(
        &self,
        namespace: &str,
        labels: impl FnOnce() -> Answer<Option<Labels>>,
    ) -> Answer<bool> {
        if self.names.contains(namespace) {
            return Ok(true);
        }
        let Some(selector) = &self.selector else {
            return Ok(false);
        };
        Ok(labels()?.is_some_and(|labels| selector.matches(&labels)))
    }
}

impl Grants {
    /// Reads the grants off an environment.
    pub fn of(environment: &Value) -> Self {
        let target = environment.pointer("/status/targetNamespace");
        Self {
            join: Grant::of(environment, JOIN),
            share: Grant::of(environment, SHARE),
            target_namespace: target
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// Whether apps of a namespace may join. Who may share may.
    pub fn join(
        &self,
        namespace: &str,
        labels: impl Fn() -> Answer<Option<Labels>>,
    ) -> Answer<bool> {
        let is_own = !namespace.is_empty() && namespace == self.target_namespace;
        Ok(is_own || self.join.holds(namespace, &labels)? || self.share(namespace, &labels)?)
    }

    /// Whether apps of a namespace may use what belongs to apps of others.
    pub fn share(
        &self,
        namespace: &str,
        labels: impl Fn() -> Answer<Option<Labels>>,
    ) -> Answer<bool> {
        self.share.holds(namespace, labels)
    }
}

impl Annotations {
    fn words(self) -> String {
        format!(
            "name the namespace in the annotation {} of the environment, or select its labels in {}",
            self.names, self.selector
        )
    }
}

/// What to write so that apps of a namespace may share.
pub fn share_words() -> String {
    SHARE.words()
}

/// Goes on only if an app belongs to its environment, and takes nothing that belongs to apps of other namespaces.
pub fn check_app(
    lookup: Lookup<'_>,
    app: &ClowdApp,
    environment: &ClowdEnvironment,
) -> Result<(), ValidateError> {
    check_standing(lookup, app, environment)?;
    let (name, spec) = (names::name(&app.metadata), &app.spec);
    let taken = [
        (
            "spec.database.sharedDbAppName",
            &spec.database.shared_database_app_name,
            true,
        ),
        (
            "spec.sharedInMemoryDbAppName",
            &spec.shared_in_memory_database_app_name,
            true,
        ),
        (
            "spec.cyndi.appName",
            &spec.cyndi.app_name,
            spec.cyndi.enabled,
        ),
    ];
    for (field, owner, is_used) in taken {
        if is_used && !owner.is_empty() && owner != name {
            check_taken(lookup, app, field, owner)?;
        }
    }
    Ok(())
}

/// Goes on only if an app belongs to its environment.
fn check_standing(
    lookup: Lookup<'_>,
    app: &ClowdApp,
    environment: &ClowdEnvironment,
) -> Result<(), ValidateError> {
    let (name, namespace) = (names::name(&app.metadata), names::namespace(&app.metadata));
    let kafka = &environment.spec.providers.kafka.mode;
    let environment = &app.spec.environment_name;
    let holder = match lookup.standing(environment, namespace, name)? {
        // Its user in Kafka would be that of Kafka Connect, who may do everything.
        Standing::Member
            if name == CONNECT
                && *kafka == KafkaMode::Operator
                && !lookup.may_share(environment, namespace)? =>
        {
            "Kafka Connect".to_owned()
        }
        Standing::Member => return Ok(()),
        Standing::NotGranted => {
            let message = format!(
                "namespace \"{namespace}\" may not join ClowdEnvironment \"{environment}\": {}",
                JOIN.words()
            );
            return Err(waiting(NOT_GRANTED, message));
        }
        Standing::NameTaken(other) => format!("ClowdApp \"{name}\" of namespace \"{other}\""),
    };
    let message = format!(
        "{holder} has the name \"{name}\" in ClowdEnvironment \"{environment}\": choose another name, or let both \
         have it: {}",
        SHARE.words()
    );
    Err(waiting(NAME_TAKEN, message))
}

/// Goes on only if what an app takes belongs to an app of its own namespace, or it may share.
fn check_taken(
    lookup: Lookup<'_>,
    app: &ClowdApp,
    field: &str,
    owner: &str,
) -> Result<(), ValidateError> {
    let (namespace, environment) = (names::namespace(&app.metadata), &app.spec.environment_name);
    if lookup.may_share(environment, namespace)? {
        return Ok(());
    }
    let owners = lookup.apps_named(environment, owner);
    if !owners.is_empty() && owners.iter().all(|owner| owner.namespace == namespace) {
        return Ok(());
    }
    let message = format!(
        "{field} names ClowdApp \"{owner}\", which is not in namespace \"{namespace}\": {}",
        SHARE.words()
    );
    Err(waiting(NOT_SHARED, message))
}

/// Goes on only if an invocation, which may run tests, is told no more than its app may know.
pub fn check_invocation(
    lookup: Lookup<'_>,
    invocation: &ClowdJobInvocation,
    (app, environment): (&ClowdApp, &ClowdEnvironment),
    runs_tests: bool,
) -> Result<(), ValidateError> {
    check_app(lookup, app, environment)?;
    let tells_all = environment.spec.providers.testing.config_access == ConfigAccess::Environment;
    let (namespace, name) = (
        names::namespace(&invocation.metadata),
        names::name(&environment.metadata),
    );
    if !runs_tests || !tells_all || lookup.may_share(name, namespace)? {
        return Ok(());
    }
    let apps = lookup.apps(name);
    let Some(other) = apps.iter().find(|app| app.namespace != namespace) else {
        return Ok(());
    };
    let message = format!(
        "the tests would read the configuration of ClowdApp \"{}\" of namespace \"{}\", because \
         spec.providers.testing.configAccess of ClowdEnvironment \"{name}\" is environment: {}",
        other.name,
        other.namespace,
        SHARE.words()
    );
    Err(waiting(NOT_SHARED, message))
}

#[cfg(test)]
mod tests;
