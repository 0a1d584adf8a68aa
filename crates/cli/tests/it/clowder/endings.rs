//! Ends: what goes with whom, and what stays.

use kube::{ResourceExt as _, api::DeleteParams};
use mainstay_testkit::{Namespace, namespace::object_gone, plane::dynamic, wait::eventually};
use serde_json::{Value, json};

use super::{
    scenarios::{APP_FINALIZER, has_finalizer, namespaces},
    stage::{
        AUTOSCALER, DEPLOYMENT, SECRET, SERVICE, SERVICE_ACCOUNT, Stage, create, deployment, each,
        failure, is_done, merge, patch_object, web_app,
    },
};

/// Annotation of a namespace with the uid of the environment that made it.
const MAKER: &str = "mainstay/made-by-environment";

#[tokio::test]
async fn a_deployment_that_is_removed_takes_along_what_was_its_own() {
    let stage = Stage::shared("prune").await;
    stage
        .ready_environment(json!({"providers": {"autoScaler": {"mode": "enabled"}}}))
        .await;
    let mut second = deployment("second");
    let scaler = json!({"replicas": {"min": 1, "max": 2}, "cpu": {"scaleAtUtilization": 80}});
    merge(
        &mut second,
        &json!({"k8sAccessLevel": "view", "autoScalerSimple": scaler}),
    );
    stage
        .create_app(
            "shop",
            json!({"deployments": [deployment("first"), second]}),
        )
        .await;
    stage.app_done("shop").await;
    stage.get(SERVICE_ACCOUNT, "shop-second").await;
    let scalers = stage.names(AUTOSCALER).await;
    assert_eq!(scalers.len(), 1);

    stage
        .patch_app(
            "shop",
            json!({"spec": {"deployments": [deployment("first")]}}),
        )
        .await;
    for kind in [DEPLOYMENT, SERVICE, SERVICE_ACCOUNT] {
        stage.gone(kind, "shop-second").await;
    }
    stage.app_done("shop").await;
    assert_eq!(stage.names(DEPLOYMENT).await, ["shop-first"]);
    // Parity: what has no labels stays.
    assert_eq!(stage.names(AUTOSCALER).await, scalers);
}

#[tokio::test]
async fn a_deleted_app_leaves_its_environment_and_nothing_behind() {
    let stage = Stage::shared("deleted").await;
    stage.ready_environment(json!({})).await;
    for name in ["shop", "stock"] {
        stage.create_app(name, web_app()).await;
        stage.app_done(name).await;
    }
    stage.delete_app("shop").await;
    object_gone(&stage.apps(), "shop").await;
    stage.gone(DEPLOYMENT, "shop-web").await;
    stage.gone(SECRET, "shop").await;
    // It rests between two reconciles: the one app that it lists may be the first, of before the second came.
    stage
        .environment_when("lists the other app only", |environment| {
            each(&environment["status"]["apps"], "name") == [json!("stock")]
        })
        .await;
}

#[tokio::test]
async fn an_environment_says_that_its_namespace_is_on_its_way_out() {
    let stage = Stage::shared("leaving").await;
    let target = Namespace::create(&stage.namespace.client, "leaving-target").await;
    stage
        .ready_environment(json!({
            "targetNamespace": target.name, "providers": {"objectStore": {"mode": "minio"}},
        }))
        .await;
    let maps = target.api("v1", "ConfigMap", "configmaps");
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "finalizers": ["mainstay.test/hold"]}});
    create(&maps, held).await;
    let namespaces = dynamic(&target.client, "", "v1", "Namespace", "namespaces");
    let params = DeleteParams::default();
    namespaces.delete(&target.name, &params).await.unwrap();
    let said = format!("namespace {} is being deleted", target.name);
    let environment = stage
        .environment_when("says that its namespace is leaving", |environment| {
            failure(environment).as_ref() == Some(&said)
        })
        .await;
    assert_eq!(environment["status"].get("ready"), None);
    let conditions = environment["status"]["conditions"].as_array().unwrap();
    assert_eq!(
        (&conditions[0]["status"], &conditions[0]["message"]),
        (&json!("False"), &json!(said))
    );
    let released = json!({"metadata": {"finalizers": null}});
    patch_object(&maps, "held", released).await;
    let said = format!("Namespace \"{}\" not found", target.name);
    stage
        .environment_when("says that it is gone", |environment| {
            failure(environment).as_ref() == Some(&said)
        })
        .await;
}

