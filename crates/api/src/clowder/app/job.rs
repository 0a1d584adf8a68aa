//! Jobs of an application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pod::PodSpec;
use crate::absence::{is_default, or_default};

/// A job of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its name, unique in the application.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Makes no CronJob and refuses invocations.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub disabled: bool,

    /// When it runs, in the notation of cron. Empty: only when a ClowdJobInvocation asks for it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub schedule: String,

    /// How many of its pods may run at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parallelism: Option<i32>,

    /// How many of its pods have to succeed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub completions: Option<i32>,

    /// Its pods.
    #[serde(default)]
    #[schemars(!default)]
    pub pod_spec: PodSpec,

    /// When containers are restarted. Empty: `Never`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub restart_policy: String,

    /// What happens if the previous run is not over yet. Empty: `Allow`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub concurrency_policy: String,

    /// Whether the schedule is suspended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub suspend: Option<bool>,

    /// How many successful runs are kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub successful_jobs_history_limit: Option<i32>,

    /// How many failed runs are kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed_jobs_history_limit: Option<i32>,

    /// How many seconds late a scheduled run may start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub starting_deadline_seconds: Option<i64>,

    /// How many seconds a run may take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub active_deadline_seconds: Option<i64>,
}
