//! Service mesh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Service mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceMeshProvider {
    /// Whether pods join the mesh.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mode: ServiceMeshMode,
}

word! {
    /// Whether pods join the mesh.
    pub enum ServiceMeshMode {
        /// They do.
        Enabled = "enabled",
        /// They do not.
        Disabled = "disabled",
    }
}
