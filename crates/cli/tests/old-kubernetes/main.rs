//! The oldest Kubernetes that is supported: `cargo xtask test --old-kubernetes`.
//!
//! What the rest builds on, the guards of an apply, is asked of the API server itself; then every system is played.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;

use kube::{
    Api, Error,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions},
};
use mainstay_package::OLDEST_KUBERNETES;
use mainstay_testkit::{Namespace, Plane, campaign::crash::Moments};
use serde_json::{Value, json};
use shared::{
    clowder::workloads::storage::STORAGE,
    kaoto::workloads::{CREATION, DELETION, TWENTY, UPDATE},
};

#[tokio::test]
async fn the_planes_of_these_tests_are_of_the_oldest_release() {
    for plane in [Plane::vanilla().await, Plane::clowder().await] {
        let version = plane.client().await.apiserver_version().await.unwrap();
        assert_eq!(
            version.git_version,
            format!("v{OLDEST_KUBERNETES}"),
            "run `cargo xtask test --old-kubernetes`"
        );
    }
}

/// Objects of built-in kinds and of one of ours, as they are applied.
fn objects(namespace: &Namespace) -> Vec<(Api<DynamicObject>, Value)> {
    let pod = json!({
        "metadata": {"labels": {"app": "guarded"}},
        "spec": {"containers": [{"name": "app", "image": "registry.test/app:1"}]},
    });
    let deployment = json!({
        "replicas": 0, "selector": {"matchLabels": {"app": "guarded"}}, "template": pod,
    });
    let backend = json!({"service": {"name": "guarded", "port": {"number": 80}}});
    vec![
        (
            namespace.services(),
            json!({"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}),
        ),
        (
            namespace.deployments(),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": deployment}),
        ),
        (
            namespace.ingresses(),
            json!({
                "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
                "spec": {"defaultBackend": backend},
            }),
        ),
        (
            namespace.api("v1", "Secret", "secrets"),
            json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"key": "one"}}),
        ),
        (
            namespace.kaotos(),
            json!({"apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto", "spec": {}}),
        ),
    ]
}

/// Applies an object with guards, as the operators do.
async fn apply(
    api: &Api<DynamicObject>,
    object: &Value,
    guards: &[(&str, &str)],
) -> Result<DynamicObject, Error> {
    let mut object = object.clone();
    object["metadata"] = json!({"name": "guarded", "labels": {"team": "ours"}});
    for (field, value) in guards {
        object["metadata"][*field] = json!(value);
    }
    let params = PatchParams::apply("guarded").force();
    api.patch("guarded", &params, &Patch::Apply(&object)).await
}

/// The code of a refusal.
fn refused(answer: Result<DynamicObject, Error>) -> u16 {
    match answer {
        Err(Error::Api(status)) => status.code,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn an_apply_creates_only_where_the_name_is_free_and_changes_only_what_was_judged() {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, "guards").await;
    for (api, object) in objects(&namespace) {
        let kind = &object["kind"];
        // The version of an empty store: no object has it.
        let created = apply(&api, &object, &[("resourceVersion", "1")]).await;
        let created = created.unwrap_or_else(|error| panic!("{kind}: {error}"));
        let managers = created.metadata.managed_fields.unwrap_or_default();
        let operations: Vec<_> = managers
            .iter()
            .filter_map(|entry| entry.operation.as_deref())
            .collect();
        assert_eq!(operations, ["Apply"], "{kind}");

        let again = apply(&api, &object, &[("resourceVersion", "1")]).await;
        assert_eq!(refused(again), 409, "{kind}: the name is taken");
        let live = api.get("guarded").await.unwrap().metadata;
        let (uid, version) = (live.uid.unwrap(), live.resource_version.unwrap());
        let other = "00000000-0000-0000-0000-000000000000";
        let answer = apply(&api, &object, &[("uid", other)]).await;
        let code = refused(answer);
        assert!(matches!(code, 409 | 422), "{kind}: another uid: {code}");
        let guards = [("uid", uid.as_str()), ("resourceVersion", version.as_str())];
        let unchanged = apply(&api, &object, &guards).await.unwrap();
        assert_eq!(
            unchanged.metadata.resource_version.as_ref(),
            Some(&version),
            "{kind}: an apply of the same is no write"
        );

        let judged_wrongly = DeleteParams::default().preconditions(Preconditions {
            uid: Some(uid.clone()),
            resource_version: Some("1".to_owned()),
        });
        let answer = api.delete("guarded", &judged_wrongly).await;
        let answer = answer.map(|_| unreachable!("{kind}: deleted"));
        assert_eq!(refused(answer), 409, "{kind}: another version");
        // Where there is nothing, a guard by uid creates nothing.
        api.delete("guarded", &DeleteParams::default())
            .await
            .unwrap();
        mainstay_testkit::namespace::object_gone(&api, "guarded").await;
        let code = refused(apply(&api, &object, &guards).await);
        assert!(matches!(code, 409 | 422), "{kind}: gone: {code}");
    }
}

#[tokio::test]
async fn kaoto_survives_a_crash_at_any_write() {
    CREATION
        .survives_a_crash_at_any_write(Moments::InTurn, 5)
        .await;
    UPDATE
        .survives_a_crash_at_any_write(Moments::InTurn, 3)
        .await;
    DELETION
        .survives_a_crash_at_any_write(Moments::InTurn, 4)
        .await;
}

#[tokio::test]
async fn kaoto_is_quiet_when_done() {
    TWENTY.is_quiet_when_done().await;
}

#[tokio::test]
async fn clowder_survives_a_crash_at_every_write() {
    STORAGE
        .survives_a_crash_at_every_write(Moments::InTurn, 31)
        .await;
}

#[tokio::test]
async fn clowder_is_quiet_when_done() {
    STORAGE.is_quiet_when_done().await;
}
