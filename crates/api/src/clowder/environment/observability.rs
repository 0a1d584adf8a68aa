//! Logs and metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Shipping of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoggingProvider {
    /// Where logs go.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: LoggingMode,
}

word! {
    /// Where logs go.
    pub enum LoggingMode {
        /// To CloudWatch, with credentials from a Secret.
        AppInterface = "app-interface",
        /// Nowhere, but applications are told of an empty CloudWatch. The text `null`, to be quoted in YAML.
        Null = "null",
        /// Nowhere.
        None = "none",
    }
}

/// Metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsProvider {
    /// Port on which containers serve metrics.
    #[serde(default)]
    #[schemars(!default)]
    pub port: i32,

    /// Path under which containers serve metrics.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub path: String,

    /// Who collects metrics.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: MetricsMode,

    /// Prometheus.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub prometheus: Prometheus,

    /// The push gateway of Prometheus.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub prometheus_gateway: PrometheusGateway,
}

word! {
    /// Who collects metrics.
    pub enum MetricsMode {
        /// Nobody.
        None = "none",
        /// A Prometheus of the environment, made through the Prometheus operator.
        Operator = "operator",
        /// A Prometheus that others run.
        AppInterface = "app-interface",
    }
}

/// Prometheus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prometheus {
    /// Whether the environment gets a Prometheus of its own, in mode `operator`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deploy: bool,

    /// Address of the Prometheus that others run, in mode `app-interface`.
    #[serde(
        rename = "appInterfaceInternalURL",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub app_interface_internal_url: String,
}

/// The push gateway of Prometheus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrometheusGateway {
    /// Whether the environment gets one.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub deploy: bool,

    /// Its image. Empty: the one of the operator.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,
}
