//! Courses of events: what waits for what, and what ends it.

use kube::{
    Api,
    api::{DeleteParams, DynamicObject},
};
use mainstay_testkit::{namespace::object_when, plane::dynamic};
use serde_json::{Value, json};

use super::stage::{DEPLOYMENT, Resource, Stage, create, failure, merge, resource, web_app};

pub(super) const APP_FINALIZER: &str = "finalizer.app.cloud.redhat.com";
const ENVIRONMENT_FINALIZER: &str = "finalizer.env.cloud.redhat.com";

pub(super) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    object["metadata"]["finalizers"] == json!([finalizer])
}

/// Namespaces of the cluster.
pub(super) fn namespaces(stage: &Stage) -> Api<DynamicObject> {
    dynamic(&stage.namespace.client, "", "v1", "Namespace", "namespaces")
}

/// Types, states, reasons and texts of all conditions, in order.
pub(super) fn conditions(object: &Value) -> Value {
    let conditions = object["status"]["conditions"].as_array().unwrap().iter();
    let rows = conditions.map(|condition| {
        let text = |field: &str| condition[field].as_str().unwrap();
        json!([
            text("type"),
            text("status"),
            text("reason"),
            text("message")
        ])
    });
    rows.collect()
}

#[tokio::test]
async fn an_environment_without_components_is_ready_in_one_pass() {
    let stage = Stage::shared("bare").await;
    let environment = stage.ready_environment(json!({})).await;
    assert!(has_finalizer(&environment, ENVIRONMENT_FINALIZER));
    let status = &environment["status"];
    assert_eq!(status["targetNamespace"], stage.namespace.name);
    assert_eq!(
        status["deployments"],
        json!({
            "managedDeployments": 0, "readyDeployments": 0, "managedTopics": 0, "readyTopics": 0,
        })
    );
    assert_eq!(
        conditions(&environment),
        json!([
            [
                "DeploymentsReady",
                "True",
                "DeploymentsReady",
                "All managed deployments ready"
            ],
            [
                "ReconciliationFailed",
                "False",
                "ReconciliationNotComplete",
                ""
            ],
            [
                "ReconciliationSuccessful",
                "True",
                "ReconciliationSucceeded",
                ""
            ],
        ])
    );
    let name = &stage.environment;
    let text = format!("Normal SuccessfulReconciliation: Environment reconciled [{name}]");
    stage.event("default", name, &text).await;
}

const POD: Resource = resource("v1", "Pod", "pods");

#[tokio::test]
async fn an_environment_waits_for_its_components_and_apps_wait_for_it() {
    let stage = Stage::shared("waiting").await;
    stage.namespace.forbid_pods().await;
    stage
        .create_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "clowd env not").await;
    let name = &stage.environment;
    let minio = format!("{name}-minio");
    let environment = stage
        .environment_when("counts its component", |environment| {
            environment["status"]["deployments"]["managedDeployments"] == 1
        })
        .await;
    assert!(environment["status"]["ready"].is_null());
    let broken = format!(
        "Deployments are not yet ready: dependency failure: [broken deployments: [{minio}/{name}]]"
    );
    assert_eq!(conditions(&environment)[0][3], broken);
    assert_eq!(conditions(&environment)[2][1], "True");
    let text = if text.ends_with("reconciled") {
        stage.app_failed("shop", "clowd env not ready").await
    } else {
        text
    };
    assert_eq!(text, "clowd env not ready");
    let event = format!("Warning ClowdEnvNotReady: Clowder Environment [{name}] is not ready");
    stage.event(name, "shop", &event).await;
    assert_eq!(stage.names(DEPLOYMENT).await, [minio]);

    stage.namespace.allow_pods().await;
    stage.environment_ready().await;
    stage.app_done("shop").await;

    // The component breaks later: what the app has stays, what it asks for waits.
    stage.namespace.forbid_pods().await;
    for pod in stage.names(POD).await {
        let params = DeleteParams::default().grace_period(0);
        stage.api(POD).delete(&pod, &params).await.unwrap();
    }
    stage
        .environment_when("is no longer ready", |environment| {
            environment["status"]["ready"].is_null()
        })
        .await;
    let label = json!({"metadata": {"labels": {"round": "two"}}});
    stage.patch_app("shop", label).await;
    stage.app_failed("shop", "clowd env not ready").await;
    stage.namespace.allow_pods().await;
    stage.app_done("shop").await;
    object_when(
        &stage.api(DEPLOYMENT),
        "shop-web",
        "has the label",
        |deployment| deployment["metadata"]["labels"]["round"] == "two",
    )
    .await;
}

#[tokio::test]
async fn an_environment_whose_namespace_is_missing_says_so_and_recovers() {
    let stage = Stage::shared("lost").await;
    let later = format!("{}-later", stage.namespace.name);
    stage
        .create_environment(json!({"targetNamespace": later}))
        .await;
    let environment = stage
        .environment_when("misses its namespace", |environment| {
            failure(environment).is_some()
        })
        .await;
    let text = format!("Namespace \"{later}\" not found");
    assert_eq!(
        conditions(&environment),
        json!([
            ["DeploymentsReady", "True", "DeploymentsReady", text],
            ["ReconciliationFailed", "True", "ReconciliationFailed", text],
            [
                "ReconciliationSuccessful",
                "False",
                "ReconciliationNotComplete",
                ""
            ],
        ])
    );
    let status = &environment["status"];
    assert_eq!(status["ready"], true);
    assert!(status["generation"].is_null() && status["targetNamespace"].is_null());
    let event =
        format!("Warning NamespaceMissing: Requested Target Namespace [{later}] is missing");
    stage.event("default", &stage.environment, &event).await;
    // Not earlier: whoever hears of the app first misses the environment, and says so.
    stage.create_app("shop", web_app()).await;
    let app = stage
        .app_when("shop", "has its finalizer", |app| {
            has_finalizer(app, APP_FINALIZER)
        })
        .await;
    assert!(app["status"].is_null(), "{}", app["status"]);

    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}});
    create(&namespaces(&stage), namespace).await;
    let environment = stage.environment_ready().await;
    assert_eq!(environment["status"]["targetNamespace"], later);
    stage.app_done("shop").await;
}

