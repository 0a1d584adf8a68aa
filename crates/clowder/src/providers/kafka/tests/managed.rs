use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::secret;

fn managed(prefix: &str) -> Case {
    let reference = json!({"name": "bus", "namespace": "secrets"});
    let settings =
        json!({"mode": "managed", "managedSecretRef": reference, "managedPrefix": prefix});
    kafka(settings, json!([{"topicName": "orders"}]))
}

fn error(values: Value) -> String {
    let case = managed("").among([secret("secrets", "bus", values)]);
    case.render(&[&Kafka]).unwrap_err().to_string()
}

#[test]
fn a_secret_describes_one_broker() {
    let described = secret(
        "secrets",
        "bus",
        json!({"hostname": "b.example.com", "port": "9096", "username": "u", "password": "p",
            "cacert": "PEM", "saslMechanism": "SCRAM-SHA-512"}),
    );
    let case = managed("mine.").among([described]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert!(rendered.names().is_empty());
    assert_eq!(
        rendered.config["kafka"],
        json!({
            "brokers": [{
                "authtype": "sasl", "cacert": "PEM", "hostname": "b.example.com", "port": 9096,
                "sasl": {"password": "p", "saslMechanism": "SCRAM-SHA-512", "securityProtocol": "SASL_SSL", "username": "u"},
                "securityProtocol": "SASL_SSL",
            }],
            "topics": [{"name": "mine.orders", "requestedName": "orders"}],
        })
    );
    assert!(case.render_environment(&Kafka).unwrap().names().is_empty());
}

#[test]
fn several_hosts_share_port_and_login_and_are_taken_as_they_are() {
    let described = secret(
        "secrets",
        "bus",
        json!({"hostnames": "a, b", "hostname": "c", "port": "1", "cacert": ""}),
    );
    let rendered = managed("").among([described]).render(&[&Kafka]).unwrap();
    let brokers = rendered.config["kafka"]["brokers"].as_array().unwrap();
    let hosts: Vec<&Value> = brokers.iter().map(|broker| &broker["hostname"]).collect();
    assert_eq!(hosts, ["a", " b"]);
    assert_eq!(brokers[1].get("cacert"), None, "empty is none");
    let login = json!({"password": "", "saslMechanism": "PLAIN", "securityProtocol": "SASL_SSL", "username": ""});
    assert_eq!(brokers[1]["sasl"], login);
    let empty = secret(
        "secrets",
        "bus",
        json!({"hostnames": "", "hostname": "c", "port": "1"}),
    );
    let rendered = managed("").among([empty]).render(&[&Kafka]).unwrap();
    assert_eq!(rendered.config["kafka"]["brokers"][0]["hostname"], "");
}

#[test]
fn a_secret_that_is_missing_or_malformed_is_named() {
    let missing = managed("").render(&[&Kafka]).unwrap_err();
    assert_eq!(missing.to_string(), "Secret \"bus\" not found");
    let nothing = kafka(json!({"mode": "managed"}), json!([{"topicName": "orders"}]));
    let nothing = nothing.render(&[&Kafka]).unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "no secret ref defined for managed Kafka: "
    );
    assert_eq!(
        error(json!({"hostname": "b"})),
        "strconv.Atoi: parsing \"\": invalid syntax"
    );
    assert_eq!(
        error(json!({"hostname": "b", "port": "ninety"})),
        "strconv.Atoi: parsing a value: invalid syntax"
    );
    assert_eq!(
        error(json!({"hostname": "b", "port": "99999999999"})),
        "strconv.Atoi: parsing a value: value out of range"
    );
}

#[test]
fn an_app_without_topics_is_told_nothing() {
    let mut case = managed("");
    case.app["spec"]["kafkaTopics"] = json!([]);
    let rendered = case.render(&[&Kafka]).unwrap();
    assert_eq!(rendered.config.get("kafka"), None);
}
