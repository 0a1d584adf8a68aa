//! A proxy in front of static files of the object store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// A proxy in front of static files of the object store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReverseProxyProvider {
    /// Whether there is a proxy. Absent: there is none.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mode: ReverseProxyMode,

    /// Images.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub images: ReverseProxyImages,

    /// Prefix of paths in the bucket.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub bucket_path_prefix: String,

    /// Path of the file that single-page applications start with.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub spa_entrypoint_path: String,

    /// Region of the bucket.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub aws_region: String,
}

/// Images of the proxy. Empty: those of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReverseProxyImages {
    /// Image of the proxy.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub proxy: String,
}

word! {
    /// Whether there is a proxy.
    pub enum ReverseProxyMode {
        /// There is one.
        Ephemeral = "ephemeral",
        /// There is none.
        None = "none",
    }
}
