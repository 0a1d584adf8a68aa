//! What KEDA, the Prometheus operator and cert-manager report: no app or environment counts it, as with the original,
//! so it costs no request; `why` finds it.

use mainstay_testkit::{namespace::object_when, program::Ended};
use serde_json::{Value, json};

use super::{
    answers::{Answer, UNANSWERED},
    stage::{
        AUTOSCALER, CERTIFICATE, ISSUER, PROMETHEUS, Resource, SCALED_OBJECT, Stage, condition,
        web_app, web_local,
    },
};
use crate::run;

impl Stage {
    /// The chain of causes behind an app or environment.
    async fn why(&self, object: &str) -> Ended {
        let arguments = ["why", object, "-n", &self.namespace.name];
        let program = run(&arguments).kubeconfig(&self.plane.kubeconfig());
        program.run().await
    }

    /// Waits until a condition of an object here has this status.
    async fn reported(&self, kind: Resource, name: &str, (word, status): (&str, &str)) -> Value {
        let what = format!("is {word}: {status}");
        object_when(&self.api(kind), name, &what, |object| {
            condition(object, word).as_deref() == Some(status)
        })
        .await
    }

    /// Lets the operator of an object report a failure, which nobody but its reader takes note of.
    async fn fails_unnoticed(&self, kind: Resource, name: &str, word: &str) {
        let about = self.environment.as_str();
        let mark = self.at_rest().await;
        self.answer(kind, name, Answer::Failure).await;
        self.reported(kind, name, (word, "False")).await;
        assert_eq!(mark.settled_about(about).await, [], "{kind:?} {name}");
    }
}

#[tokio::test]
async fn keda_keeps_its_marks_on_our_object_and_its_autoscaler() {
    let stage = Stage::shared("keda").await;
    stage
        .ready_environment(json!({"providers": {"autoScaler": {"mode": "keda"}}}))
        .await;
    let mut app = web_app();
    app["deployments"][0]["autoScaler"] =
        json!({"triggers": [{"type": "cron", "metadata": {"timezone": "UTC"}}]});
    stage.create_app("shop", app).await;
    stage.app_ready("shop").await;
    let ready = ("Ready", "True");
    stage.reported(SCALED_OBJECT, "shop-web", ready).await;
    let app = stage.app_ready("shop").await;
    let why = stage.why("app/shop").await.success();
    assert!(why.contains("so is everything"), "{why}");

    stage
        .fails_unnoticed(SCALED_OBJECT, "shop-web", "Ready")
        .await;
    let scaled = stage.get(SCALED_OBJECT, "shop-web").await;
    let metadata = &scaled["metadata"];
    assert_eq!(metadata["finalizers"], json!(["finalizer.keda.sh"]));
    assert_eq!(metadata["labels"]["scaledobject.keda.sh/name"], "shop-web");
    // It bears the labels of our object, but belongs to KEDA.
    let autoscaler = stage.get(AUTOSCALER, "keda-hpa-shop-web").await;
    assert_eq!(autoscaler["metadata"]["labels"]["app"], "shop");
    let after = stage.app_ready("shop").await;
    assert_eq!(after["status"], app["status"]);
    let why = stage.why("app/shop").await;
    let chain = "\
ClowdApp shop says that it is ready, but is not
  because ScaledObject shop-web has failed: ScaledObject doesn't have correct triggers specification
";
    assert!(why.stdout.starts_with(chain), "{why}");

    stage.patch_app("shop", json!({"spec": web_app()})).await;
    stage.gone(SCALED_OBJECT, "shop-web").await;
    stage.gone(AUTOSCALER, "keda-hpa-shop-web").await;
    stage.app_ready("shop").await;
    stage.why("app/shop").await.success();
}

#[tokio::test]
async fn an_environment_is_ready_whatever_is_said_of_its_prometheus() {
    let stage = Stage::shared(UNANSWERED).await;
    let metrics = json!({"mode": "operator", "prometheus": {"deploy": true}});
    let environment = stage
        .ready_environment(json!({"providers": {"metrics": metrics}}))
        .await;
    let name = stage.environment.as_str();
    let object = format!("env/{name}");
    stage.fails_unnoticed(PROMETHEUS, name, "Available").await;
    let why = stage.why(&object).await;
    let chain = format!(
        "\
ClowdEnvironment {name} says that it is ready, but is not
  because Prometheus {name} has failed: shard 0: pod prometheus-0: 0/1 nodes are available
"
    );
    assert!(why.stdout.starts_with(&chain), "{why}");
    stage.answer(PROMETHEUS, name, Answer::Ready).await;
    let available = ("Available", "True");
    stage.reported(PROMETHEUS, name, available).await;
    stage.why(&object).await.success();
    let after = stage.environment_ready().await;
    assert_eq!(after["status"], environment["status"]);
}

#[tokio::test]
async fn a_certificate_that_is_not_issued_is_found_behind_a_ready_environment() {
    let stage = Stage::shared("issued").await;
    let settings = json!({"gatewayCert": {"enabled": true, "certMode": "self-signed"}});
    stage.ready_environment(web_local(&settings)).await;
    let name = stage.environment.as_str();
    let ready = ("Ready", "True");
    stage.reported(CERTIFICATE, "caddy-gateway", ready).await;
    stage.reported(ISSUER, &stage.namespace.name, ready).await;
    let object = format!("env/{name}");
    stage.why(&object).await.success();
    stage
        .fails_unnoticed(CERTIFICATE, "caddy-gateway", "Ready")
        .await;
    stage.environment_ready().await;
    let why = stage.why(&object).await;
    let cause = "because Certificate caddy-gateway has failed: Issuing certificate as Secret does not exist";
    assert!(why.stdout.contains(cause), "{why}");
}
