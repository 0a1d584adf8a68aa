//! Silence, and whose fields are whose.

use kube::api::{Patch, PatchParams};
use mainstay_testkit::{
    audit::{Entry, Mark},
    namespace::object_when,
};
use serde_json::{Value, json};

use super::{
    stage::{
        CONFIG_MAP, DEPLOYMENT, SECRET, SERVICE, Stage, container, create, patch_object, web_app,
    },
    workloads::components::COMPONENTS,
};

#[tokio::test]
async fn what_is_done_costs_no_request_and_a_restart_no_write() {
    COMPONENTS.is_quiet_when_done().await;
}

#[tokio::test]
async fn apps_that_come_at_once_do_not_race_for_what_they_share() {
    let stage = Stage::alone("burst").await;
    stage.create_environment(json!({})).await;
    let names = (0..12).map(|number| format!("shop-{number}"));
    let names: Vec<String> = names.collect();
    for name in &names {
        stage.create_app(name, web_app()).await;
    }
    let mark = Mark::now(stage.plane.audit_log());
    let _operator = stage.operator(&[]).await;
    for name in &names {
        stage.app_done(name).await;
    }
    // Their ServiceAccount is in the namespace of the environment and has one owner, the environment.
    let all = mark.settled_about(&stage.environment).await;
    let accounts = all
        .iter()
        .filter(|entry| entry.resource == "serviceaccounts" && entry.name.starts_with("iqe-"));
    let answers: Vec<(&str, i64)> = accounts
        .map(|entry| (entry.verb.as_str(), entry.code))
        .collect();
    assert_eq!(answers, [("patch", 201)], "written once, never asked for");
}

#[tokio::test]
async fn fields_of_others_stay_and_ours_return() {
    let stage = Stage::shared("fields").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let (deployments, services) = (stage.api(DEPLOYMENT), stage.api(SERVICE));
    let foreign = json!({"metadata": {
        "labels": {"team": "blue"}, "annotations": {"note": "theirs"},
    }});
    patch_object(&deployments, "shop-web", foreign.clone()).await;
    patch_object(&services, "shop-web", foreign).await;
    let broken = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "other:1"}]);
    let broken: Patch<Value> = Patch::Json(serde_json::from_value(broken).unwrap());
    let params = PatchParams::default();
    deployments
        .patch("shop-web", &params, &broken)
        .await
        .unwrap();
    let selector = json!({"spec": {"selector": {"pod": "somebody-else"}}});
    patch_object(&services, "shop-web", selector).await;
    let deployment = object_when(&deployments, "shop-web", "has our image", |deployment| {
        container(deployment)["image"] == "registry.test/shop:1"
    })
    .await;
    let service = object_when(&services, "shop-web", "has our selector", |service| {
        service["spec"]["selector"]["pod"] == "shop-web"
    })
    .await;
    for object in [&deployment, &service] {
        assert_eq!(object["metadata"]["labels"]["team"], "blue");
        assert_eq!(object["metadata"]["annotations"]["note"], "theirs");
    }
}

#[tokio::test]
async fn an_annotation_that_was_copied_once_stays() {
    let stage = Stage::shared("sticky").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let note = |value: Value| json!({"metadata": {"annotations": {"shop.test/note": value}}});
    stage.patch_app("shop", note(json!("first"))).await;
    let deployments = stage.api(DEPLOYMENT);
    let has = |value: &'static str| {
        move |deployment: &Value| deployment["metadata"]["annotations"]["shop.test/note"] == value
    };
    object_when(&deployments, "shop-web", "has the note", has("first")).await;
    // Parity: taken from the app, it stays on what was made of it.
    stage.patch_app("shop", note(Value::Null)).await;
    let image =
        json!([{"name": "web", "replicas": 0, "podSpec": {"image": "registry.test/shop:2"}}]);
    stage
        .patch_app("shop", json!({"spec": {"deployments": image}}))
        .await;
    let deployment = object_when(&deployments, "shop-web", "has the image", |deployment| {
        container(deployment)["image"] == "registry.test/shop:2"
    })
    .await;
    assert!(has("first")(&deployment), "{}", deployment["metadata"]);
}

fn config_hash(deployment: &Value) -> Value {
    deployment["spec"]["template"]["metadata"]["annotations"]["configHash"].clone()
}

#[tokio::test]
async fn a_change_of_a_tracked_secret_or_config_map_restarts_the_pods() {
    let stage = Stage::shared("tracked").await;
    stage.ready_environment(json!({})).await;
    let recycle = json!({"qontract.recycle": "true"});
    stage
        .put_secret("keys", recycle.clone(), json!({"key": "one"}))
        .await;
    stage
        .put_secret("other", json!({}), json!({"key": "one"}))
        .await;
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "colours", "annotations": recycle}, "data": {"sky": "blue"},
    });
    create(&stage.api(CONFIG_MAP), config_map).await;
    let mut app = web_app();
    let variable = |name: &str, secret: &str| json!({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": "key"}}});
    let volume = json!({"name": "colours", "configMap": {"name": "colours"}});
    let pod = json!({
        "image": "registry.test/shop:1",
        "env": [variable("KEY", "keys"), variable("OTHER", "other")],
        "volumes": [volume],
    });
    app["deployments"][0]["podSpec"] = pod;
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    let first = config_hash(&stage.get(DEPLOYMENT, "shop-web").await);
    assert!(first.is_string());

    // Not tracked: it has no annotation.
    stage
        .put_secret("other", json!({}), json!({"key": "two"}))
        .await;
    stage
        .put_secret("keys", recycle, json!({"key": "two"}))
        .await;
    let deployments = stage.api(DEPLOYMENT);
    let second = object_when(&deployments, "shop-web", "has a new hash", |deployment| {
        config_hash(deployment) != first
    })
    .await;
    let second = config_hash(&second);
    let sky = json!({"data": {"sky": "grey"}});
    patch_object(&stage.api(CONFIG_MAP), "colours", sky).await;
    object_when(&deployments, "shop-web", "has a third hash", |deployment| {
        config_hash(deployment) != second
    })
    .await;
}

#[tokio::test]
async fn creation_writes_each_object_once() {
    let stage = Stage::alone("cost").await;
    let _operator = stage.operator(&[]).await;
    stage.ready_environment(json!({})).await;
    Mark::now(stage.plane.audit_log())
        .settled_about(&stage.environment)
        .await;
    let mark = Mark::now(stage.plane.audit_log());
    stage.create_app("shop", web_app()).await;
    stage.app_ready("shop").await;
    let sent = mark.settled(&stage.namespace.name).await;
    let reads: Vec<&Entry> = sent.iter().filter(|entry| !entry.is_write()).collect();
    assert!(reads.len() <= 1, "{reads:?}");
    let mut written = mark.carried_out(&stage.namespace.name);
    written.retain(|word| !word.contains("events"));
    let before = written.len();
    written.dedup();
    let status = written.iter().filter(|word| word.contains("/status"));
    assert_eq!(status.count(), 1, "{written:?}");
    assert!(before <= written.len() + 1, "{written:?}");
    assert!(
        written.contains(&"patch secrets shop".to_owned()),
        "{written:?}"
    );
    stage.get(SECRET, "shop").await;
}
