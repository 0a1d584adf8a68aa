//! Every kind that the original writes, taken over from it: nothing restarts, and a hash that only the original can make
//! stays until something changes that it stands for.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use mainstay_clowder::providers::confighash::hexadecimal_sha256;
use mainstay_testkit::{
    audit::{Entry, Mark},
    managed_fields::fields_of,
    namespace::object_when,
    wait::eventually,
};
use serde_json::{Value, json};

use super::{
    answers::{KAFKA, KAFKA_CONNECT, KAFKA_TOPIC, KAFKA_USER},
    stage::{
        AUTOSCALER, CERTIFICATE, CLAIM, CONFIG_MAP, CRON_JOB, DEPLOYMENT, INGRESS, ISSUER, JOB,
        PROMETHEUS, ROLE_BINDING, Resource, SCALED_OBJECT, SECRET, SERVICE, SERVICE_ACCOUNT,
        SERVICE_MONITOR, Stage, deployment, merge, resource,
    },
    takeover::{ORIGINAL, OURS, is_made_up, leave_behind},
};

const NETWORK_POLICY: Resource =
    resource("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");
const KINDS: [Resource; 20] = [
    DEPLOYMENT,
    SERVICE,
    SECRET,
    CONFIG_MAP,
    SERVICE_ACCOUNT,
    ROLE_BINDING,
    CRON_JOB,
    JOB,
    CLAIM,
    INGRESS,
    NETWORK_POLICY,
    AUTOSCALER,
    SERVICE_MONITOR,
    PROMETHEUS,
    SCALED_OBJECT,
    ISSUER,
    CERTIFICATE,
    KAFKA,
    KAFKA_CONNECT,
    KAFKA_TOPIC,
];
const APPS: [&str; 2] = ["shop", "stock"];

/// An environment that needs every kind.
fn environment() -> Value {
    json!({"providers": {
        "db": {"mode": "local", "pvc": true}, "inMemoryDb": {"mode": "redis"},
        "objectStore": {"mode": "minio", "pvc": true}, "featureFlags": {"mode": "local"},
        "kafka": {"mode": "operator", "cluster": {"name": "bus"}},
        "metrics": {"mode": "operator", "prometheus": {"deploy": true}},
        "autoScaler": {"mode": "enabled"},
        "web": {"mode": "local", "gatewayCert": {"enabled": true, "certMode": "self-signed"}},
    }})
}

fn app() -> Value {
    let (mut simple, mut keda) = (deployment("simple"), deployment("keda"));
    let bounds = json!({"replicas": {"min": 1, "max": 2}, "cpu": {"scaleAtUtilization": 80}});
    merge(
        &mut simple,
        &json!({"k8sAccessLevel": "view", "autoScalerSimple": bounds}),
    );
    let triggers = json!([{"type": "cpu", "metadata": {"type": "Utilization", "value": "50"}}]);
    keda["autoScaler"] = json!({"maxReplicaCount": 2, "triggers": triggers});
    let image = json!({"image": "registry.test/shop:1"});
    json!({
        "deployments": [simple, keda], "database": {"name": "goods"}, "inMemoryDb": true,
        "kafkaTopics": [{"topicName": "orders"}],
        "jobs": [{"name": "tidy", "schedule": "0 0 * * *", "podSpec": image}, {"name": "once", "podSpec": image}],
    })
}

/// Whether an object belongs to an app, an environment or an invocation; KEDA has objects of its own here.
fn is_ours(object: &DynamicObject) -> bool {
    let owners = object.metadata.owner_references.iter().flatten();
    owners
        .into_iter()
        .any(|owner| owner.kind.starts_with("Clowd"))
}

async fn owned(stage: &Stage) -> Vec<(Resource, DynamicObject)> {
    let mut found = Vec::new();
    for kind in KINDS.into_iter().chain([KAFKA_USER]) {
        let list = stage.api(kind).list(&ListParams::default()).await.unwrap();
        let owned = list.items.into_iter().filter(is_ours);
        found.extend(owned.map(|object| (kind, object)));
    }
    found
}

/// Everything that would restart a pod, move an address or lose a value if it changed.
async fn precious(stage: &Stage) -> Vec<(String, Value)> {
    let mut precious = Vec::new();
    for (kind, object) in owned(stage).await {
        let name = format!("{} {}", kind.kind, object.metadata.name.unwrap());
        let value = json!({
            "uid": object.metadata.uid, "generation": object.metadata.generation,
            "spec": object.data.get("spec"), "data": object.data.get("data"),
        });
        precious.push((name, value));
    }
    precious.sort_by(|one, other| one.0.cmp(&other.0));
    precious
}

