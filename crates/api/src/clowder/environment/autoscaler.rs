//! Scaling of deployments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Scaling of deployments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutoScalerProvider {
    /// Whether deployments that ask for it are scaled.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub mode: AutoScalerMode,
}

word! {
    /// Whether deployments that ask for it are scaled.
    pub enum AutoScalerMode {
        /// They are not.
        None = "none",
        /// They are.
        Enabled = "enabled",
        /// They are; the older word.
        Keda = "keda",
    }
}
