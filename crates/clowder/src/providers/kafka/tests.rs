mod app_interface;
mod ephemeral;
mod managed;
mod operator;
mod topics;

use mainstay_engine::unit::UnitFailure;
use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case};

/// An environment with Kafka like this, and an app with these topics.
fn kafka(kafka: Value, topics: Value) -> Case {
    let (mut providers, mut app) = (json!({}), json!({}));
    providers["kafka"] = kafka;
    app["kafkaTopics"] = topics;
    case(providers, app)
}

/// An object of Strimzi that reports this.
fn reporting(kind: &str, namespace: &str, name: &str, status: Value) -> Value {
    let mut object = json!({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": kind,
        "metadata": {"namespace": namespace, "name": name}});
    object["status"] = status;
    object
}

/// Names of the objects that do not wait for the rest.
fn early(failure: &UnitFailure) -> Vec<String> {
    let early = failure.early.iter().flat_map(|early| early.iter());
    early.map(|entry| entry.key.to_string()).collect()
}

#[test]
fn nothing_is_made_where_nothing_is_wanted_and_unknown_modes_are_refused() {
    for mode in ["none", ""] {
        let case = kafka(json!({"mode": mode}), json!([{"topicName": "orders"}]));
        let rendered = case.render(&[&Kafka]).unwrap();
        assert!(rendered.names().is_empty());
        assert_eq!(rendered.config.get("kafka"), None);
        let environment = case.render_environment(&Kafka).unwrap();
        assert!(environment.names().is_empty());
    }
    let unknown = kafka(json!({"mode": "local"}), json!([]));
    let failure = unknown.render(&[&Kafka]).unwrap_err();
    assert!(matches!(failure, ProviderError::Setup(_)));
    assert_eq!(failure.to_string(), "No matching kafka mode for local: ");
    assert!(unknown.render_environment(&Kafka).is_err());
}

#[test]
fn a_failed_write_is_told_as_a_failure_of_the_provider_unless_it_is_written_at_the_end() {
    assert_eq!(write_context(&kinds::KAFKA_TOPIC), Some("kafka"));
    let connect = "kafka: failed to provision kafka connect cluster";
    assert_eq!(write_context(&kinds::KAFKA_CONNECT), Some(connect));
    let cluster = "kafka: failed to provision kafka cluster";
    assert_eq!(write_context(&kinds::KAFKA), Some(cluster));
    assert_eq!(write_context(&kinds::SECRET), None);
    assert_eq!(write_context(&kinds::CYNDI_PIPELINE), None);
}
