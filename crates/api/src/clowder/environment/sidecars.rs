//! Sidecars that applications may ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    clowder::sidecar::SidecarVariable,
};

/// Sidecars that applications may ask for. One that is not enabled here is not given to anybody.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SidecarsProvider {
    /// Refreshes access tokens.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub token_refresher: TokenRefresher,

    /// Collects OpenTelemetry data.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub otel_collector: OtelCollector,
}

/// The sidecar that refreshes access tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRefresher {
    /// Whether applications may have it.
    #[serde(default)]
    #[schemars(!default)]
    pub enabled: bool,

    /// Its image. Empty: the one of the operator.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,
}

/// The sidecar that collects OpenTelemetry data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtelCollector {
    /// Whether applications may have it.
    #[serde(default)]
    #[schemars(!default)]
    pub enabled: bool,

    /// Its image. Empty: the one of the operator.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,

    /// ConfigMap with its configuration, in the namespace of the application.
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

    /// Memory that it asks for.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub memory_request: String,

    /// Memory that it may use at most.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub memory_limit: String,
}