#[tokio::test]
async fn a_deleted_environment_takes_its_own_objects_and_leaves_those_of_apps() {
    let stage = Stage::shared("ended").await;
    stage
        .ready_environment(json!({"providers": {"objectStore": {"mode": "minio"}}}))
        .await;
    stage.create_app("shop", web_app()).await;
    let before = stage.app_done("shop").await;
    let params = DeleteParams::default();
    let environments = stage.environments();
    environments
        .delete(&stage.environment, &params)
        .await
        .unwrap();
    object_gone(&environments, &stage.environment).await;
    let minio = format!("{}-minio", stage.environment);
    stage.gone(DEPLOYMENT, &minio).await;
    stage.gone(SECRET, &minio).await;
    let name = &stage.environment;
    let event = format!("Warning ClowdEnvMissing: Clowder Environment [{name}] is missing");
    stage.event(&stage.namespace.name, "shop", &event).await;
    let app = stage.app_when("shop", "is there", |_| true).await;
    assert_eq!(app["status"]["generation"], before["status"]["generation"]);
    assert!(app["status"]["conditions"].is_array());
    stage.get(DEPLOYMENT, "shop-web").await;
    stage.get(SECRET, "shop").await;
    // A new environment of that name takes the app over.
    stage.ready_environment(json!({})).await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn a_generated_namespace_lives_and_dies_with_its_environment() {
    let stage = Stage::shared("made").await;
    let minio = json!({"objectStore": {"mode": "minio"}});
    let environment = stage
        .ready_environment(json!({"targetNamespace": "", "providers": minio}))
        .await;
    let target = environment["status"]["targetNamespace"].as_str().unwrap();
    let prefix = format!("clowdenv-{}-", stage.environment);
    let suffix = target.strip_prefix(&prefix).unwrap();
    assert_eq!(suffix.len(), 6);
    let namespaces = namespaces(&stage);
    let namespace = namespaces.get(target).await.unwrap();
    assert_eq!(namespace.metadata.owner_references, None);
    let uid = environment["metadata"]["uid"].as_str().unwrap();
    assert_eq!(namespace.annotations()[MAKER], uid);
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;

    // A later wish for another namespace is not heard.
    let given = json!({"spec": {"targetNamespace": stage.namespace.name}});
    stage.patch_environment(given).await;
    let environment = stage.environment_ready().await;
    assert_eq!(environment["status"]["targetNamespace"], target);
    stage
        .patch_environment(json!({"spec": {"targetNamespace": null}}))
        .await;
    stage.environment_ready().await;

    let params = DeleteParams::default();
    let environments = stage.environments();
    environments
        .delete(&stage.environment, &params)
        .await
        .unwrap();
    object_gone(&environments, &stage.environment).await;
    object_gone(&namespaces, target).await;
    let name = &stage.environment;
    let event = format!(
        "Warning NamespaceDeletion: Clowder Environment [{name}] had no targetNamespace, deleting generated namespace"
    );
    stage.event("default", name, &event).await;
}

/// Deletes an environment and says whether its target namespace went with it: that is deleted before the environment is
/// let go.
async fn takes_its_namespace(stage: &Stage, target: &str) -> bool {
    let params = DeleteParams::default();
    let environments = stage.environments();
    environments
        .delete(&stage.environment, &params)
        .await
        .unwrap();
    object_gone(&environments, &stage.environment).await;
    let namespace = namespaces(stage).get_opt(target).await.unwrap();
    namespace.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some())
}

#[tokio::test]
async fn a_namespace_goes_with_its_environment_only_if_that_made_it() {
    let stage = Stage::shared("maker").await;
    let marked = |by: Value| json!({"metadata": {"annotations": {MAKER: by}}});
    // By somebody else; by nobody who says so, as the original left it; the same, and another environment uses it.
    for (maker, is_shared, goes) in [
        (json!("another-uid"), false, false),
        (Value::Null, false, true),
        (Value::Null, true, false),
    ] {
        let one = stage.beside("maker-one").await;
        let environment = one.ready_environment(json!({"targetNamespace": ""})).await;
        let target = environment["status"]["targetNamespace"].as_str().unwrap();
        let listener = stage.beside("maker-listener").await;
        patch_object(&namespaces(&stage), target, marked(maker.clone())).await;
        if is_shared {
            listener
                .ready_environment(json!({"targetNamespace": target}))
                .await;
        }
        heard_of_namespaces(&stage).await;
        let took = takes_its_namespace(&one, target).await;
        assert_eq!(took, goes, "{maker} {is_shared}");
    }
}

/// Waits until the operator has heard all that happened to namespaces until now: their news come in order.
async fn heard_of_namespaces(stage: &Stage) {
    let listener = stage.beside("listener").await;
    let later = format!("{}-later", listener.namespace.name);
    listener
        .create_environment(json!({"targetNamespace": later}))
        .await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}});
    create(&namespaces(stage), namespace).await;
    listener.environment_ready().await;
}

