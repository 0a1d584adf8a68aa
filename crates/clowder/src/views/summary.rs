//! What apps and their environment see of an app: little enough to keep for thousands of them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use mainstay_api::clowder::{ClowdApp, app::needs::KafkaTopic, web_services::WebServices};
use mainstay_engine::ObjectKey;

use crate::{kinds, names};

/// A deployment, seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeploymentSummary {
    /// Its name in the app.
    pub name: String,
    /// The deprecated switch of the public service.
    pub web: bool,
    /// What it offers.
    pub web_services: WebServices,
}

impl DeploymentSummary {
    /// Whether it has a public service, by the old switch or the new.
    pub fn is_web(&self) -> bool {
        self.web || self.web_services.public.enabled
    }
}

/// An app, seen from outside.
#[derive(Clone, Debug, Default)]
pub struct AppSummary {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its environment.
    pub environment: String,
    /// When it was created; not known of one that is only planned.
    pub created: Option<Time>,
    /// Deletion was requested.
    pub deleting: bool,
    /// Its deployments, in the order of the spec.
    pub deployments: Vec<DeploymentSummary>,
    /// What it cannot do without.
    pub dependencies: Vec<String>,
    /// What it can do without.
    pub optional_dependencies: Vec<String>,
    /// Name of its own database; empty if it has none.
    pub database: String,
    /// Version of the database, if it asks for one.
    pub database_version: Option<i32>,
    /// Size of the database's volume.
    pub database_volume_size: String,
    /// The Kafka topics that it uses.
    pub topics: Vec<KafkaTopic>,
    /// Whether all its deployments were ready at its last reconcile.
    pub ready: bool,
}

impl AppSummary {
    /// Reads the summary off an app.
    pub fn of(app: &ClowdApp) -> Self {
        let spec = &app.spec;
        let deployments = spec.deployments.iter().map(|deployment| DeploymentSummary {
            name: deployment.name.clone(),
            web: deployment.web,
            web_services: deployment.web_services.clone(),
        });
        Self {
            name: names::name(&app.metadata).to_owned(),
            namespace: names::namespace(&app.metadata).to_owned(),
            environment: spec.environment_name.clone(),
            created: app.metadata.creation_timestamp.clone(),
            deleting: app.metadata.deletion_timestamp.is_some(),
            deployments: deployments.collect(),
            dependencies: spec.dependencies.clone(),
            optional_dependencies: spec.optional_dependencies.clone(),
            database: spec.database.name.clone(),
            database_version: spec.database.version,
            database_volume_size: spec.database.volume_size.to_string(),
            topics: spec.kafka_topics.clone(),
            ready: app.status.as_ref().is_some_and(|status| status.ready),
        }
    }

    /// Its key.
    pub fn key(&self) -> ObjectKey {
        kinds::app_key(&self.namespace, &self.name)
    }

    /// Whether it depends on an app or a reference of this name, with or without need.
    pub fn depends_on(&self, name: &str) -> bool {
        let mut dependencies = self.dependencies.iter().chain(&self.optional_dependencies);
        dependencies.any(|dependency| dependency == name)
    }

    /// Names of the Kafka topics that it uses.
    pub fn topic_names(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().map(|topic| topic.topic_name.as_str())
    }

    /// Orders apps of one name by who had it first.
    pub fn seniority(&self) -> impl Ord + use<> {
        let created = self.created.as_ref().map(|created| created.0.as_second());
        (created.is_none(), created, self.namespace.clone())
    }

    /// The text by which an environment orders its apps.
    pub fn sort_key(&self) -> String {
        format!("{}-{}", self.name, self.namespace)
    }
}

impl PartialEq for AppSummary {
    /// Whether others would notice no difference. Readiness is only counted.
    fn eq(&self, other: &Self) -> bool {
        let seen = |app: &Self| {
            (
                app.name.clone(),
                app.namespace.clone(),
                app.environment.clone(),
                app.created.clone(),
                app.deleting,
                (
                    app.database.clone(),
                    app.database_version,
                    app.database_volume_size.clone(),
                ),
            )
        };
        seen(self) == seen(other)
            && self.deployments == other.deployments
            && self.dependencies == other.dependencies
            && self.optional_dependencies == other.optional_dependencies
            && self.topics == other.topics
    }
}
