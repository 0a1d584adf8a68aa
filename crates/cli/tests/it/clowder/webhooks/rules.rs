//! What the webhooks refuse and change, in the original's words.

use serde_json::{Value, json};

use super::{Hooked, refusal, rules, try_app, try_containers, try_pod, violating};
use crate::clowder::stage::{DEPLOYMENT, Stage, web_app};

const DENIED: &str = "admission webhook \"vclowdapp.kb.io\" denied the request: ClowdApp.cloud.redhat.com \"\" is invalid: ";

#[tokio::test]
async fn every_rule_is_enforced_by_the_api_server_in_the_original_s_words() {
    let hooked = Hooked::start("judged").await;
    let stage = &hooked.stage;
    for (name, refused, words, fine) in rules() {
        let status = refusal(try_app(stage, name, refused).await.unwrap_err());
        assert_eq!(status.message, format!("{DENIED}{words}"));
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
        let details = status.details.unwrap();
        assert_eq!(
            (
                details.group.as_str(),
                details.kind.as_str(),
                details.name.as_str()
            ),
            ("cloud.redhat.com", "ClowdApp", "")
        );
        let (field, message) = words.split_once(": ").unwrap();
        let causes = details.causes.into_iter();
        let causes: Vec<_> = causes
            .map(|cause| (cause.field, cause.message, cause.reason))
            .collect();
        let cause = (
            field.to_owned(),
            message.to_owned(),
            "FieldValueForbidden".to_owned(),
        );
        assert_eq!(causes, [cause]);
        assert!(try_app(stage, name, fine).await.is_ok(), "{name}");
    }
    hooked.registered.remove().await;
}

#[tokio::test]
async fn an_app_cannot_be_changed_into_a_violation_and_several_are_told_together() {
    let hooked = Hooked::start("changed").await;
    let stage = &hooked.stage;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let mut spec = violating();
    spec["cyndi"] = json!({"enabled": true});
    let status = refusal(
        try_change(stage, "shop", json!({"spec": spec}))
            .await
            .unwrap_err(),
    );
    assert_eq!(
        status.message,
        format!(
            "{DENIED}[spec.Database.Name.spec.Database.SharedDBAppName: Forbidden: cannot set db name and sharedDbApp Name together, \
             spec.Database.SharedDBAppName.spec.Cyndi.Enabled: Forbidden: cannot use cyndi with a shared database]"
        )
    );
    stage
        .patch_app("shop", json!({"spec": {"database": {"name": "goods"}}}))
        .await;
    hooked.registered.remove().await;
}

/// An app from the time before the webhooks: it can be mended, and it can go.
#[tokio::test]
async fn an_invalid_app_that_is_already_there_can_be_deleted() {
    let hooked = Hooked::start("leaving").await;
    let stage = &hooked.stage;
    hooked.registered.remove().await;
    mainstay_testkit::wait::eventually("the API server forgets the webhooks", || async {
        try_app(stage, "probe", violating()).await.ok()
    })
    .await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", violating()).await;
    stage
        .app_when("shop", "is finalized", |app| {
            app["metadata"]["finalizers"][0] == "finalizer.app.cloud.redhat.com"
        })
        .await;
    let registered =
        super::Registered::create(stage, &hooked.address, &hooked.certificates.authority()).await;
    hooked.wait().await;
    let labelled = json!({"metadata": {"labels": {"team": "blue"}}});
    assert!(
        try_change(stage, "shop", labelled).await.is_err(),
        "judged again"
    );
    stage.delete_app("shop").await;
    mainstay_testkit::namespace::object_gone(&stage.apps(), "shop").await;
    registered.remove().await;
}

async fn try_change(
    stage: &Stage,
    name: &str,
    change: Value,
) -> Result<kube::api::DynamicObject, kube::Error> {
    let params = kube::api::PatchParams {
        dry_run: true,
        ..kube::api::PatchParams::default()
    };
    let patch = kube::api::Patch::Merge(change);
    stage.apps().patch(name, &params, &patch).await
}

fn asking() -> Value {
    json!({
        "clowder/authsidecar-enabled": "true", "clowder/authsidecar-port": "8000",
        "clowder/authsidecar-config": "caddy-config-shop-web",
        "clowder/authsidecar-image": "registry.test/auth:1",
    })
}

