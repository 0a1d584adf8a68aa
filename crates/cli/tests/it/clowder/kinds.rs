//! A cluster without the kinds of others, and with objects that do not fit their definition.

use mainstay_testkit::{
    plane::{OwnPlane, install_definition},
    wait::eventually,
};
use serde_json::{Value, json};

use super::stage::{
    DEPLOYMENT, RunningOperator, SCALED_OBJECT, SERVICE_MONITOR, Stage, failure, web_app,
};

/// A definition without a schema, as stand-ins have it.
pub(super) fn definition(group: &str, version: &str, kind: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": version, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

/// Definitions of ours; specs may be anything if they are permissive.
pub(super) async fn install(plane: &OwnPlane, permissive: bool) {
    let client = plane.client().await;
    for (name, mut definition) in mainstay_api::crds() {
        if !name.contains("cloud.redhat.com") {
            continue;
        }
        let is_lax = ["clowdapps.", "clowdenvironments.", "clowdjobinvocations."]
            .iter()
            .any(|kind| name.contains(kind));
        if permissive && is_lax {
            let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"]["spec"] = json!({"x-kubernetes-preserve-unknown-fields": true});
        }
        install_definition(&client, &definition).await;
    }
}

#[tokio::test]
async fn a_kind_that_the_cluster_lacks_and_an_app_that_does_not_fit_harm_themselves_only() {
    let plane = OwnPlane::start("tests-clowder-bare");
    install(&plane, true).await;
    let stage = Stage::own(&plane, "scraped").await;
    let other = stage.beside("plain").await;
    let _operator = RunningOperator::start(&plane.kubeconfig(), &[]).await;
    stage
        .create_environment(json!({"providers": {
            "metrics": {"mode": "operator"}, "autoScaler": {"mode": "enabled"},
        }}))
        .await;
    other.ready_environment(json!({})).await;
    other.create_app("stock", web_app()).await;
    other.app_done("stock").await;
    stage.environment_ready().await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "ServiceMonitor").await;
    assert!(text.contains("shop-web"), "it names the object: {text}");

    // Stored before there was a schema.
    other
        .create_app("broken", json!({"deployments": "many"}))
        .await;
    eventually("the event says why", || async {
        let events = other.events(&other.namespace.name, "broken").await;
        let said = |event: &String| event.starts_with("Warning FailedReconciliation: spec");
        events.iter().any(said).then_some(())
    })
    .await;
    let text = other.app_failed("broken", "spec.deployments").await;
    assert!(text.contains("correct the field"), "{text}");
    let lax = stage.beside("lax").await;
    lax.create_environment(json!({"providers": {"web": {"port": "many"}}}))
        .await;
    let environment = lax
        .environment_when("fails", |environment| failure(environment).is_some())
        .await;
    let text = failure(&environment).unwrap();
    assert!(text.starts_with("spec.providers.web.port: "), "{text}");
    lax.invoke("run", json!({"jobs": "all"})).await;
    let invocation = lax
        .invocation_when("run", "fails", |invocation| failure(invocation).is_some())
        .await;
    let text = failure(&invocation).unwrap();
    assert!(text.starts_with("spec.jobs: "), "{text}");
    other.create_app("late", web_app()).await;
    other.app_done("late").await;
    let names = other.names(DEPLOYMENT).await;
    assert_eq!(names, ["late-web", "stock-web"]);

    let client = plane.client().await;
    let monitors = definition(
        "monitoring.coreos.com",
        "v1",
        "ServiceMonitor",
        "servicemonitors",
    );
    install_definition(&client, &monitors).await;
    stage.app_done("shop").await;
    stage.get(SERVICE_MONITOR, "shop-web").await;
    let mut app = web_app();
    app["deployments"][0]["autoScaler"] = json!({
        "triggers": [{"type": "cron", "metadata": {"timezone": "UTC"}}],
    });
    stage.patch_app("shop", json!({"spec": app})).await;
    let text = stage.app_failed("shop", "ScaledObject").await;
    assert!(
        text.contains("keda.sh/v1alpha1"),
        "it says which definition: {text}"
    );
    let scaled = definition("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
    install_definition(&client, &scaled).await;
    stage.app_done("shop").await;
    assert_eq!(stage.names(SCALED_OBJECT).await.len(), 1);
    lax.patch_environment(json!({"spec": {"providers": {"web": {"port": 8000}}}}))
        .await;
    lax.environment_ready().await;
    // The object is repaired, and its app comes to life.
    other.patch_app("broken", json!({"spec": web_app()})).await;
    other.app_done("broken").await;
}
