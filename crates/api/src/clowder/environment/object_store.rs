//! Object stores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Object stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStoreProvider {
    /// Where buckets come from.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: ObjectStoreMode,

    /// Not used.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub suffix: String,

    /// Whether the store keeps its data on a volume of its own, in mode `minio`.
    #[serde(
        rename = "pvc",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub persistent: bool,

    /// Images.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub images: ObjectStoreImages,
}

/// Images of object stores. Empty: those of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStoreImages {
    /// Image of MinIO.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub minio: String,
}

word! {
    /// Where buckets come from.
    pub enum ObjectStoreMode {
        /// One MinIO server for the environment.
        Minio = "minio",
        /// Secrets in the namespace of the application describe them.
        AppInterface = "app-interface",
        /// There are none.
        None = "none",
    }
}
