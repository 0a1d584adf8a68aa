//! Secrets are nowhere in sight: not in the log at its most talkative, not in events, conditions or metrics.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::ListParams};
use mainstay_testkit::{
    operator::{free_port, http_get_text},
    plane::dynamic,
    servers::serve_text,
};
use serde_json::{Value, json};

use super::stage::{RunningOperator, Stage, merge, stored_app};

/// A text that can only come from a Secret of this test.
const CANARY: &str = "cAnArY0f7h15T35t";

/// What everybody may know.
const BUNDLE: &str = "-----BEGIN CERTIFICATE-----\nnot really\n-----END CERTIFICATE-----\n";

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
    let operator = stage.operator(&arguments).await;
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

    unseen(&stage, operator, &address, 20).await;
}

#[tokio::test]
async fn no_secret_of_what_others_provide_is_seen() {
    let stage = Stage::alone("canary-managed").await;
    let here = stage.namespace.name.clone();
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--zap-log-level", "10", "--metrics-bind-address", &address];
    let operator = stage.operator(&arguments).await;
    let keys = json!({"aws_access_key_id": CANARY, "aws_secret_access_key": CANARY,
        "aws_region": "r", "log_group_name": "g"});
    stage.put_secret("cloudwatch", json!({}), keys).await;
    let flags = json!({"CLIENT_ACCESS_TOKEN": CANARY});
    stage.put_secret("flags", json!({}), flags).await;
    stage
        .ready_environment(json!({"providers": {
            "db": {"mode": "app-interface", "caBundleURL": serve_text(BUNDLE).await},
            "inMemoryDb": {"mode": "elasticache"},
            "objectStore": {"mode": "app-interface"},
            "logging": {"mode": "app-interface"},
            "featureFlags": {"mode": "app-interface", "hostname": "flags.test", "port": 443,
                "credentialRef": {"name": "flags", "namespace": here}},
        }}))
        .await;
    let database = json!({"db.host": "goods.test", "db.port": "5432", "db.user": CANARY,
        "db.password": CANARY, "db.name": "goods"});
    let annotation = json!({"clowder/database": "shop"});
    stage.put_secret("database", annotation, database).await;
    let cache = json!({"db.endpoint": "cache.test", "db.port": CANARY, "db.auth_token": CANARY});
    stage.put_secret("in-memory-db", json!({}), cache).await;
    let bucket = json!({"bucket": "photos", "endpoint": "store.test", "aws_region": "r",
        "aws_access_key_id": CANARY, "aws_secret_access_key": CANARY});
    stage.put_secret("bucket", json!({}), bucket).await;
    let mut app = stored_app();
    app["objectStore"] = json!(["photos"]);
    app["featureFlags"] = json!(true);
    stage.create_app("shop", app).await;
    // A port that is none is told of, and not what stands there instead.
    stage.app_failed("shop", "inmemorydb").await;
    stage
        .put_secret("in-memory-db", json!({}), json!({"db.port": "6380"}))
        .await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await.to_string();
    assert!(config.matches(CANARY).count() >= 4, "it gets what it needs");
    unseen(&stage, operator, &address, 0).await;
}

#[tokio::test]
async fn no_secret_of_kafka_or_cyndi_is_seen() {
    let stage = Stage::alone("canary-kafka").await;
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--zap-log-level", "10", "--metrics-bind-address", &address];
    let operator = stage.operator(&arguments).await;
    stage
        .ready_environment(
            json!({"providers": {"kafka": {"mode": "operator"}, "db": {"mode": "local"}}}),
        )
        .await;
    let mut app = stored_app();
    app["kafkaTopics"] = json!([{"topicName": "orders"}]);
    app["cyndi"] = json!({"enabled": true});
    stage.create_app("shop", app).await;
    stage.app_failed("shop", "host-inventory").await;
    stage.create_app("host-inventory", stored_app()).await;
    stage.app_done("host-inventory").await;
    stage.app_done("shop").await;
    unseen(&stage, operator, &address, 8).await;
}

/// Ends an operator, and looks for every Secret of the namespace in all that it said.
async fn unseen(stage: &Stage, mut operator: RunningOperator, address: &str, least: usize) {
    let metrics = http_get_text(address, "/metrics").await.unwrap();
    let told = told(stage).await.to_string();
    operator.process.terminate().await;
    let log = operator.process.log();
    assert!(log.contains("\"level\":\"debug\""), "talkative: {log}");
    let secrets = secrets(stage).await;
    assert!(secrets.len() > least, "{}", secrets.len());
    for secret in secrets {
        let count = |text: &str| text.matches(&secret).count();
        assert_eq!(
            (count(&log), count(&told), count(&metrics)),
            (0, 0, 0),
            "{secret}"
        );
    }
}
