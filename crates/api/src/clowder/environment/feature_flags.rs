//! Feature flags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    clowder::reference::NamespacedName,
    word::word,
};

/// Feature flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureFlagsProvider {
    /// Where feature flags come from. Absent: there are none.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mode: FeatureFlagsMode,

    /// Whether the database of Unleash keeps its data on a volume of its own, in mode `local`.
    #[serde(
        rename = "pvc",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub persistent: bool,

    /// Secret with the access token, in mode `app-interface`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub credential_ref: NamespacedName,

    /// Host name of the server, in mode `app-interface`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub hostname: String,

    /// Port of the server, in mode `app-interface`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub port: i32,

    /// Images.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub images: FeatureFlagsImages,
}

/// Images of the feature flag servers. Empty: those of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureFlagsImages {
    /// Image of Unleash.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub unleash: String,

    /// Image of Unleash Edge.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub unleash_edge: String,
}

word! {
    /// Where feature flags come from.
    pub enum FeatureFlagsMode {
        /// An Unleash server of the environment.
        Local = "local",
        /// A server that others run.
        AppInterface = "app-interface",
        /// There are none.
        None = "none",
    }
}
