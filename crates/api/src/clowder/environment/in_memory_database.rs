//! In-memory databases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// In-memory databases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InMemoryDatabaseProvider {
    /// Where in-memory databases come from.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: InMemoryDatabaseMode,

    /// Image in mode `redis`. Empty: the one of the operator.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,
}

word! {
    /// Where in-memory databases come from.
    pub enum InMemoryDatabaseMode {
        /// One server for each application.
        Redis = "redis",
        /// A Secret in the namespace of the application describes it.
        Elasticache = "elasticache",
        /// There are none.
        None = "none",
    }
}
