use serde_json::json;

use super::*;
use crate::providers::fixture::secret;

fn interface(cluster: Value) -> Case {
    let mut settings = json!({"mode": "app-interface"});
    settings["cluster"] = cluster;
    kafka(
        settings,
        json!([{"topicName": "orders"}, {"topicName": "carts"}]),
    )
}

fn topic(name: &str) -> Value {
    reporting("KafkaTopic", "bus-ns", name, json!({}))
}

#[test]
fn a_cluster_is_told_by_the_name_of_its_service() {
    let case = interface(json!({"name": "bus", "namespace": "bus-ns"}))
        .among([topic("orders"), topic("carts")]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert!(rendered.names().is_empty());
    assert_eq!(
        rendered.config["kafka"],
        json!({
            "brokers": [{"hostname": "bus-kafka-bootstrap.bus-ns.svc", "port": 9092}],
            "topics": [{"name": "orders", "requestedName": "orders"}, {"name": "carts", "requestedName": "carts"}],
        })
    );
}

#[test]
fn forced_tls_needs_the_certificate_of_the_cluster() {
    // Parity: the certificate is looked for under the name of the environment, the Service under no name at all.
    let case = interface(json!({"namespace": "bus-ns", "forceTLS": true}))
        .among([topic("orders"), topic("carts")]);
    let failure = case.render(&[&Kafka]).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "Secret \"stage-cluster-ca-cert\" not found"
    );
    let case = case.among([secret(
        "bus-ns",
        "stage-cluster-ca-cert",
        json!({"ca.crt": "PEM"}),
    )]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert_eq!(
        rendered.config["kafka"]["brokers"],
        json!([{"cacert": "PEM", "hostname": "-kafka-bootstrap.bus-ns.svc", "port": 9093, "securityProtocol": "SSL"}])
    );
}

#[test]
fn the_first_missing_topic_is_named() {
    let case = interface(json!({"name": "bus", "namespace": "bus-ns"})).among([topic("orders")]);
    let failure = case.render(&[&Kafka]).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "Missing dependencies: [source: kafka, details: No KafkaTopic named 'carts' found in namespace 'bus-ns']"
    );
}

#[test]
fn an_environment_needs_the_service_of_the_cluster() {
    let case = interface(json!({"name": "bus"}));
    let failure = case.render_environment(&Kafka).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "Cannot find kafka bootstrap service stage-env:bus-kafka-bootstrap: "
    );
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "stage-env", "name": "bus-kafka-bootstrap"}});
    let case = case.among([service]);
    assert!(case.render_environment(&Kafka).unwrap().names().is_empty());
}
