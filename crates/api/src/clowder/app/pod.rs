//! Pods of deployments and jobs.

use k8s_openapi::api::core::v1::{
    EnvVar, Lifecycle, Probe, ResourceRequirements, Volume, VolumeMount,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deployment::Annotations;
use crate::{
    absence::{is_default, or_default},
    clowder::sidecar::SidecarVariable,
    embedded,
};

/// A pod with one container of the application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// Image of the container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,

    /// Containers that run to their end before it starts.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub init_containers: Vec<InitContainer>,

    /// Metadata of the pods of a deployment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub metadata: Annotations,

    /// Command of the container. Empty: that of the image.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub command: Vec<String>,

    /// Arguments of the command.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub args: Vec<String>,

    /// Environment variables of the container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::list::<EnvVar>")]
    pub env: Vec<EnvVar>,

    /// Memory and processor time of the container. Absent: those of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::value::<ResourceRequirements>")]
    pub resources: ResourceRequirements,

    /// How to find out that the container has to be restarted.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::value::<Probe>")]
    pub liveness_probe: Option<Probe>,

    /// How to find out that the container takes requests.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::value::<Probe>")]
    pub readiness_probe: Option<Probe>,

    /// Volumes of the pod.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::list::<Volume>")]
    pub volumes: Vec<Volume>,

    /// Where the container sees the volumes.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::list::<VolumeMount>")]
    pub volume_mounts: Vec<VolumeMount>,

    /// What happens after the start and before the stop of the container.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::value::<Lifecycle>")]
    pub lifecycle: Option<Lifecycle>,

    /// How many seconds the pod has to stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub termination_grace_period_seconds: Option<i64>,

    /// Sidecars, as far as the environment provides them.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub sidecars: Vec<Sidecar>,

    /// Pool of nodes that the pod may run on, too: it tolerates the taint of that name.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub machine_pool: String,
}

/// A container that runs to its end before the others start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitContainer {
    /// Its name; needed if there is more than one.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Its image. Empty: that of the main container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,

    /// Its command. Empty: that of the image.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub command: Vec<String>,

    /// Arguments of the command.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub args: Vec<String>,

    /// Whether it has the environment variables of the main container.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub inherit_env: bool,

    /// Its environment variables.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::list::<EnvVar>")]
    pub env: Vec<EnvVar>,
}

/// A sidecar that the environment provides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// Which one.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Whether it is wanted.
    #[serde(default)]
    #[schemars(!default)]
    pub enabled: bool,

    /// Its image. Empty: the one of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,

    /// ConfigMap with its configuration. Empty: the one of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub config_map: String,

    /// Its environment variables.
    #[serde(
        rename = "envVars",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub environment_variables: Vec<SidecarVariable>,

    /// Memory that it asks for. Empty: as the environment says.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub memory_request: String,

    /// Memory that it may use at most. Empty: as the environment says.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub memory_limit: String,

    /// Where it sees the volumes of the pod.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "embedded::list::<VolumeMount>")]
    pub volume_mounts: Vec<VolumeMount>,
}
