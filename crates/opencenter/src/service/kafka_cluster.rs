//! Kafka, run by Strimzi.

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    config::NoSettings,
    flux::{list, map},
    render::Context,
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "kafka-cluster",
    description: "Kafka, run by Strimzi",
    category: ServiceCategory::Custom,
    namespace: Some("kafka-system"),
    helm_release: Some(("strimzi-kafka-operator", "kafka-system")),
    descriptor: descriptor!("kafka_cluster", "kafka-cluster"),
    renderer: Some(&RENDERER),
    ..CatalogEntry::NEW
};

/// Kafka.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "kafka-cluster",
    &[Template::plain("kafka-persistent.yaml", cluster)],
);

const NAME: &str = "kafka-cluster";
const API: &str = "kafka.strimzi.io/v1";

fn cluster(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::Documents(vec![
        node_pool("controller", "10Gi"),
        node_pool("broker", "20Gi"),
        kafka(),
    ]))
}

/// A pool of three; claims stay when the pool goes.
fn node_pool(role: &str, size: &str) -> Node {
    map! {
        "apiVersion": API,
        "kind": "KafkaNodePool",
        "metadata": map! { "name": role, "labels": map! { "strimzi.io/cluster": NAME } },
        "spec": map! {
            "replicas": 3,
            "roles": list![role],
            "storage": map! {
                "type": "jbod",
                "volumes": list![map! {
                    "id": 0,
                    "type": "persistent-claim",
                    "size": size,
                    "kraftMetadata": "shared",
                    "deleteClaim": false,
                }],
            },
        },
    }
}

fn kafka() -> Node {
    let listener = |name: &str, port: i32, tls: bool| {
        map! { "name": name, "port": port, "type": "internal", "tls": tls }
    };
    map! {
        "apiVersion": API,
        "kind": "Kafka",
        "metadata": map! { "name": NAME },
        "spec": map! {
            "kafka": map! {
                "version": "4.1.1",
                "metadataVersion": "4.1-IV1",
                "listeners": list![listener("plain", 9092, false), listener("tls", 9093, true)],
                "config": map! {
                    "offsets.topic.replication.factor": 3,
                    "transaction.state.log.replication.factor": 3,
                    "transaction.state.log.min.isr": 2,
                    "default.replication.factor": 3,
                    "min.insync.replicas": 2,
                    "log.retention.hours": 6,
                    "log.segment.bytes": 268_435_456,
                    "log.roll.ms": 3_600_000,
                    "log.retention.bytes": 1_073_741_824,
                },
            },
            "entityOperator": map! { "topicOperator": map! {}, "userOperator": map! {} },
        },
    }
}
