//! Databases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// Databases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseProvider {
    /// Where databases come from.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: DatabaseMode,

    /// Where the certificates of the database servers are fetched from, in mode `app-interface`.
    #[serde(
        rename = "caBundleURL",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(regex(pattern = r"^https?:\/\/.+$"))]
    pub ca_bundle_url: String,

    /// Whether databases keep their data on a volume of their own, in modes `local` and `shared`.
    #[serde(
        rename = "pvc",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub persistent: bool,
}

word! {
    /// Where databases come from.
    pub enum DatabaseMode {
        /// One server for each version, with a database for each application.
        Shared = "shared",
        /// Secrets in the namespace of the application describe them.
        AppInterface = "app-interface",
        /// One server for each application.
        Local = "local",
        /// There are none.
        None = "none",
    }
}
