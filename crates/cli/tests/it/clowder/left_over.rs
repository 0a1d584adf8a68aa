//! What nobody wants any more goes: every kind of which something can be left over.

use serde_json::{Value, json};

use super::stage::{CLAIM, DEPLOYMENT, PROMETHEUS, Resource, Stage, deployment, resource};

const SUBSCRIPTION: Resource = resource(
    "operators.coreos.com/v1alpha1",
    "Subscription",
    "subscriptions",
);

fn providers(stored: bool, deployed: bool) -> Value {
    json!({"providers": {
        "db": {"mode": "local", "pvc": stored},
        "metrics": {"mode": "operator", "prometheus": {"deploy": deployed}},
    }})
}

#[tokio::test]
async fn what_an_app_and_its_environment_leave_over_goes() {
    let stage = Stage::shared("left-over").await;
    stage.ready_environment(providers(true, true)).await;
    let with = |deployments: &[&str], database: Value| {
        let deployments: Vec<Value> = deployments.iter().map(|name| deployment(name)).collect();
        json!({"deployments": deployments, "database": database})
    };
    let both = with(&["web", "api"], json!({"name": "goods"}));
    stage.create_app("shop", both).await;
    stage.app_done("shop").await;
    for (kind, name) in [
        (CLAIM, "shop-db"),
        (PROMETHEUS, stage.environment.as_str()),
        (SUBSCRIPTION, "prometheus"),
    ] {
        stage.get(kind, name).await;
    }

    stage
        .patch_app("shop", json!({"spec": with(&["web"], Value::Null)}))
        .await;
    for (kind, name) in [(DEPLOYMENT, "shop-api"), (CLAIM, "shop-db")] {
        stage.gone(kind, name).await;
    }
    stage.get(DEPLOYMENT, "shop-web").await;

    stage
        .patch_environment(json!({"spec": providers(true, false)}))
        .await;
    stage.gone(PROMETHEUS, &stage.environment).await;
    stage.gone(SUBSCRIPTION, "prometheus").await;
}
