//! Drift is repaired, without anybody touching the Kaoto.

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams},
};
use mainstay_testkit::namespace::object_when;
use serde_json::{Value, json};

use crate::operated;

async fn merge(api: &Api<DynamicObject>, patch: Value) {
    api.patch("designer", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_deleted_deployment_comes_back() {
    let (_plane, namespace, _operator) = operated("deleted").await;
    namespace.create_kaoto("designer", json!({})).await;
    let before = namespace.kaoto_ready("designer").await;
    let api = namespace.deployments();
    let old = api.get("designer").await.unwrap().metadata.uid.unwrap();
    api.delete("designer", &DeleteParams::default())
        .await
        .unwrap();
    object_when(&api, "designer", "is a new one", |deployment| {
        deployment["metadata"]["uid"] != old
            && deployment["metadata"]["deletionTimestamp"].is_null()
    })
    .await;
    let after = namespace.kaoto_ready("designer").await;
    assert_eq!(
        after["metadata"]["generation"],
        before["metadata"]["generation"]
    );
}

#[tokio::test]
async fn an_edited_selector_is_set_right() {
    let (_plane, namespace, _operator) = operated("selector").await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    let api = namespace.services();
    let wanted =
        json!({"app.kubernetes.io/name": "kaoto", "app.kubernetes.io/instance": "designer"});
    merge(
        &api,
        json!({"spec": {"selector": {"app.kubernetes.io/name": "wrong", "extra": "yes"}}}),
    )
    .await;
    object_when(&api, "designer", "has our selector", |service| {
        service["spec"]["selector"] == wanted
    })
    .await;
}

#[tokio::test]
async fn a_label_that_hides_an_object_from_the_watch_is_put_back() {
    let (_plane, namespace, _operator) = operated("label").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    for api in [
        namespace.services(),
        namespace.ingresses(),
        namespace.deployments(),
    ] {
        merge(
            &api,
            json!({"metadata": {"labels": {"app.kubernetes.io/name": null}}}),
        )
        .await;
        object_when(&api, "designer", "is labelled again", |object| {
            object["metadata"]["labels"]["app.kubernetes.io/name"] == "kaoto"
        })
        .await;
    }
    namespace.kaoto_ready("designer").await;
}

#[tokio::test]
async fn a_scaled_deployment_goes_back_to_one_replica() {
    let (_plane, namespace, _operator) = operated("scale").await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    let api = namespace.deployments();
    merge(&api, json!({"spec": {"replicas": 3}})).await;
    object_when(&api, "designer", "has one replica", |deployment| {
        deployment["spec"]["replicas"] == 1
    })
    .await;
}
