//! Deployments of an application.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    autoscaler::{AutoScaler, AutoScalerSimple},
    pod::PodSpec,
};
use crate::{
    absence::{is_default, or_default},
    clowder::{access::AccessLevel, web_services::WebServices},
};

/// A deployment of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// Its name, unique in the application. Its objects are named `<application>-<name>`.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Deprecated: used if `replicas` is absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replicas: Option<i32>,

    /// Number of pods. Absent: `minReplicas`, or else 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replicas: Option<i32>,

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

    /// Its pods.
    #[serde(default)]
    #[schemars(!default)]
    pub pod_spec: PodSpec,

    /// What its pods may do with the Kubernetes API.
    #[serde(
        rename = "k8sAccessLevel",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub access_level: AccessLevel,

    /// Scaling through KEDA.
    #[serde(default, skip_serializing_if = "is_default")]
    pub auto_scaler: Option<AutoScaler>,

    /// Scaling by memory and processor time; wins over `autoScaler`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub auto_scaler_simple: Option<AutoScalerSimple>,

    /// How pods are replaced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deployment_strategy: Option<DeploymentStrategy>,

    /// Metadata of the Deployment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub metadata: Annotations,
}

/// How pods are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentStrategy {
    /// Strategy of the Deployment if it has no public service, for example `Recreate`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub private_strategy: String,
}

/// Metadata to be put on an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotations {
    /// Annotations.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub annotations: BTreeMap<String, String>,
}
