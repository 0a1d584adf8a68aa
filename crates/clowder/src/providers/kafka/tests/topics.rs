use serde_json::json;

use super::*;
use crate::providers::fixture::other_app;

/// A cluster without users, so that topics are all that there is.
fn wanted(cluster: Value, topics: Value) -> Case {
    let mut settings = json!({"mode": "operator", "enableLegacyStrimzi": true});
    settings["cluster"] = cluster;
    let listeners = json!([{"name": "tcp", "addresses": [{"host": "h", "port": 9092}]}]);
    let status = json!({"listeners": listeners});
    kafka(settings, topics).among([reporting("Kafka", "stage-env", "stage", status)])
}

#[test]
fn a_topic_is_what_all_its_users_want() {
    let mine = json!([{"topicName": "orders", "partitions": 2, "replicas": 5,
        "config": {"cleanup.policy": "compact"}}, {"topicName": "carts"}]);
    let others = json!({"kafkaTopics": [{"topicName": "orders", "partitions": 7,
        "config": {"cleanup.policy": "delete, compact"}}]});
    let mut elsewhere = other_app(
        "far",
        "guest",
        json!({"kafkaTopics": [{"topicName": "orders", "partitions": 99}]}),
    );
    elsewhere["spec"]["envName"] = json!("production");
    let case = wanted(json!({"replicas": 3}), mine)
        .among([other_app("far", "billing", others), elsewhere]);
    let rendered = case.render(&[&Kafka]).unwrap();
    let topic = rendered.object("KafkaTopic", "orders");
    assert_eq!(
        *topic,
        json!({
            "apiVersion": "kafka.strimzi.io/v1beta2", "kind": "KafkaTopic",
            "metadata": {
                "name": "orders", "namespace": "stage-env",
                "labels": {"env": "stage", "strimzi.io/cluster": "stage"},
                "ownerReferences": [{
                    "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
                    "name": "stage", "uid": "environment-uid", "controller": true,
                }],
            },
            "spec": {"config": {"cleanup.policy": "compact,delete"}, "partitions": 7, "replicas": 3},
        })
    );
    let carts = &rendered.object("KafkaTopic", "carts")["spec"];
    assert_eq!(
        *carts,
        json!({"config": {}, "partitions": 3, "replicas": 3})
    );
    let told = json!([{"name": "orders", "requestedName": "orders"}, {"name": "carts", "requestedName": "carts"}]);
    assert_eq!(rendered.config["kafka"]["topics"], told);
}

#[test]
fn complex_names_tell_namespaces_apart_but_not_their_wishes() {
    let others = json!({"kafkaTopics": [{"topicName": "orders", "partitions": 7}]});
    let mut case = wanted(json!({}), json!([{"topicName": "orders"}]))
        .among([other_app("far", "billing", others)]);
    case.settings
        .config
        .features
        .use_complex_strimzi_topic_names = true;
    let rendered = case.render(&[&Kafka]).unwrap();
    let topic = rendered.object("KafkaTopic", "orders-stage-market");
    assert_eq!(topic["spec"]["partitions"], 7);
    let told = json!([{"name": "orders-stage-market", "requestedName": "orders"}]);
    assert_eq!(rendered.config["kafka"]["topics"], told);
}

#[test]
fn a_setting_that_nobody_can_merge_fails_every_user_of_the_topic() {
    let others = json!({"kafkaTopics": [{"topicName": "orders", "config": {"segment.ms": "5"}}]});
    let case = wanted(json!({}), json!([{"topicName": "orders"}]))
        .among([other_app("far", "billing", others)]);
    let failure = case.render(&[&Kafka]).unwrap_err();
    assert_eq!(failure.to_string(), "no conversion type for segment.ms: ");
}

#[test]
fn a_topic_that_is_listed_twice_is_made_and_then_refused() {
    let case = wanted(
        json!({}),
        json!([{"topicName": "same"}, {"topicName": "same"}]),
    );
    let failure = case.app_failure(&[&Kafka]);
    assert_eq!(
        failure.source.to_string(),
        "runapp: kafka: cannot create: ident store [kafka_topic] already has item named [stage-env/same]"
    );
    assert_eq!(early(&failure), ["KafkaTopic stage-env/same"]);
}
