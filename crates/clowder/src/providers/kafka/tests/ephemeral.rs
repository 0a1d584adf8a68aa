use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use super::*;
use crate::providers::fixture::secret;

fn described() -> Value {
    secret(
        "far",
        "msk",
        json!({"hostnames": "a.example.com,b.example.com", "port": "9196", "username": "msk-user",
            "password": "pw", "cacert": "PEM", "saslMechanism": "SCRAM-SHA-512", "ca.crt": "PEM"}),
    )
}

fn shared(changes: &[(&str, Value)]) -> Case {
    let mut settings = json!({
        "mode": "ephem-msk", "cluster": {"name": "bus", "namespace": "far", "replicas": 2},
        "managedSecretRef": {"name": "msk", "namespace": "far"}, "clusterAnnotation": "msk-cluster",
    });
    for (field, value) in changes {
        settings[field] = value.clone();
    }
    let wish = json!([{"topicName": "orders", "partitions": 5, "replicas": 4}]);
    let mut case = kafka(settings, wish).among([
        described(),
        secret("far", "bus-cluster-ca-cert", json!({"ca.crt": "CA"})),
    ]);
    case.environment["spec"]["targetNamespace"] = json!("asked-env");
    case
}

#[test]
fn an_environment_connects_to_the_cluster_and_copies_what_connect_needs() {
    let case = shared(&[("kafkaConnectReplicaCount", json!(2))]);
    let rendered = case.render_environment(&Kafka).unwrap();
    assert_eq!(
        rendered.names(),
        [
            "KafkaConnect far/bus",
            "Secret asked-env/msk",
            "Secret stage-env/msk-user",
            "Secret asked-env/bus-cluster-ca-cert",
        ]
    );
    let connect = &rendered.object("KafkaConnect", "bus")["spec"];
    assert_eq!(
        connect["bootstrapServers"],
        "a.example.com:9196,b.example.com:9196"
    );
    assert_eq!(
        connect["config"]["offset.storage.topic"],
        "stage-connect-cluster-offsets"
    );
    assert_eq!(connect["config"]["status.storage.replication.factor"], "2");
    assert_eq!(connect["config"].get("config.providers"), None);
    assert_eq!(connect["authentication"]["username"], "msk-user");
    assert_eq!(
        connect["tls"]["trustedCertificates"][0]["secretName"],
        "msk"
    );
    let login = &rendered.object("Secret", "msk-user")["data"]["sasl.jaas.config"];
    let expected = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"msk-user\" password=\"pw\";";
    assert_eq!(*login, STANDARD.encode(expected));
}

#[test]
fn connect_keeps_three_copies_unless_told_otherwise() {
    let rendered = shared(&[]).render_environment(&Kafka).unwrap();
    let connect = &rendered.object("KafkaConnect", "bus")["spec"];
    assert_eq!(connect["config"]["config.storage.replication.factor"], "3");
    assert_eq!(connect["replicas"], 1);
}

#[test]
fn what_is_in_the_target_namespace_is_not_copied() {
    let mut case = shared(&[]);
    case.environment["spec"]["targetNamespace"] = json!("far");
    let rendered = case.render_environment(&Kafka).unwrap();
    assert_eq!(
        rendered.names(),
        ["KafkaConnect far/bus", "Secret stage-env/msk-user"]
    );
}

#[test]
fn topics_carry_the_name_of_their_environment() {
    let rendered = shared(&[("topicNamespace", json!("topics"))])
        .render(&[&Kafka])
        .unwrap();
    assert_eq!(rendered.names(), ["KafkaTopic topics/stage-orders"]);
    let topic = rendered.object("KafkaTopic", "stage-orders");
    assert_eq!(
        topic["metadata"]["labels"],
        json!({"env": "stage", "strimzi.io/cluster": "msk-cluster"})
    );
    assert_eq!(
        topic["spec"],
        json!({"config": {}, "partitions": 5, "replicas": 2})
    );
    let told = json!([{"name": "stage-orders", "requestedName": "orders"}]);
    assert_eq!(rendered.config["kafka"]["topics"], told);
    assert_eq!(
        rendered.config["kafka"]["brokers"][1]["hostname"],
        "b.example.com"
    );
    let own = shared(&[]).render(&[&Kafka]).unwrap();
    assert_eq!(own.names(), ["KafkaTopic stage-env/stage-orders"]);
}

#[test]
fn an_app_without_topics_is_told_nothing() {
    let mut case = shared(&[]);
    case.app["spec"] = json!({"cyndi": {"enabled": true}});
    let rendered = case.render(&[&Kafka]).unwrap();
    assert!(rendered.names().is_empty());
    assert_eq!(rendered.config.get("kafka"), None);
}

#[test]
fn an_environment_says_what_it_lacks() {
    let says = |case: &Case| case.render_environment(&Kafka).unwrap_err().to_string();
    let unreferenced = shared(&[("managedSecretRef", json!({}))]);
    assert_eq!(
        says(&unreferenced),
        "unable to determine kafka broker addresses: no secret ref defined for managed Kafka: "
    );
    let absent = shared(&[("managedSecretRef", json!({"name": "x", "namespace": "far"}))]);
    assert_eq!(
        says(&absent),
        "unable to determine kafka broker addresses: Secret \"x\" not found"
    );
    let uncertain = shared(&[("cluster", json!({"name": "other", "namespace": "far"}))]);
    assert_eq!(
        says(&uncertain),
        "Secret \"other-cluster-ca-cert\" not found"
    );
    let mut homeless = shared(&[]);
    homeless.environment["spec"]["targetNamespace"] = json!("");
    assert!(says(&homeless).contains("targetNamespace"));
    let nameless = shared(&[]).among([secret("far", "msk", json!({"port": "1", "hostname": "a"}))]);
    assert!(says(&nameless).contains("names the user ''"));
}

#[test]
fn connect_of_another_environment_is_left_alone() {
    let mut foreign = reporting("KafkaConnect", "far", "bus", json!({}));
    foreign["metadata"]["labels"] = json!({"env": "other"});
    let failure = shared(&[])
        .among([foreign])
        .render_environment(&Kafka)
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "failed to provision kafka connect cluster: kafka connect cluster named 'bus' found in ns 'far' but tied to env 'other'"
    );
}
