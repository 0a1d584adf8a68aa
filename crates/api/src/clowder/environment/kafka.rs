//! Kafka.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    absence::{is_default, or_default},
    clowder::reference::NamespacedName,
    word::word,
};

/// Kafka.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaProvider {
    /// Where Kafka comes from.
    #[serde(default)]
    #[schemars(!default)]
    pub mode: KafkaMode,

    /// Makes the cluster without TLS and users, in mode `operator`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub enable_legacy_strimzi: bool,

    /// Whether the cluster keeps its data on volumes of its own, in mode `operator`.
    #[serde(
        rename = "pvc",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub persistent: bool,

    /// The Kafka cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub cluster: KafkaCluster,

    /// The Kafka Connect cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub connect: KafkaConnectCluster,

    /// Secret that describes the cluster, in modes `managed` and `ephem-msk`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub managed_secret_ref: NamespacedName,

    /// Prefix of the names of topics, in mode `managed`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub managed_prefix: String,

    /// Namespace of the topics, in mode `ephem-msk`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub topic_namespace: String,

    /// Cluster that topics are made for, in mode `ephem-msk`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub cluster_annotation: String,

    /// Deprecated: wins over `cluster.name`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub cluster_name: String,

    /// Deprecated: wins over `cluster.namespace`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub namespace: String,

    /// Deprecated: wins over `connect.namespace`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub connect_namespace: String,

    /// Deprecated: wins over `connect.name`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub connect_cluster_name: String,

    /// Deprecated and not used.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub suffix: String,

    /// Number of Kafka Connect pods, in mode `ephem-msk`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(schema_with = "whole_number")]
    pub kafka_connect_replica_count: i64,
}

word! {
    /// Where Kafka comes from.
    pub enum KafkaMode {
        /// A managed cluster, shared by short-lived environments that are told apart by prefixes.
        EphemeralMsk = "ephem-msk",
        /// A managed cluster that a Secret describes.
        Managed = "managed",
        /// A cluster made through Strimzi.
        Operator = "operator",
        /// A cluster made through Strimzi by others.
        AppInterface = "app-interface",
        /// Allowed by the definition, but nobody provides it.
        Local = "local",
        /// There is none.
        None = "none",
    }
}

/// The Kafka cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaCluster {
    /// Its name. Empty: the name of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Its namespace. Empty: the target namespace of the environment.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub namespace: String,

    /// Tells applications to use TLS, in mode `app-interface`.
    #[serde(
        rename = "forceTLS",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub force_tls: bool,

    /// Number of brokers. Zero: 1.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(range(min = 1))]
    pub replicas: i32,

    /// Size of the volume of each broker. Empty: `1Gi`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub storage_size: String,

    /// Whether the volumes go when the cluster goes.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub delete_claim: bool,

    /// Version of Kafka. Empty: `3.8.0`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub version: String,

    /// Configuration of the brokers, in place of the usual one.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub config: BTreeMap<String, String>,

    /// Options of the Java virtual machine.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub jvm_options: JvmOptions,

    /// Resources of the brokers.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub resources: KafkaResources,
}

/// The Kafka Connect cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KafkaConnectCluster {
    /// Its name. Empty: that of the Kafka cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub name: String,

    /// Its namespace. Empty: that of the Kafka cluster.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub namespace: String,

    /// Number of pods. Zero: 1.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    #[schemars(range(min = 1))]
    pub replicas: i32,

    /// Version of Kafka. Empty: `3.8.0`.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub version: String,

    /// Its image. Empty: the one of the operator.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub image: String,

    /// Resources of the pods.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub resources: KafkaResources,
}

/// Options of the Java virtual machine, handed to Strimzi as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JvmOptions {
    /// Options that start with `-XX`.
    #[serde(
        rename = "-XX",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub xx: BTreeMap<String, String>,

    /// Memory at the start.
    #[serde(rename = "-Xms", default, skip_serializing_if = "is_default")]
    pub xms: Option<String>,

    /// Memory at most.
    #[serde(rename = "-Xmx", default, skip_serializing_if = "is_default")]
    pub xmx: Option<String>,

    /// Whether garbage collection is logged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gc_logging_enabled: Option<bool>,

    /// System properties.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub java_system_properties: Vec<JavaSystemProperty>,
}

/// A system property of the Java virtual machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JavaSystemProperty {
    /// Name of the property.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: Option<String>,

    /// Value of the property.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: Option<String>,
}

/// Resources of Kafka pods, handed to Strimzi as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KafkaResources {
    /// Resource claims.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub claims: Vec<KafkaResourceClaim>,

    /// Resources at most.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "anything")]
    pub limits: Option<Value>,

    /// Resources at least.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "anything")]
    pub requests: Option<Value>,
}

/// A resource claim of Kafka pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KafkaResourceClaim {
    /// Name of the claim.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: Option<String>,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// The original does not state the size of this number.
fn whole_number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer"})
}