/// Makes the original the writer of everything, object by object.
async fn hand_over(stage: &Stage) {
    for (kind, object) in owned(stage).await {
        let mut entries = object.metadata.managed_fields.clone().unwrap_or_default();
        for entry in &mut entries {
            if entry.manager.as_deref() == Some(OURS) && entry.subresource.is_none() {
                entry.manager = Some(ORIGINAL.to_owned());
                entry.operation = Some("Update".to_owned());
            }
        }
        let patch = Patch::Merge(json!({"metadata": {"managedFields": entries}}));
        let name = object.metadata.name.unwrap();
        let api = stage.api(kind);
        api.patch(&name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
}

/// Gives an app the hash that the original makes of what all apps use, and its workloads the hash of the document.
async fn hash_as_the_original(stage: &Stage, app: &str, second: &str) {
    let text = stage.secret(app).await["cdappconfig.json"].clone();
    let config: Value = serde_json::from_str(&text).unwrap();
    let before = config["hashCache"].as_str().unwrap();
    let document = text.replace(before, &format!("{}{second}", &before[..64]));
    let hash = hexadecimal_sha256(document.as_bytes());
    leave_behind(stage, SECRET, app, |secret| {
        secret["data"]["cdappconfig.json"] = json!(STANDARD.encode(&document));
    })
    .await;
    for name in ["simple", "keda"] {
        leave_behind(stage, DEPLOYMENT, &format!("{app}-{name}"), |deployment| {
            let template = &mut deployment["spec"]["template"];
            template["metadata"]["annotations"]["configHash"] = json!(hash);
        })
        .await;
    }
    leave_behind(stage, CRON_JOB, &format!("{app}-tidy"), |job| {
        let template = &mut job["spec"]["jobTemplate"]["spec"]["template"];
        template["metadata"]["annotations"]["configHash"] = json!(hash);
    })
    .await;
}

async fn built_by_the_original(stage: &Stage) {
    let mut operator = stage.operator(&[]).await;
    stage.create_environment(environment()).await;
    for name in APPS {
        stage.create_app(name, app()).await;
    }
    stage.environment_ready().await;
    for name in APPS {
        stage.app_ready(name).await;
    }
    stage.invoke("run", json!({"jobs": ["once"]})).await;
    stage.completed("run").await;
    operator.process.terminate().await;
    hand_over(stage).await;
    for (name, second) in APPS.into_iter().zip(["0a", "1b"]) {
        hash_as_the_original(stage, name, &second.repeat(32)).await;
        // Parity: the group of this owner is misspelt.
        leave_behind(stage, AUTOSCALER, &format!("{name}-simple-hpa"), |scaler| {
            scaler["metadata"]["ownerReferences"][0]["apiVersion"] =
                json!("clowd.redhat.com/v1alpha1");
        })
        .await;
    }
    for (kind, object) in owned(stage).await {
        if kind.kind == DEPLOYMENT.kind {
            let name = object.metadata.name.unwrap();
            object_when(&stage.api(kind), &name, "is observed", |deployment| {
                deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"]
            })
            .await;
        }
    }
}

#[tokio::test]
async fn every_kind_of_the_original_becomes_ours_without_a_restart() {
    let stage = Stage::alone("kinds").await;
    built_by_the_original(&stage).await;
    let before = precious(&stage).await;
    for kind in KINDS.into_iter().chain([KAFKA_USER]) {
        let start = format!("{} ", kind.kind);
        assert!(
            before.iter().any(|(name, _)| name.starts_with(&start)),
            "nothing to take over: {start}"
        );
    }

    let mark = Mark::now(stage.plane.audit_log());
    let mut operator = stage.operator(&[]).await;
    stage.environment_ready().await;
    for name in APPS {
        stage.app_ready(name).await;
    }
    eventually("everything is taken over", || async {
        let all = owned(&stage).await;
        let mut written = all
            .iter()
            .filter(|(kind, object)| kind.kind != JOB.kind && !is_made_up(*kind, object));
        written
            .all(|(_, object)| {
                fields_of(object, ORIGINAL, "Update").is_none()
                    && fields_of(object, OURS, "Apply").is_some()
            })
            .then_some(())
    })
    .await;
    mark.settled_about(&stage.environment).await;
    assert_eq!(precious(&stage).await, before);

    // A restart of ours does not forget what the hash stands for.
    operator.process.terminate().await;
    let mark = Mark::now(stage.plane.audit_log());
    let mut operator = stage.operator(&[]).await;
    let mut writes = mark.settled_about(&stage.environment).await;
    writes.retain(Entry::is_write);
    assert_eq!(writes, []);

    // The original comes back, and we after it.
    operator.process.terminate().await;
    hash_as_the_original(&stage, "shop", &"2c".repeat(32)).await;
    let before = precious(&stage).await;
    let mark = Mark::now(stage.plane.audit_log());
    let _operator = stage.operator(&[]).await;
    object_when(&stage.api(SECRET), "shop", "is ours again", |secret| {
        let object: DynamicObject = serde_json::from_value(secret.clone()).unwrap();
        // The same value, so that both own it.
        let ours = fields_of(&object, OURS, "Apply").unwrap_or_default();
        !ours["f:data"]["f:cdappconfig.json"].is_null()
    })
    .await;
    mark.settled_about(&stage.environment).await;
    assert_eq!(precious(&stage).await, before);

    // What it stands for changes for one of the apps.
    let login = format!("{}-shop", stage.environment);
    let patch = json!({"stringData": {"note": "changed"}});
    super::stage::patch_object(&stage.api(SECRET), &login, patch).await;
    let differs_from = |config: &Value, ends: &[&str]| {
        let hash = config["hashCache"].as_str().unwrap();
        ends.iter().all(|end| !hash.ends_with(end))
    };
    let theirs = "2c".repeat(32);
    let changed = stage
        .config_when("shop", "has a hash of our own", |config| {
            differs_from(config, &[&theirs])
        })
        .await;
    let other = stage.config("stock").await;
    assert!(!differs_from(&other, &["1b1b"]));
    // And changes back: the annotation that is still there says nothing about our own hash.
    let patch = json!({"data": {"note": null}});
    super::stage::patch_object(&stage.api(SECRET), &login, patch).await;
    let changed = changed["hashCache"].as_str().unwrap();
    stage
        .config_when("shop", "has a hash of our own again", |config| {
            differs_from(config, &[&theirs, changed])
        })
        .await;
}
