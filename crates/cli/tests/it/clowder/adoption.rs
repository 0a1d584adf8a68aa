//! Objects that no controller has in the place of ours: a claim from a backup, an account that somebody made before.

use serde_json::{Value, json};

use super::stage::{
    CLAIM, DEPLOYMENT, Resource, RunningOperator, SERVICE, SERVICE_ACCOUNT, Stage, create, merge,
    web_app,
};

/// What lies there before the app comes.
fn prepared() -> [(Resource, Value); 3] {
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "shop-db", "annotations": {"backup.test/of": "yesterday"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "restored",
            "resources": {"requests": {"storage": "1Gi"}}},
    });
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "shop-app", "annotations": {"cloud.test/role": "shop"}},
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop-web"},
        "spec": {"ports": [{"port": 1234}], "selector": {"app": "another"}},
    });
    [
        (CLAIM, claim),
        (SERVICE_ACCOUNT, account),
        (SERVICE, service),
    ]
}

/// A stage where all of that lies, with an operator that is told this about it.
async fn stage(prefix: &str, unowned: Value) -> (Stage, RunningOperator) {
    let stage = Stage::alone(prefix).await;
    for (kind, object) in prepared() {
        create(&stage.api(kind), object).await;
    }
    let config = json!({
        "features": {"disableWebhooks": true}, "settings": {"unownedObjects": unowned},
    });
    let kubeconfig = stage.plane.kubeconfig();
    let mut operator = RunningOperator::with_config(&kubeconfig, &config, &[]);
    operator.process.ready().await;
    let providers = json!({"db": {"mode": "local", "pvc": true}});
    stage
        .ready_environment(json!({"providers": providers}))
        .await;
    let mut app = web_app();
    app["database"] = json!({"name": "goods"});
    stage.create_app("shop", app).await;
    (stage, operator)
}

#[tokio::test]
async fn what_no_controller_has_is_taken_over_where_its_kind_is_told_so() {
    let unowned = json!({
        "PersistentVolumeClaim": "adopt-unowned", "ServiceAccount": "adopt-unowned",
    });
    let (stage, _operator) = stage("adopting", unowned).await;
    let text = stage.app_failed("shop", "Service").await;
    assert!(text.contains("shop-web"), "the one kind that stays: {text}");
    stage.get(DEPLOYMENT, "shop-db").await;
    for (kind, before) in prepared() {
        let name = before["metadata"]["name"].as_str().unwrap();
        let after = stage.get(kind, name).await;
        let owned = !after["metadata"]["ownerReferences"].is_null();
        assert_eq!(owned, kind.kind != "Service", "{name}");
        let mut merged = after.clone();
        merge(&mut merged["metadata"], &before["metadata"]);
        assert_eq!(merged, after, "what others said of {name} stays");
    }
    let claim = stage.get(CLAIM, "shop-db").await;
    assert_eq!(claim["spec"]["volumeName"], "restored");
    let params = kube::api::DeleteParams::default();
    let services = stage.api(SERVICE);
    services.delete("shop-web", &params).await.unwrap();
    stage.app_done("shop").await;
}

#[tokio::test]
async fn what_no_controller_has_is_left_alone_unless_its_kind_is_told_otherwise() {
    let unowned = json!({"PersistentVolumeClaim": "refuse"});
    let (stage, _operator) = stage("refusing", unowned).await;
    let others = "was not created by this operator";
    stage.app_failed("shop", others).await;
    for (kind, before) in prepared() {
        let name = before["metadata"]["name"].as_str().unwrap();
        let after = stage.get(kind, name).await;
        assert!(after["metadata"]["ownerReferences"].is_null(), "{name}");
    }
}
