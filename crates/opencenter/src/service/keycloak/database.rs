//! The database that Keycloak keeps its realms in: one that the PostgreSQL operator makes, or one elsewhere.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    render::Context,
    service::manifest::filled,
};

use super::{BuildResult, Built, Emitted, Keycloak, is_local, namespace, settings};

/// What database and user are called if the config does not say.
const DEFAULT_NAME: &str = "keycloak";

/// Which database the server connects to, and as whom.
pub(super) struct Database<'s> {
    /// The host, if the database is not the one of this cluster.
    pub(super) external_host: Option<&'s str>,
    /// The database.
    pub(super) name: &'s str,
    configured_user: Option<&'s str>,
}

impl<'s> Database<'s> {
    pub(super) fn of(settings: &'s Keycloak) -> Self {
        Self {
            external_host: filled(settings.database_host.as_ref()),
            name: filled(settings.database_name.as_ref()).unwrap_or(DEFAULT_NAME),
            configured_user: filled(settings.database_user.as_ref()),
        }
    }

    fn is_external(&self) -> bool {
        self.external_host.is_some()
    }

    /// The user that owns the database of this cluster.
    fn owner(&self) -> &'s str {
        self.configured_user
            .filter(|_| !self.is_external())
            .unwrap_or(DEFAULT_NAME)
    }

    /// The user's name as an option of the server: only a database elsewhere has a user that no Secret names.
    pub(super) fn username_option(&self) -> Option<&'s str> {
        self.configured_user.filter(|_| self.is_external())
    }

    /// The Secret with the password, named by the PostgreSQL operator after the user, where `_` is not allowed.
    ///
    /// For a database elsewhere somebody has to provide it under the name that it would have here.
    pub(super) fn credentials(&self) -> String {
        let user = self.owner().replace('_', "-");
        format!("{user}.postgres-cluster.credentials.postgresql.acid.zalan.do")
    }
}

/// What the size of the database depends on: a laptop or a data centre.
struct Sizing {
    instances: i32,
    shared_buffers: &'static str,
    connections: &'static str,
    volume: &'static str,
    limits: (&'static str, &'static str),
    requests: (&'static str, &'static str),
}

const LOCAL: Sizing = Sizing {
    instances: 1,
    shared_buffers: "256MB",
    connections: "100",
    volume: "5Gi",
    limits: ("500m", "512Mi"),
    requests: ("100m", "256Mi"),
};

const DATA_CENTRE: Sizing = Sizing {
    instances: 3,
    shared_buffers: "2GB",
    connections: "1024",
    volume: "20Gi",
    limits: ("2", "3000Mi"),
    requests: ("1", "1000Mi"),
};

/// The database of this cluster.
pub(super) fn cluster(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let database = Database::of(settings(ctx)?);
    let sizing = if is_local(ctx) { LOCAL } else { DATA_CENTRE };
    let class = ctx
        .config
        .opencenter
        .infrastructure
        .storage
        .default_storage_class
        .as_str();
    let amounts = |(cpu, memory): (&str, &str)| map! { "cpu": cpu, "memory": memory };
    // A database elsewhere has its own name; the one of this cluster stays as it is.
    let name = if database.is_external() {
        DEFAULT_NAME
    } else {
        database.name
    };
    let owner = database.owner();
    Ok(Built::one(map! {
        "apiVersion": "acid.zalan.do/v1",
        "kind": "postgresql",
        "metadata": map! { "name": "postgres-cluster", "namespace": namespace(ctx) },
        "spec": map! {
            "teamId": "acid",
            "numberOfInstances": sizing.instances,
            "postgresql": map! {
                "version": "17",
                "parameters": map! {
                    "shared_buffers": sizing.shared_buffers,
                    "max_connections": sizing.connections,
                    "log_statement": "all",
                },
            },
            "volume": map! {
                "size": sizing.volume,
                "storageClass": if class.is_empty() { "standard" } else { class },
            },
            "databases": Node::map([(name.to_owned(), Node::from(owner))]),
            "users": Node::map([(owner.to_owned(), list!["superuser", "createdb"])]),
            "resources": map! {
                "limits": amounts(sizing.limits),
                "requests": amounts(sizing.requests),
            },
        },
    }))
}
