//! `ClowdEnvironment`: how the needs of applications are provided for.

pub mod autoscaler;
pub mod database;
pub mod feature_flags;
pub mod in_memory_database;
pub mod kafka;
pub mod object_store;
pub mod observability;
pub mod reverse_proxy;
pub mod service_mesh;
pub mod sidecars;
pub mod status;
pub mod testing;
pub mod web;

use k8s_openapi::api::core::v1::ResourceRequirements;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::{
    autoscaler::AutoScalerProvider, database::DatabaseProvider,
    feature_flags::FeatureFlagsProvider, in_memory_database::InMemoryDatabaseProvider,
    kafka::KafkaProvider, object_store::ObjectStoreProvider, observability::LoggingProvider,
    observability::MetricsProvider, reverse_proxy::ReverseProxyProvider,
    service_mesh::ServiceMeshProvider, sidecars::SidecarsProvider, status::ClowdEnvironmentStatus,
    testing::TestingProvider, web::WebProvider,
};
use super::reference::NamespacedName;
use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    embedded,
    word::word,
};

/// How the needs of the applications in this environment are provided for.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "cloud.redhat.com",
    version = "v1alpha1",
    kind = "ClowdEnvironment",
    plural = "clowdenvironments",
    singular = "clowdenvironment",
    shortname = "env",
    status = "ClowdEnvironmentStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "An environment that ClowdApps run in: says how databases, Kafka, object stores and everything else are provided.",
    printcolumn = r#"{"name": "Ready", "type": "integer", "jsonPath": ".status.deployments.readyDeployments"}"#,
    printcolumn = r#"{"name": "Managed", "type": "integer", "jsonPath": ".status.deployments.managedDeployments"}"#,
    printcolumn = r#"{"name": "Namespace", "type": "string", "jsonPath": ".status.targetNamespace"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ClowdEnvironmentSpec {
    /// Namespace for the objects of the environment itself. Empty: the operator makes one. Later changes have no effect.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub target_namespace: String,

    /// How each need is provided for.
    #[serde(default)]
    #[schemars(!default)]
    pub providers: Providers,

    /// Resources of containers that do not name their own. May be empty.
    #[serde(default)]
    #[schemars(!default, schema_with = "embedded::value::<ResourceRequirements>")]
    pub resource_defaults: ResourceRequirements,

    /// How Services are made.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub service_config: ServiceConfig,

    /// Leaves the environment as it is.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub disabled: bool,
}

absent_spec_is_empty!(ClowdEnvironmentSpec);

/// How Services are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceConfig {
    /// Type of the Services.
    #[serde(rename = "type", default)]
    #[schemars(!default)]
    pub service_type: ServiceType,
}

word! {
    /// Type of the Services of an environment.
    pub enum ServiceType {
        /// Reached inside the cluster only.
        ClusterIp = "ClusterIP",
        /// Reached on a port of every node.
        NodePort = "NodePort",
        /// Nothing was said, the same as [`ClusterIp`](Self::ClusterIp).
        Unset = "",
    }
}

/// How each need is provided for. The definition asks for four of the blocks only; an absent one has no mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Providers {
    /// Databases.
    #[serde(
        rename = "db",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub database: DatabaseProvider,

    /// In-memory databases.
    #[serde(rename = "inMemoryDb", default)]
    #[schemars(!default)]
    pub in_memory_database: InMemoryDatabaseProvider,

    /// Kafka.
    #[serde(default)]
    #[schemars(!default)]
    pub kafka: KafkaProvider,

    /// Shipping of logs.
    #[serde(default)]
    #[schemars(!default)]
    pub logging: LoggingProvider,

    /// Metrics.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub metrics: MetricsProvider,

    /// Object stores.
    #[serde(default)]
    #[schemars(!default)]
    pub object_store: ObjectStoreProvider,

    /// Services and the way to them from outside.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub web: WebProvider,

    /// Feature flags.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub feature_flags: FeatureFlagsProvider,

    /// Service mesh.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub service_mesh: ServiceMeshProvider,

    /// Secrets with credentials of registries, copied to where pods are made.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub pull_secrets: Vec<NamespacedName>,

    /// Integration tests.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub testing: TestingProvider,

    /// Sidecars that applications may ask for.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub sidecars: SidecarsProvider,

    /// Scaling of deployments.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub auto_scaler: AutoScalerProvider,

    /// How Deployments are made.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deployment: DeploymentProvider,

    /// A proxy in front of static files of the object store.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub reverse_proxy: ReverseProxyProvider,
}

/// How Deployments are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentProvider {
    /// Leaves the image pull policy of containers to the cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub omit_pull_policy: bool,
}
