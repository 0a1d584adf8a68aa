//! A PostgreSQL server in a pod, and the sizes it comes in.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{DeploymentStrategy, RollingUpdateDeployment},
        core::v1::{Container, PodSpec, Probe, ResourceRequirements},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use mainstay_api::clowder::app::needs::DatabaseSize;
use mainstay_engine::ObjectSet;

use super::{
    component::{self, Check, Component, Pace},
    pod,
};
use crate::{
    names::Labels,
    providers::{
        credentials::{self, Generator},
        provider::{EnvironmentRender, ProviderError},
    },
    views::lookup::Lookup,
};

/// The port.
pub const PORT: i32 = 5432;
/// The version of a database that asks for none.
pub const DEFAULT_VERSION: i32 = 12;
/// Keys of the Secret of a server that nobody can log in without.
pub const LOGIN: &[&str] = &["username", "password", "pgPass"];
/// The role that may do everything.
pub const ADMINISTRATOR: &str = "postgres";

const DATA: &str = "/var/lib/pgsql/data";
/// Kubernetes fills in the variables of the container.
const QUERY: &[&str] = &[
    "psql",
    "-U",
    "$(POSTGRESQL_USER)",
    "-d",
    "$(POSTGRESQL_DATABASE)",
    "-c",
    "SELECT 1",
];

/// Sizes, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// For who asks for nothing.
    ExtraSmall,
    /// `small`.
    Small,
    /// `medium`.
    Medium,
    /// `large`.
    Large,
}

impl From<&DatabaseSize> for Size {
    fn from(size: &DatabaseSize) -> Self {
        match size {
            DatabaseSize::Small => Self::Small,
            DatabaseSize::Medium => Self::Medium,
            DatabaseSize::Large => Self::Large,
            DatabaseSize::Other(_) => Self::ExtraSmall,
        }
    }
}

impl Size {
    /// Storage of this size.
    pub const fn volume(self) -> &'static str {
        match self {
            Self::ExtraSmall => "1Gi",
            Self::Small => "2Gi",
            Self::Medium => "3Gi",
            Self::Large => "5Gi",
        }
    }

    /// Processor time and memory: reserved are those of this size, allowed those of the next.
    pub fn resources(self) -> ResourceRequirements {
        let (requests, limits) = match self {
            Self::ExtraSmall => (("300m", "512Mi"), ("600m", "1Gi")),
            Self::Small => (("600m", "1Gi"), ("1200m", "2Gi")),
            Self::Medium => (("1200m", "2Gi"), ("1800m", "3Gi")),
            Self::Large => (("1800m", "3Gi"), ("2400m", "4Gi")),
        };
        component::resources(requests, limits)
    }
}

/// A server.
pub struct Server<'render> {
    /// Name, place and owner.
    pub component: Component<'render>,
    /// Label `sub`, by which servers of one owner differ.
    pub role: String,
    /// Image.
    pub image: String,
    /// Role of the applications.
    pub username: String,
    /// Its password.
    pub password: String,
    /// Password of [`ADMINISTRATOR`].
    pub administrator_password: String,
    /// Database that is there from the start.
    pub database: String,
    /// What the container may use.
    pub resources: ResourceRequirements,
    /// Storage, if the data shall outlive the pod.
    pub claim: Option<&'static str>,
}

/// Who may log in to a server.
pub struct Login {
    /// Name of the role that owns the database.
    pub username: String,
    /// Its password.
    pub password: String,
    /// Password of the role `postgres`.
    pub administrator_password: String,
}

impl std::fmt::Debug for Server<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Server");
        shown.field("component", &self.component.name);
        shown.finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").finish_non_exhaustive()
    }
}

impl Login {
    /// The login of a server of the environment, from its Secret or made up for it.
    pub fn of(
        ctx: &mut EnvironmentRender<'_>,
        unit: &'static str,
        component: &Component<'_>,
        required: &[&str],
        generate: impl FnOnce(&Generator<'_>) -> BTreeMap<String, String>,
    ) -> Result<Self, ProviderError> {
        let (lookup, wanted) = (ctx.shared.lookup, component.generated(required));
        let values = credentials::get_or_generate(lookup, ctx.set, unit, wanted, generate)?;
        let value = |key: &str| values.get(key).cloned().unwrap_or_default();
        Ok(Self {
            username: value("username"),
            password: value("password"),
            administrator_password: value("pgPass"),
        })
    }
}

impl Server<'_> {
    /// Adds Deployment, Service and claim.
    pub fn add(
        &self,
        lookup: Lookup<'_>,
        set: &mut ObjectSet,
        unit: &'static str,
    ) -> Result<(), ProviderError> {
        let component = &self.component;
        let labels = component.labels(&[("service", "db"), ("sub", &self.role)]);
        let mut deployment = component.deployment(lookup, labels, self.pod());
        if let Some(spec) = &mut deployment.spec {
            spec.strategy = Some(self.strategy());
        }
        set.add(unit, &deployment)?;
        // Parity: pods carry the `app` label of the owner, which an app may choose; this asks for the owner's name.
        let name = component.owner_name;
        let of_owner = [("service", "db"), ("app", name)]
            .map(|(label, value)| (label.to_owned(), value.to_owned()));
        let mut selector = Labels::from(of_owner.clone());
        selector.insert("sub".to_owned(), self.role.clone());
        set.add(
            unit,
            &component.service(lookup, selector, ("database", PORT), false),
        )?;
        if let Some(size) = self.claim {
            let mut labels = component.base_labels.clone();
            labels.extend(of_owner);
            set.add(unit, &component.claim(labels, size))?;
        }
        Ok(())
    }

    /// A claim cannot be mounted by the old and the new pod at once.
    fn strategy(&self) -> DeploymentStrategy {
        let quarter = || Some(IntOrString::String("25%".to_owned()));
        match self.claim {
            Some(_) => DeploymentStrategy {
                type_: Some("Recreate".to_owned()),
                rolling_update: None,
            },
            None => DeploymentStrategy {
                type_: Some("RollingUpdate".to_owned()),
                rolling_update: Some(RollingUpdateDeployment {
                    max_surge: quarter(),
                    max_unavailable: quarter(),
                }),
            },
        }
    }

    fn pod(&self) -> PodSpec {
        let component = &self.component;
        let variables = [
            ("POSTGRESQL_USER", &self.username),
            ("POSTGRESQL_PASSWORD", &self.password),
            ("POSTGRESQL_ADMIN_PASSWORD", &self.administrator_password),
            ("POSTGRESQL_DATABASE", &self.database),
        ];
        let variables = variables.map(|(name, value)| component::variable(name, value));
        PodSpec {
            containers: vec![Container {
                env: Some(variables.into()),
                ports: Some(vec![pod::port("database", PORT)]),
                liveness_probe: Some(query_after(15)),
                readiness_probe: Some(query_after(45)),
                resources: Some(self.resources.clone()),
                volume_mounts: Some(vec![component.mount(DATA)]),
                ..component.container(&self.image)
            }],
            volumes: Some(vec![component.volume(self.claim.is_some())]),
            ..PodSpec::default()
        }
    }
}

fn query_after(delay: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 2,
        period: 10,
    };
    component::probe(Check::Command(QUERY), pace)
}
