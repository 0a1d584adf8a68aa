//! `ClowdAppRef`: an application in another cluster, made known here so that others can depend on it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::web_services::WebServices;
use crate::{
    absence::{absent_spec_is_empty, is_default, or_default},
    condition,
};

/// Where the application runs and what it offers.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "cloud.redhat.com",
    version = "v1alpha1",
    kind = "ClowdAppRef",
    plural = "clowdapprefs",
    singular = "clowdappref",
    namespaced,
    status = "ClowdAppRefStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "An application in another cluster that applications of this one can depend on.",
    printcolumn = r#"{"name": "Ready", "type": "boolean", "jsonPath": ".status.ready"}"#,
    printcolumn = r#"{"name": "Env", "type": "string", "jsonPath": ".spec.envName"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct ClowdAppRefSpec {
    /// The ClowdEnvironment of this cluster in which the application can be depended on.
    #[serde(rename = "envName", default)]
    #[schemars(!default)]
    pub environment_name: String,

    /// The environment that the application runs in.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub remote_environment: RemoteEnvironment,

    /// The deployments of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deployments: Vec<RemoteDeployment>,

    /// The cluster that the application runs in, for people to read.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub remote_cluster: RemoteCluster,

    /// Not used.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub disabled: bool,

    /// Applications that depend on this reference even if a ClowdApp of the same name exists here.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub serves: Vec<String>,
}

absent_spec_is_empty!(ClowdAppRefSpec);

/// The environment that an application runs in. A port of zero is the one of the environment in this cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteEnvironment {
    /// Name of the environment, for people to read.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Port of public services.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub port: i32,

    /// Port of private services.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub private_port: i32,

    /// Port of public services for HTTP/2 without TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_port: i32,

    /// Port of private services for HTTP/2 without TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub h2c_private_port: i32,

    /// Ports of services that speak TLS.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub tls: super::environment::web::Tls,
}

/// A deployment of an application in another cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteDeployment {
    /// Name of the deployment.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Host name under which this cluster reaches the deployment.
    #[serde(default)]
    #[schemars(!default)]
    pub hostname: String,

    /// Deprecated, see `webServices`: whether the deployment has a public service.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub web: bool,

    /// What the deployment offers over the network.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub web_services: WebServices,
}

/// Another cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteCluster {
    /// Name of the cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Region of the cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub region: String,
}

/// The state of a reference. The operator never writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClowdAppRefStatus {
    /// Whether the application can be used.
    #[serde(default)]
    #[schemars(!default)]
    pub ready: bool,

    /// What there is to say about each aspect of the reference.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "condition::list")]
    pub conditions: Vec<Condition>,
}
