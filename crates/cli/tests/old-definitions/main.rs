//! Other operators' definitions that are older than what we write: `cargo xtask test --old-definitions`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;

use mainstay_control_plane::definitions::{self, Edition};
use mainstay_testkit::{
    audit::Entry,
    plane::{OwnPlane, install_definitions},
};
use serde_json::{Value, json};
use shared::clowder::{
    answers::{CYNDI_PIPELINE, KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER},
    stage::{
        CERTIFICATE, ISSUER, PROMETHEUS, Resource, SCALED_OBJECT, SERVICE_MONITOR, Stage, merge,
        resource, web_app,
    },
};

const SUBSCRIPTION: Resource = resource(
    "operators.coreos.com/v1alpha1",
    "Subscription",
    "subscriptions",
);

/// Every kind of another operator that is written here.
const FOREIGN: [Resource; 11] = [
    CERTIFICATE,
    CYNDI_PIPELINE,
    ISSUER,
    KAFKA,
    KAFKA_CONNECT,
    KAFKA_TOPIC,
    KAFKA_USER,
    PROMETHEUS,
    SCALED_OBJECT,
    SERVICE_MONITOR,
    SUBSCRIPTION,
];

/// An environment that makes use of all other operators.
fn environment() -> Value {
    json!({"providers": {
        "autoScaler": {"mode": "keda"},
        "db": {"mode": "local"},
        "kafka": {"mode": "operator"},
        "metrics": {"mode": "operator", "prometheus": {"deploy": true}},
        "web": {
            "mode": "local", "port": 8000,
            "gatewayCert": {"enabled": true, "certMode": "self-signed"},
        },
    }})
}

/// An app that asks them for all they can do.
fn app() -> Value {
    let mut app = web_app();
    app["kafkaTopics"] = json!([{"topicName": "orders", "config": {"retention.ms": "1000"}}]);
    app["database"] = json!({"name": "goods"});
    app["cyndi"] =
        json!({"enabled": true, "additionalFilters": [{"name": "tags", "where": "true"}]});
    let policy = json!({"type": "Pods", "value": 1, "periodSeconds": 60});
    let scaler = json!({
        "minReplicaCount": 1, "maxReplicaCount": 2, "pollingInterval": 5, "cooldownPeriod": 5,
        "fallback": {"failureThreshold": 3, "replicas": 1, "behavior": "currentReplicas"},
        "advanced": {
            "restoreToOriginalReplicaCount": true,
            "horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"policies": [policy]}}},
        },
        "triggers": [{
            "type": "cron", "name": "day", "useCachedMetrics": true, "metricType": "AverageValue",
            "metadata": {"timezone": "UTC"},
        }],
    });
    merge(&mut app["deployments"][0], &json!({"autoScaler": scaler}));
    app
}

fn names_no_event(entry: &Entry) -> bool {
    entry.is_write() && entry.resource != "events"
}

/// Apps become ready on these definitions, what was left out is told, and a restart finds nothing to write.
async fn apps_become_ready(edition: Edition, name: &str, left_out: &[String]) {
    let crds = definitions::clowder(edition).unwrap();
    let plane = OwnPlane::with_crds(&format!("tests-definitions-{name}"), &crds);
    install_definitions(&plane.client().await).await;
    let stage = Stage::own(&plane, name).await;
    let mut operator = stage.operator(&[]).await;
    stage.create_environment(environment()).await;
    let mut inventory = web_app();
    inventory["database"] = json!({"name": "inventory"});
    stage.create_app("host-inventory", inventory).await;
    stage.create_app("shop", app()).await;
    stage.app_ready("host-inventory").await;
    stage.app_ready("shop").await;
    stage.environment_lists(2).await;
    for kind in FOREIGN {
        assert_ne!(stage.names(kind).await, [""; 0], "{kind:?}");
    }

    for text in left_out {
        stage.event(&stage.namespace.name, "shop", text).await;
    }
    let mut told = stage.events(&stage.namespace.name, "shop").await;
    told.retain(|text| text.contains("FieldsLeftOut"));
    assert_eq!(told, left_out);

    let about = stage.environment.as_str();
    let mark = stage.at_rest().await;
    operator.process.terminate().await;
    drop(operator);
    let _operator = stage.operator(&[]).await;
    let mut sent = mark.settled_about(about).await;
    sent.retain(names_no_event);
    assert_eq!(sent, [], "a restart");
}

/// The event about a field of a kind.
fn left_out(kind: Resource, field: &str) -> String {
    format!(
        "Warning FieldsLeftOut: The installed definition of {} ({}) does not declare {field}, so it was left out; \
         install a newer definition to have it written",
        kind.kind, kind.api_version,
    )
}

#[tokio::test]
async fn definitions_one_minor_version_older_take_everything() {
    apps_become_ready(Edition::Older, "older", &[]).await;
}

#[tokio::test]
async fn definitions_two_minor_versions_older_take_all_but_what_is_told() {
    let filters = left_out(CYNDI_PIPELINE, "spec.additionalFilters");
    apps_become_ready(Edition::Oldest, "oldest", &[filters]).await;
}

#[tokio::test]
async fn outdated_definitions_of_several_operators_cost_a_field_each_and_no_app() {
    let filters = left_out(CYNDI_PIPELINE, "spec.additionalFilters");
    let behavior = left_out(SCALED_OBJECT, "spec.fallback.behavior");
    apps_become_ready(Edition::Outdated, "outdated", &[filters, behavior]).await;
}
