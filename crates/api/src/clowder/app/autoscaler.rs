//! Scaling of deployments: the simple way by memory and processor time, and everything that KEDA offers.

use std::collections::BTreeMap;

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscalerBehavior;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    embedded,
    word::word,
};

/// Scaling by memory and processor time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutoScalerSimple {
    /// Bounds of the number of pods.
    #[serde(default)]
    #[schemars(!default)]
    pub replicas: ReplicaRange,

    /// Scaling by memory.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub ram: ScaleAt,

    /// Scaling by processor time.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub cpu: ScaleAt,
}

/// Bounds of the number of pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicaRange {
    /// The fewest.
    #[serde(default)]
    #[schemars(!default)]
    pub min: i32,

    /// The most.
    #[serde(default)]
    #[schemars(!default)]
    pub max: i32,
}

/// When to add pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleAt {
    /// At this average of a pod, as a quantity.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub scale_at_value: String,

    /// At this percentage of what pods ask for.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub scale_at_utilization: i32,
}

/// Scaling through KEDA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoScaler {
    /// Seconds between two looks at the triggers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub polling_interval: Option<i32>,

    /// Seconds between the last active trigger and scaling down to the fewest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cooldown_period: Option<i32>,

    /// The most pods. Absent: 10.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_replica_count: Option<i32>,

    /// The fewest pods. Absent: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min_replica_count: Option<i32>,

    /// Finer settings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub advanced: Option<Advanced>,

    /// What makes the deployment scale.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub triggers: Vec<Trigger>,

    /// What to do while triggers cannot be read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fallback: Option<Fallback>,

    /// Not used.
    #[serde(
        rename = "externalHPA",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub external_hpa: bool,
}

/// What makes a deployment scale.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// Name of the scaler.
    #[serde(rename = "type", default)]
    #[schemars(!default)]
    pub trigger_type: String,

    /// Name of the trigger, for formulas.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Whether the value is read once for each polling interval.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub use_cached_metrics: bool,

    /// Settings of the scaler.
    #[serde(default)]
    #[schemars(!default)]
    pub metadata: BTreeMap<String, String>,

    /// Credentials of the scaler.
    #[serde(default, skip_serializing_if = "is_default")]
    pub authentication_ref: Option<TriggerAuthentication>,

    /// What the target is compared with.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub metric_type: String,
}

/// Credentials of a scaler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerAuthentication {
    /// Name of the object that describes them.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Its kind. Empty: `TriggerAuthentication`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub kind: String,
}

/// What to do while triggers cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fallback {
    /// After how many failures.
    #[serde(default)]
    #[schemars(!default)]
    pub failure_threshold: i32,

    /// Number of pods to fall back to.
    #[serde(default)]
    #[schemars(!default)]
    pub replicas: i32,

    /// How that number is read.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(extend("default" = "static"))]
    pub behavior: FallbackBehavior,
}

word! {
    /// How the number of pods to fall back to is read.
    pub enum FallbackBehavior {
        /// As it stands.
        Static = "static",
        /// Ignored: the number of pods stays.
        CurrentReplicas = "currentReplicas",
        /// As the least number of pods.
        CurrentReplicasIfHigher = "currentReplicasIfHigher",
        /// As the greatest number of pods.
        CurrentReplicasIfLower = "currentReplicasIfLower",
    }
}

/// Finer settings of scaling through KEDA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Advanced {
    /// Settings of the HorizontalPodAutoscaler that KEDA makes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub horizontal_pod_autoscaler_config: Option<HorizontalPodAutoscalerConfig>,

    /// Whether the number of pods goes back to what it was when scaling ends.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub restore_to_original_replica_count: bool,

    /// One value made from several triggers.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub scaling_modifiers: ScalingModifiers,
}

/// Settings of the HorizontalPodAutoscaler that KEDA makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HorizontalPodAutoscalerConfig {
    /// How fast it scales up and down.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "embedded::value::<HorizontalPodAutoscalerBehavior>")]
    pub behavior: Option<HorizontalPodAutoscalerBehavior>,

    /// Its name.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,
}

/// One value made from several triggers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScalingModifiers {
    /// Formula over the names of triggers.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub formula: String,

    /// Value that scaling aims at.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub target: String,

    /// Value from which on scaling is active.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub activation_target: String,

    /// What the target is compared with.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub metric_type: ScalingMetricType,
}

word! {
    /// What the target is compared with.
    pub enum ScalingMetricType {
        /// The value divided by the number of pods.
        AverageValue = "AverageValue",
        /// The value.
        Value = "Value",
    }
}