#[tokio::test]
async fn a_pod_that_asks_gets_its_container_and_others_pass_unchanged() {
    let hooked = Hooked::start("pods").await;
    let stage = &hooked.stage;
    let pod = try_pod(stage, "full", asking()).await.unwrap();
    let containers = pod["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 2);
    let auth = &containers[1];
    assert_eq!(
        (&auth["name"], &auth["image"]),
        (&json!("crcauth"), &json!("registry.test/auth:1"))
    );
    assert_eq!(
        auth["env"][0],
        json!({"name": "CADDY_PORT", "value": "8000"})
    );
    assert_eq!(
        auth["env"][3]["valueFrom"]["secretKeyRef"],
        json!({"name": "caddy-config-shop-web", "key": "whitelist"})
    );

    let old = json!([
        {"name": "crcauth", "image": "old", "env": [{"name": "OLD", "value": "1"}]},
        {"name": "main", "image": "registry.test/main:1"},
    ]);
    let replaced = try_containers(stage, "existing", asking(), old)
        .await
        .unwrap();
    let containers = replaced["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 2);
    assert_eq!(containers[0]["image"], "registry.test/auth:1");
    assert_eq!(containers[0]["env"][0]["name"], "CADDY_PORT");

    for (missing, word) in [
        ("clowder/authsidecar-port", "port"),
        ("clowder/authsidecar-config", "config"),
        ("clowder/authsidecar-image", "image"),
    ] {
        let mut annotations = asking();
        annotations.as_object_mut().unwrap().remove(missing);
        let status = refusal(try_pod(stage, "half", annotations).await.unwrap_err());
        assert_eq!(
            status.message,
            format!(
                "admission webhook \"vclowdmutatepod.kb.io\" denied the request: pod does not specify authsidecar {word}"
            )
        );
        assert_eq!((status.code, status.reason.as_str()), (400, ""));
        assert!(status.details.is_none());
    }
    let off = json!({"clowder/authsidecar-enabled": "false"});
    for annotations in [off, json!({"other": "x"})] {
        let pod = try_pod(stage, "plain", annotations).await.unwrap();
        assert_eq!(pod["spec"]["containers"].as_array().unwrap().len(), 1);
    }
    hooked.registered.remove().await;
}

/// Nobody listens where this webhook is said to be, and without an answer nothing is stored: whoever gets through was
/// not asked about.
#[tokio::test]
async fn the_api_server_asks_about_no_pod_that_does_not_ask_for_the_container() {
    let stage = Stage::shared("unasked").await;
    let nobody = mainstay_testkit::operator::ClosedPort::take();
    let certificates = mainstay_testkit::certificates::Certificates::issue(&stage.plane);
    let [_, mut mutating] =
        super::configurations(&stage, &nobody.address(), &certificates.authority());
    mutating["webhooks"][0]["failurePolicy"] = json!("Fail");
    let registered = super::Registered::apply(&stage, vec![mutating]).await;
    mainstay_testkit::wait::eventually("the API server asks the webhook", || async {
        let status = refusal(try_pod(&stage, "asking", asking()).await.err()?);
        let asked = "failed calling webhook \"vclowdmutatepod.kb.io\"";
        status.message.contains(asked).then_some(())
    })
    .await;
    let off = json!({"clowder/authsidecar-enabled": "false"});
    for annotations in [Value::Null, json!({}), json!({"other": "x"}), off] {
        let pod = try_pod(&stage, "plain", annotations.clone()).await;
        assert!(pod.is_ok(), "{annotations}: {pod:?}");
    }
    registered.remove().await;
}

/// The original replaces the container again, without what the API server has added to it, and the change is refused.
#[tokio::test]
async fn a_pod_with_the_container_can_still_be_changed() {
    let hooked = Hooked::start("update").await;
    let stage = &hooked.stage;
    let pods = stage.namespace.api("v1", "Pod", "pods");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shop", "annotations": asking()},
        "spec": {"containers": [{"name": "main", "image": "registry.test/main:1"}]},
    });
    crate::clowder::stage::create(&pods, pod).await;
    let labelled = json!({"metadata": {"labels": {"team": "blue"}}});
    crate::clowder::stage::patch_object(&pods, "shop", labelled).await;
    let pod = pods.get("shop").await.unwrap();
    assert_eq!(pod.metadata.labels.unwrap()["team"], "blue");
    assert_eq!(pod.data["spec"]["containers"][1]["name"], "crcauth");
    hooked.registered.remove().await;
}

/// Where no webhook is asked, the providers decide: no worse than the original, and never half.
#[tokio::test]
async fn invalid_apps_that_slip_through_harm_nobody() {
    let stage = Stage::shared("slipped").await;
    stage.ready_environment(json!({})).await;
    for (name, invalid, _, _) in rules() {
        stage.create_app(name, invalid).await;
    }
    stage.create_app("fine", web_app()).await;
    stage.app_done("fine").await;
    // A public service is always rolled, whatever the app says.
    stage.app_done("strategy").await;
    let deployment = stage.get(DEPLOYMENT, "strategy-web").await;
    assert_eq!(deployment["spec"]["strategy"]["type"], "RollingUpdate");
    let text = stage.app_failed("init", "init containers").await;
    assert_eq!(
        text,
        "runapp: deployment: multiple init containers must have name"
    );
    for name in ["sidecar", "job-sidecar"] {
        let text = stage.app_failed(name, "mystery").await;
        assert!(
            text.starts_with("runapp: sidecar: mystery is not a valid sidecar name"),
            "{text}"
        );
    }
    for name in ["init-web", "sidecar-web", "job-sidecar-web"] {
        let found = stage.find(DEPLOYMENT, name).await;
        assert_eq!(found, None, "nothing half-written");
    }
    let mended = json!({"spec": {"deployments": web_app()["deployments"]}});
    for name in ["init", "sidecar"] {
        stage.patch_app(name, mended.clone()).await;
        stage.app_done(name).await;
    }
}
