//! What became of an environment.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    condition,
};

/// What became of the environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClowdEnvironmentStatus {
    /// What the operator has to say about each aspect of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "condition::list")]
    pub conditions: Vec<Condition>,

    /// Namespace of the objects of the environment itself.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub target_namespace: String,

    /// Whether every deployment and topic of the environment is ready. Absent: it is not.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ready: bool,

    /// How many deployments and topics there are, and how many of them are ready.
    #[serde(default)]
    #[schemars(skip_serializing_if = "is_default")]
    pub deployments: EnvironmentCounts,

    /// The applications of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub apps: Vec<AppSummary>,

    /// The last generation whose objects were brought to the cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub generation: i64,

    /// Host name of the gateway.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub hostname: String,

    /// The Prometheus of the environment.
    #[serde(default)]
    #[schemars(skip_serializing_if = "is_default")]
    pub prometheus: PrometheusStatus,
}

/// How many deployments and topics there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentCounts {
    /// Deployments that belong to the environment.
    #[serde(default)]
    #[schemars(!default)]
    pub managed_deployments: i32,

    /// Those of them that are ready.
    #[serde(default)]
    #[schemars(!default)]
    pub ready_deployments: i32,

    /// Kafka topics that belong to the environment.
    #[serde(default)]
    #[schemars(!default)]
    pub managed_topics: i32,

    /// Those of them that are ready.
    #[serde(default)]
    #[schemars(!default)]
    pub ready_topics: i32,
}

/// An application of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppSummary {
    /// Name of the application.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Its deployments that can be reached over the network.
    #[serde(default)]
    #[schemars(!default)]
    pub deployments: Vec<DeploymentSummary>,
}

/// A deployment that can be reached over the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentSummary {
    /// Name of the deployment.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Its host name.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub hostname: String,

    /// Its port.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub port: i32,
}

/// The Prometheus of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusStatus {
    /// Its address; empty if there is none.
    #[serde(default)]
    #[schemars(!default)]
    pub server_address: String,
}
