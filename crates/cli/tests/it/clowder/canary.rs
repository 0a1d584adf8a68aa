//! Secrets are nowhere in sight: not in the log at its most talkative, not in events, conditions or metrics.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::ListParams};
use mainstay_testkit::{
    operator::{free_port, http_get_text},
    plane::dynamic,
};
use serde_json::{Value, json};

use super::{
    generated::stored_app,
    stage::{Stage, merge},
};

/// A text that can only come from a Secret of this test.
const CANARY: &str = "cAnArY0f7h15T35t";

/// Keys whose values anybody may know.
const OPEN_KEYS: [&str; 14] = [
    "bopurl",
    "db.host",
    "db.name",
    "db.port",
    "defaultUsername",
    "hostname",
    "keycloakurl",
    "name",
    "port",
    "sslmode",
    "version",
    "whitelist",
    "db.endpoint",
    "ca.crt",
];

/// Every value of a Secret in the namespace that is not open, plain and as the API shows it.
async fn secrets(stage: &Stage) -> BTreeSet<String> {
    let api: Api<Secret> = Api::namespaced(stage.namespace.client.clone(), &stage.namespace.name);
    let mut values: BTreeSet<String> = [CANARY.to_owned()].into();
    for secret in api.list(&ListParams::default()).await.unwrap() {
        for (key, value) in secret.data.unwrap_or_default() {
            if !OPEN_KEYS.contains(&key.as_str()) {
                values.insert(STANDARD.encode(&value.0));
                values.insert(String::from_utf8(value.0).unwrap());
            }
        }
    }
    values.retain(|value| value.len() >= 8);
    values
}

/// Everything that anybody can read who may not read Secrets: events, and roots with their conditions.
async fn told(stage: &Stage) -> Value {
    let client = &stage.namespace.client;
    let all = ListParams::default();
    let mut told = Vec::new();
    for namespace in [stage.namespace.name.as_str(), "default"] {
        let events = dynamic(client, namespace, "v1", "Event", "events");
        told.extend(events.list(&all).await.unwrap().items);
    }
    told.extend(stage.apps().list(&all).await.unwrap().items);
    told.extend(stage.environments().list(&all).await.unwrap().items);
    json!(told)
}

#[tokio::test]
async fn no_secret_is_seen_in_logs_events_conditions_or_metrics() {
    let stage = Stage::alone("canary").await;
    let here = stage.namespace.name.clone();
    let login = json!({
        "hostname": "bus.test", "port": CANARY, "username": CANARY, "password": CANARY,
    });
    stage.put_secret("bus", json!({}), login).await;
    let keys = json!({
        "aws_access_key_id": CANARY, "aws_secret_access_key": CANARY,
        "aws_region": "r", "log_group_name": "g",
    });
    stage.put_secret("cloudwatch", json!({}), keys).await;
    stage
        .put_secret("pull", json!({}), json!({"token": CANARY}))
        .await;
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--zap-log-level", "10", "--metrics-bind-address", &address];
    let mut operator = stage.operator(&arguments).await;
    let mut changes = json!({"providers": {
        "db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"},
        "objectStore": {"mode": "minio"}, "featureFlags": {"mode": "local"},
        "logging": {"mode": "app-interface"},
        "kafka": {"mode": "managed", "managedSecretRef": {"name": "bus", "namespace": here}},
        "pullSecrets": [{"name": "pull", "namespace": here}],
    }});
    merge(
        &mut changes,
        &json!({"providers": {"web": {"mode": "local"}}}),
    );
    stage.ready_environment(changes).await;
    let mut app = stored_app();
    app["kafkaTopics"] = json!([{"topicName": "orders"}]);
    stage.create_app("shop", app).await;
    stage.app_failed("shop", "strconv.Atoi").await;
    // The same with a port that is one, and a store that cannot be reached.
    stage
        .put_secret("bus", json!({}), json!({"port": "9092"}))
        .await;
    stage.app_ready("shop").await;
    let store = json!({"spec": {"objectStore": ["photos"]}});
    stage.patch_app("shop", store).await;
    stage.app_failed("shop", "failed to check if bucket").await;

    let metrics = http_get_text(&address, "/metrics").await.unwrap();
    let told = told(&stage).await.to_string();
    operator.process.terminate().await;
    let log = operator.process.log();
    assert!(log.contains("\"level\":\"debug\""), "talkative: {log}");
    let secrets = secrets(&stage).await;
    assert!(secrets.len() > 20, "{}", secrets.len());
    for secret in secrets {
        let count = |text: &str| text.matches(&secret).count();
        assert_eq!(
            (count(&log), count(&told), count(&metrics)),
            (0, 0, 0),
            "{secret}"
        );
    }
}