#[tokio::test]
async fn what_somebody_else_gives_to_an_environment_does_not_hold_it_up() {
    let stage = Stage::shared("given").await;
    let minio = json!({"providers": {"objectStore": {"mode": "minio"}}});
    let environment = stage.ready_environment(minio).await;
    let name = &stage.environment;
    let labels = json!({"app": "lead"});
    let lead = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "lead", "labels": labels, "ownerReferences": [{
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment", "name": name,
            "uid": environment["metadata"]["uid"], "controller": true,
        }]},
        "spec": {"paused": true, "replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "lead", "image": "registry.test/lead:1"}]},
        }},
    });
    create(&stage.api(DEPLOYMENT), lead).await;
    let environment = stage
        .environment_when("counts it", |environment| {
            environment["status"]["deployments"]["managedDeployments"] == 2
        })
        .await;
    assert_eq!(environment["status"]["ready"], true);
    assert_eq!(environment["status"]["deployments"]["readyDeployments"], 1);
}

/// A namespace that stays in its last moments as long as this finalizer does.
async fn dying(stage: &Stage, prefix: &str) -> Namespace {
    let namespace = Namespace::create(&stage.namespace.client, prefix).await;
    let anchor = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "anchor", "finalizers": ["mainstay.test/anchor"]},
    });
    let config_maps = namespace.api("v1", "ConfigMap", "configmaps");
    create(&config_maps, anchor).await;
    namespace
}

async fn let_go(namespace: &Namespace) {
    let config_maps = namespace.api("v1", "ConfigMap", "configmaps");
    let released = json!({"metadata": {"finalizers": null}});
    super::stage::patch_object(&config_maps, "anchor", released).await;
}

#[tokio::test]
async fn nothing_is_written_into_a_namespace_that_is_on_its_way_out() {
    let stage = Stage::shared("target").await;
    let target = dying(&stage, "dying").await;
    stage
        .ready_environment(json!({"targetNamespace": target.name}))
        .await;
    let listener = stage.beside("listener").await;
    let later = format!("{}-later", listener.namespace.name);
    listener
        .create_environment(json!({"targetNamespace": later}))
        .await;
    listener
        .environment_when("misses its namespace", |environment| {
            failure(environment).is_some()
        })
        .await;
    let params = DeleteParams::default();
    namespaces(&stage)
        .delete(&target.name, &params)
        .await
        .unwrap();
    eventually("the namespace is on its way out", || async {
        let namespace = namespaces(&stage).get(&target.name).await.ok()?;
        namespace.metadata.deletion_timestamp.map(|_| ())
    })
    .await;
    // News of namespaces come in order: whoever has heard of a later one knows of this one, too.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}});
    create(&namespaces(&stage), namespace).await;
    listener.environment_ready().await;
    stage.create_app("shop", web_app()).await;
    stage
        .app_when("shop", "has its finalizer", |app| {
            has_finalizer(app, APP_FINALIZER)
        })
        .await;
    let minio = json!({"spec": {"providers": {"objectStore": {"mode": "minio"}}}});
    stage.patch_environment(minio).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let app = stage.app_when("shop", "is there", |_| true).await;
    assert!(!is_done(&app), "{}", app["status"]);
    assert!(stage.names(DEPLOYMENT).await.is_empty());
    let environment = stage.environment_when("is there", |_| true).await;
    let said = format!("namespace {} is being deleted", target.name);
    assert_eq!(failure(&environment), Some(said));
    assert_ne!(
        environment["status"]["generation"],
        environment["metadata"]["generation"]
    );
    let_go(&target).await;
}

#[tokio::test]
async fn an_app_whose_own_namespace_is_on_its_way_out_is_left_alone() {
    let stage = Stage::shared("own").await;
    stage.ready_environment(json!({})).await;
    let mut beside = stage.beside("own-dying").await;
    beside.environment.clone_from(&stage.environment);
    beside.create_app("shop", web_app()).await;
    beside.app_done("shop").await;
    let config_maps = beside.namespace.api("v1", "ConfigMap", "configmaps");
    let anchor = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "anchor", "finalizers": ["mainstay.test/anchor"]},
    });
    create(&config_maps, anchor).await;
    let name = beside.namespace.name.clone();
    let params = DeleteParams::default();
    namespaces(&stage).delete(&name, &params).await.unwrap();
    object_gone(&beside.apps(), "shop").await;
    beside.gone(DEPLOYMENT, "shop-web").await;
    let events = beside.events(&name, "shop").await;
    let failed = events.iter().any(|event| event.starts_with("Warning"));
    assert!(!failed, "{events:?}");
    let_go(&beside.namespace).await;
}
