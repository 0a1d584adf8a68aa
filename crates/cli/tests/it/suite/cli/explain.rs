//! `tree` and `why`: from a custom resource to the one thing to fix.

use kube::api::{ListParams, PostParams};
use mainstay_testkit::{Namespace, Plane, namespace::object_when, wait::eventually};
use serde_json::json;

use crate::{operated, run};

/// A command about `kaoto/designer`, with the names that the cluster makes up replaced.
async fn explain(plane: &Plane, namespace: &Namespace, command: &str) -> String {
    let arguments = [command, "kaoto/designer", "-n", &namespace.name];
    let ended = run(&arguments).kubeconfig(&plane.kubeconfig()).run().await;
    let sets = namespace.api("apps/v1", "ReplicaSet", "replicasets");
    let sets = sets.list(&ListParams::default()).await.unwrap();
    let mut text = ended.to_string().replace(&namespace.name, "NAMESPACE");
    for set in sets {
        let name = set.metadata.name.unwrap();
        text = hide_suffixes(&text, &format!("{name}-"));
        text = text.replace(&name, "designer-SET");
    }
    text
}

/// Pods are called like their set, with five characters more.
fn hide_suffixes(text: &str, prefix: &str) -> String {
    let mut parts = text.split(prefix);
    let mut hidden = parts.next().unwrap().to_owned();
    for part in parts {
        hidden.push_str("designer-SET-POD");
        hidden
            .push_str(part.trim_start_matches(|character: char| character.is_ascii_alphanumeric()));
    }
    hidden
}

