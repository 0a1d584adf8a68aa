//! Silence: what needs no request causes none, and what needs some causes exactly those. The audit log is the referee.

use futures::future::join_all;
use kube::api::{Patch, PatchParams};
use mainstay_testkit::{Namespace, audit::Mark, namespace::object_when, plane::dynamic};
use serde_json::json;

use crate::{operated, shared::kaoto::workloads::TWENTY};

#[tokio::test]
async fn touching_a_crowd_causes_no_request_and_a_restart_no_write() {
    TWENTY.is_quiet_when_done().await;
}

#[tokio::test]
async fn creation_costs_the_finalizer_the_objects_and_one_status() {
    let (plane, namespace, _operator) = operated("cost").await;
    let mark = Mark::quiet(plane.audit_log(), &namespace.name).await;
    namespace
        .create_kaoto("studio", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("studio").await;
    let sent = mark.settled(&namespace.name).await;
    assert_eq!(sent.len(), 5, "and not one read: {sent:?}");
    assert_eq!(
        mark.carried_out(&namespace.name),
        [
            "patch deployments studio",
            "patch ingresses studio",
            "patch kaotoes studio",
            "patch kaotoes/status studio",
            "patch services studio",
        ]
    );
}

/// Waits until the operator knows the newest version of a Deployment: it has repaired a label, which no controller of the
/// cluster answers with a write. With an older one its next write would be refused once.
async fn deployment_is_known(namespace: &Namespace, name: &str) {
    let deployments = namespace.deployments();
    let drift = json!({"metadata": {"labels": {"app.kubernetes.io/part-of": "drift"}}});
    deployments
        .patch(name, &PatchParams::default(), &Patch::Merge(&drift))
        .await
        .unwrap();
    object_when(&deployments, name, "is repaired", |deployment| {
        deployment["metadata"]["labels"]["app.kubernetes.io/part-of"] == "kaoto"
    })
    .await;
}

#[tokio::test]
async fn a_new_image_costs_one_object_and_one_status() {
    let (plane, namespace, _operator) = operated("image").await;
    let before = Mark::now(plane.audit_log());
    namespace.create_kaoto("studio", json!({})).await;
    namespace.kaoto_ready("studio").await;
    namespace.deployment_at_rest("studio").await;
    deployment_is_known(&namespace, "studio").await;
    before.settled(&namespace.name).await;

    let mark = Mark::now(plane.audit_log());
    namespace
        .patch_kaoto("studio", json!({"spec": {"image": "registry.test/app:2"}}))
        .await;
    namespace.kaoto_ready("studio").await;
    let sent = mark.settled(&namespace.name).await;
    assert_eq!(sent.len(), 2, "and not one read: {sent:?}");
    assert_eq!(
        mark.carried_out(&namespace.name),
        ["patch deployments studio", "patch kaotoes/status studio"]
    );

    // A patch that says what is there already moves nothing, not even the generation.
    let mark = Mark::now(plane.audit_log());
    namespace
        .patch_kaoto(
            "studio",
            json!({"spec": {"image": "registry.test/app:2", "ingress": null}}),
        )
        .await;
    assert_eq!(mark.settled(&namespace.name).await, [], "nothing changed");
}

#[tokio::test]
async fn an_address_from_the_ingress_controller_costs_one_status() {
    let (plane, namespace, _operator) = operated("address").await;
    let before = Mark::now(plane.audit_log());
    namespace
        .create_kaoto("studio", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("studio").await;
    before.settled(&namespace.name).await;

    let mark = Mark::now(plane.audit_log());
    let address = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}});
    for _ in 0..3 {
        namespace
            .ingresses()
            .patch_status("studio", &PatchParams::default(), &Patch::Merge(&address))
            .await
            .unwrap();
    }
    namespace
        .kaoto_when("studio", "has the address", |kaoto| {
            kaoto["status"]["endpoint"] == "http://192.0.2.7/studio/"
        })
        .await;
    let sent = mark.settled(&namespace.name).await;
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(
        mark.carried_out(&namespace.name),
        ["patch kaotoes/status studio"]
    );
}

#[tokio::test]
async fn foreign_services_cause_no_request_and_no_growth() {
    let (plane, namespace, operator) = operated("foreign").await;
    let before = Mark::now(plane.audit_log());
    namespace.create_kaoto("studio", json!({})).await;
    namespace.kaoto_ready("studio").await;
    before.settled(&namespace.name).await;

    let mark = Mark::now(plane.audit_log());
    let memory = operator.memory();
    let services = dynamic(
        &namespace.client,
        &namespace.name,
        "v1",
        "Service",
        "services",
    );
    let create = (0..200).map(|number| {
        let service = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": format!("foreign-{number}"), "labels": {"app.kubernetes.io/name": "other"}},
            "spec": {"ports": [{"port": 80}], "clusterIP": "None"},
        }));
        let services = services.clone();
        async move {
            services
                .create(&kube::api::PostParams::default(), &service.unwrap())
                .await
                .unwrap()
        }
    });
    join_all(create).await;
    assert_eq!(mark.settled(&namespace.name).await, []);
    let growth = operator.memory().saturating_sub(memory);
    println!("memory before {memory} KiB, growth with 200 foreign Services {growth} KiB");
    assert!(growth < 1024, "grew by {growth} KiB");
}
