//! References to objects in any namespace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An object in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedName {
    /// Name of the object.
    #[serde(default)]
    #[schemars(!default)]
    pub name: String,

    /// Namespace of the object.
    #[serde(default)]
    #[schemars(!default)]
    pub namespace: String,
}
