//! `ClowdApp`: an application and what it needs.

pub mod autoscaler;
pub mod deployment;
pub mod job;
pub mod needs;
pub mod pod;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::{
    deployment::Deployment,
    job::Job,
    needs::{AppTesting, Cyndi, Database, KafkaTopic},
};
use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    condition,
};

/// What the application consists of and what it needs.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "cloud.redhat.com",
    version = "v1alpha1",
    kind = "ClowdApp",
    plural = "clowdapps",
    singular = "clowdapp",
    shortname = "app",
    namespaced,
    status = "ClowdAppStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "An application: its deployments and jobs, and what they need from their environment.",
    printcolumn = r#"{"name": "Ready", "type": "integer", "jsonPath": ".status.deployments.readyDeployments"}"#,
    printcolumn = r#"{"name": "Managed", "type": "integer", "jsonPath": ".status.deployments.managedDeployments"}"#,
    printcolumn = r#"{"name": "EnvName", "type": "string", "jsonPath": ".spec.envName"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ClowdAppSpec {
    /// The ClowdEnvironment that the application runs in.
    #[serde(rename = "envName", default)]
    #[schemars(!default)]
    pub environment_name: String,

    /// What runs all the time.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deployments: Vec<Deployment>,

    /// What runs on a schedule or when invoked.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub jobs: Vec<Job>,

    /// Kafka topics that the application uses.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub kafka_topics: Vec<KafkaTopic>,

    /// The database of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub database: Database,

    /// Buckets that the application uses.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub object_store: Vec<String>,

    /// Whether the application uses an in-memory database.
    #[serde(
        rename = "inMemoryDb",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub in_memory_database: bool,

    /// The application whose in-memory database is used. It has to be a dependency as well.
    #[serde(
        rename = "sharedInMemoryDbAppName",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub shared_in_memory_database_app_name: String,

    /// Whether the application uses feature flags.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub feature_flags: bool,

    /// Applications of the same environment without which this one cannot run.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub dependencies: Vec<String>,

    /// Applications of the same environment that this one uses if they are there.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub optional_dependencies: Vec<String>,

    /// Integration tests of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub testing: AppTesting,

    /// Copy of the host inventory in the database of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub cyndi: Cyndi,

    /// Leaves the application as it is.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub disabled: bool,
}

absent_spec_is_empty!(ClowdAppSpec);

/// What became of the application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClowdAppStatus {
    /// How many deployments there are, and how many of them are ready.
    #[serde(default)]
    #[schemars(skip_serializing_if = "is_default")]
    pub deployments: AppCounts,

    /// Whether every deployment is ready.
    #[serde(default)]
    #[schemars(!default)]
    pub ready: bool,

    /// What the operator has to say about each aspect of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "condition::list")]
    pub conditions: Vec<Condition>,

    /// The last generation that was brought to the cluster without an error.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub generation: i64,
}

/// How many deployments there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppCounts {
    /// Deployments that belong to the application.
    #[serde(default)]
    #[schemars(!default)]
    pub managed_deployments: i32,

    /// Those of them that are ready.
    #[serde(default)]
    #[schemars(!default)]
    pub ready_deployments: i32,
}