#[tokio::test]
async fn a_kaoto_whose_pods_run_is_well() {
    let (plane, namespace, _operator) = operated("well").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    object_when(
        &namespace.deployments(),
        "designer",
        "is available",
        |deployment| deployment["status"]["availableReplicas"] == 1,
    )
    .await;
    insta::assert_snapshot!(explain(&plane, &namespace, "tree").await, @r#"
    exit code: 0
    ----- stdout -----
    Kaoto designer  ready
    ├─ Service designer  ready
    ├─ Ingress designer  ready
    └─ Deployment designer  ready: 1 of 1 available
       └─ ReplicaSet designer-SET  ready: 1 of 1 ready
          └─ Pod designer-SET-POD  ready
    ----- stderr -----
    "#);
    insta::assert_snapshot!(explain(&plane, &namespace, "why").await, @r#"
    exit code: 0
    ----- stdout -----
    Kaoto designer is ready, and so is everything that belongs to it
    ----- stderr -----
    "#);
}

#[tokio::test]
async fn a_quota_that_stops_the_pods_is_found_behind_a_ready_kaoto() {
    let (plane, namespace, _operator) = operated("quota").await;
    namespace.forbid_pods().await;
    namespace.create_kaoto("designer", json!({})).await;
    // As with the original, Ready means that everything was accepted.
    namespace.kaoto_ready("designer").await;
    object_when(
        &namespace.deployments(),
        "designer",
        "says that pods fail",
        |deployment| {
            let conditions = deployment["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|condition| condition["type"] == "ReplicaFailure")
        },
    )
    .await;
    insta::assert_snapshot!(explain(&plane, &namespace, "tree").await, @r#"
    exit code: 0
    ----- stdout -----
    Kaoto designer  ready
    ├─ Service designer  ready
    └─ Deployment designer  in progress: 0 of 1 replicas are up to date
       └─ ReplicaSet designer-SET  failed: pods "designer-SET-POD" is forbidden: exceeded quota: no-pods, requested: pods=1, used: pods=0, limited: pods=0
    ----- stderr -----
    "#);
    let text = eventually("there is an event", || async {
        let text = explain(&plane, &namespace, "why").await;
        text.contains("\nevent FailedCreate: ").then_some(text)
    })
    .await;
    // How often it was tried by now depends on the moment.
    let (causes, _) = text.split_once("\nevent ").unwrap();
    insta::assert_snapshot!(causes, @r#"
    exit code: 1
    ----- stdout -----
    Kaoto designer says that it is ready, but is not
      because Deployment designer is in progress: 0 of 1 replicas are up to date
        because ReplicaSet designer-SET has failed: pods "designer-SET-POD" is forbidden: exceeded quota: no-pods, requested: pods=1, used: pods=0, limited: pods=0
    "#);
}

#[tokio::test]
async fn a_foreign_service_is_the_thing_to_fix() {
    let (plane, namespace, _operator) = operated("in-the-way").await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "designer"},
        "spec": {"ports": [{"port": 80}]},
    });
    let service = serde_json::from_value(service).unwrap();
    namespace
        .services()
        .create(&PostParams::default(), &service)
        .await
        .unwrap();
    namespace.create_kaoto("designer", json!({})).await;
    namespace
        .kaoto_when("designer", "says Error", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    object_when(
        &namespace.deployments(),
        "designer",
        "is available",
        |deployment| deployment["status"]["availableReplicas"] == 1,
    )
    .await;
    insta::assert_snapshot!(explain(&plane, &namespace, "tree").await, @r#"
    exit code: 0
    ----- stdout -----
    Kaoto designer  failed: Service NAMESPACE/designer: exists and was not created by this operator; rename or remove one of the two
    └─ Deployment designer  ready: 1 of 1 available
       └─ ReplicaSet designer-SET  ready: 1 of 1 ready
          └─ Pod designer-SET-POD  ready
    ----- stderr -----
    "#);
    insta::assert_snapshot!(explain(&plane, &namespace, "why").await, @r#"
    exit code: 1
    ----- stdout -----
    Kaoto designer has failed: Service NAMESPACE/designer: exists and was not created by this operator; rename or remove one of the two

    condition Reconcile: Service NAMESPACE/designer: exists and was not created by this operator; rename or remove one of the two (Failure)

    condition Service: Service NAMESPACE/designer: exists and was not created by this operator; rename or remove one of the two (Failure)
    ----- stderr -----
    "#);
}

#[tokio::test]
async fn without_an_operator_nothing_is_ready() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "nobody").await;
    namespace.create_kaoto("designer", json!({})).await;
    insta::assert_snapshot!(explain(&plane, &namespace, "why").await, @r#"
    exit code: 1
    ----- stdout -----
    Kaoto designer is in progress: no operator has looked at it yet
    ----- stderr -----
    "#);
}

#[tokio::test]
async fn a_change_that_was_refused_is_not_mistaken_for_one_that_was_not_seen() {
    let (plane, namespace, _operator) = operated("refused").await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    namespace
        .patch_kaoto("designer", json!({"spec": {"ingress": {"path": "/a b"}}}))
        .await;
    namespace
        .kaoto_when("designer", "says Error", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    object_when(
        &namespace.deployments(),
        "designer",
        "is available",
        |deployment| deployment["status"]["availableReplicas"] == 1,
    )
    .await;
    insta::assert_snapshot!(explain(&plane, &namespace, "why").await, @r#"
    exit code: 1
    ----- stdout -----
    Kaoto designer has failed: spec.ingress.path: contains ' ', which is not allowed in a path; use a plain path such as `/designer`; the rest of the expression is added to it

    condition Ingress: spec.ingress.path: contains ' ', which is not allowed in a path; use a plain path such as `/designer`; the rest of the expression is added to it (Failure)

    condition Reconcile: spec.ingress.path: contains ' ', which is not allowed in a path; use a plain path such as `/designer`; the rest of the expression is added to it (Failure)
    ----- stderr -----
    "#);
}

#[tokio::test]
async fn an_object_that_does_not_exist_is_named() {
    let plane = Plane::vanilla().await;
    let arguments = ["why", "kd/nobody", "-n", "default"];
    let ended = run(&arguments).kubeconfig(&plane.kubeconfig()).run().await;
    insta::assert_snapshot!(ended, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: there is no Kaoto default/nobody

    hint: is the namespace right? (-n NAMESPACE)
    "#);
}
