//! What an application needs beside its workloads.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    absence::{is_default, or_default},
    word::word,
};

/// A Kafka topic that an application uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaTopic {
    /// Name of the topic as the application knows it.
    #[serde(default)]
    #[schemars(
        !default,
        length(min = 1, max = 249),
        regex(pattern = r"[a-zA-Z0-9\._\-]")
    )]
    pub topic_name: String,

    /// Number of partitions. Zero: 3.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(range(min = 1, max = 200_000))]
    pub partitions: i32,

    /// Number of replicas, at most as many as there are brokers. Zero: 3.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(range(min = 1, max = 32_767))]
    pub replicas: i32,

    /// Configuration of the topic.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub config: BTreeMap<String, String>,
}

/// The database of an application. It has one if `name` or `sharedDbAppName` is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Database {
    /// Major version of PostgreSQL. Absent: 12.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "i32", extend("enum" = [12, 13, 14, 15, 16]))]
    pub version: Option<i32>,

    /// Name of the database.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// The application whose database is used. It has to be a dependency as well.
    #[serde(
        rename = "sharedDbAppName",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub shared_database_app_name: String,

    /// Size of the volume. Absent: the smallest.
    #[serde(
        rename = "dbVolumeSize",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub volume_size: DatabaseSize,

    /// Size of the server in processors and memory. Absent: the smallest.
    #[serde(
        rename = "dbResourceSize",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub resource_size: DatabaseSize,
}

word! {
    /// How big a database is. An absent size is smaller than all of these.
    pub enum DatabaseSize {
        /// Small.
        Small = "small",
        /// Medium.
        Medium = "medium",
        /// Large.
        Large = "large",
    }
}

/// Copy of the host inventory in the database of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cyndi {
    /// Whether the application has a copy.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enabled: bool,

    /// Name of the application to the inventory. Empty: the name of the application.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
    )]
    pub app_name: String,

    /// Filters on the hosts that are copied.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub additional_filters: Vec<BTreeMap<String, String>>,

    /// Whether only hosts known to Insights are copied.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub insights_only: bool,
}

/// Integration tests of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppTesting {
    /// The IQE plugin with the tests.
    #[serde(default)]
    #[schemars(!default)]
    pub iqe_plugin: String,
}