#[tokio::test]
async fn an_app_that_came_before_its_environment_goes_on_when_it_appears() {
    let stage = Stage::shared("before").await;
    stage.create_app("shop", web_app()).await;
    let name = &stage.environment;
    let event = format!("Warning ClowdEnvMissing: Clowder Environment [{name}] is missing");
    stage.event(&stage.namespace.name, "shop", &event).await;
    let text = format!("ClowdEnvironment.cloud.redhat.com \"{name}\" not found");
    assert_eq!(stage.app_failed("shop", "not found").await, text);
    assert!(stage.names(DEPLOYMENT).await.is_empty());
    stage.ready_environment(json!({})).await;
    let app = stage.app_ready("shop").await;
    assert_eq!(
        app["status"]["deployments"],
        json!({"managedDeployments": 1, "readyDeployments": 1})
    );
    let event = "Normal SuccessfulReconciliation: Clowdapp reconciled [shop]";
    stage.event(&stage.namespace.name, "shop", event).await;
    let environment = stage
        .environment_when("lists the app", |environment| {
            environment["status"]["apps"].is_array()
        })
        .await;
    let host = format!("shop-web.{}.svc", stage.namespace.name);
    assert_eq!(
        environment["status"]["apps"],
        json!([{"name": "shop", "deployments": [{"name": "shop-web", "hostname": host, "port": 8000}]}])
    );
}

#[tokio::test]
async fn a_disabled_app_keeps_what_it_has_and_gets_nothing() {
    let stage = Stage::shared("disabled").await;
    stage.ready_environment(json!({})).await;
    let mut app = web_app();
    merge(&mut app, &json!({"disabled": true}));
    stage.create_app("shop", app).await;
    let app = stage
        .app_when("shop", "has its finalizer", |app| {
            has_finalizer(app, APP_FINALIZER)
        })
        .await;
    assert!(app["status"].is_null());
    stage.create_app("witness", web_app()).await;
    stage.app_done("witness").await;
    assert_eq!(stage.names(DEPLOYMENT).await, ["witness-web"]);

    stage
        .patch_app("shop", json!({"spec": {"disabled": false}}))
        .await;
    // That it is ready is the last that there is to say.
    let before = stage.app_ready("shop").await;
    let image = json!([{"name": "web", "podSpec": {"image": "registry.test/shop:2"}}]);
    stage
        .patch_app(
            "shop",
            json!({"spec": {"disabled": true, "deployments": image}}),
        )
        .await;
    stage
        .patch_app("witness", json!({"metadata": {"labels": {"round": "two"}}}))
        .await;
    object_when(
        &stage.api(DEPLOYMENT),
        "witness-web",
        "has the label",
        |deployment| deployment["metadata"]["labels"]["round"] == "two",
    )
    .await;
    let after = stage.app_when("shop", "is there", |_| true).await;
    assert_eq!(after["status"], before["status"]);
    let deployment = stage.get(DEPLOYMENT, "shop-web").await;
    assert_eq!(
        super::stage::container(&deployment)["image"],
        "registry.test/shop:1"
    );
    stage
        .patch_app("shop", json!({"spec": {"disabled": false}}))
        .await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn apps_of_an_environment_that_was_disabled_wait_until_it_is_enabled() {
    let stage = Stage::shared("paused").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("idle", json!({"deployments": []})).await;
    stage.app_ready("idle").await;
    stage
        .patch_environment(json!({"spec": {"disabled": true}}))
        .await;
    // Apps and environments are heard of independently; now the operator knows.
    stage.app_failed("idle", "clowd env not reconciled").await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "clowd env").await;
    assert_eq!(text, "clowd env not reconciled");
    let name = &stage.environment;
    let event =
        format!("Warning ClowdEnvNotReconciled: Clowder Environment [{name}] is not reconciled");
    stage.event(&stage.namespace.name, "shop", &event).await;
    assert!(stage.names(DEPLOYMENT).await.is_empty());
    stage
        .patch_environment(json!({"spec": {"disabled": false}}))
        .await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn an_environment_that_is_disabled_from_the_start_gets_its_finalizer_only() {
    let stage = Stage::shared("off").await;
    stage
        .create_environment(json!({"disabled": true, "targetNamespace": ""}))
        .await;
    let environment = stage
        .environment_when("has its finalizer", |environment| {
            has_finalizer(environment, ENVIRONMENT_FINALIZER)
        })
        .await;
    // Not earlier: whoever hears of the app first misses the environment, and says so.
    stage.create_app("shop", web_app()).await;
    let app = stage
        .app_when("shop", "has its finalizer", |app| {
            has_finalizer(app, APP_FINALIZER)
        })
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(environment["status"].is_null() && app["status"].is_null());
    assert!(stage.events(&stage.namespace.name, "shop").await.is_empty());
    let app = stage.app_when("shop", "is there", |_| true).await;
    assert!(app["status"].is_null(), "{}", app["status"]);
}
