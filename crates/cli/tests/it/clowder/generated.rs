//! Values that are made up once: passwords, keys and tokens outlive everything but their Secret.

use std::collections::BTreeMap;

use futures::future::join_all;
use kube::api::DeleteParams;
use mainstay_testkit::{namespace::object_when, wait::eventually};
use serde_json::json;

use super::stage::{DEPLOYMENT, SECRET, Stage, components, stored_app};

/// Names of the Secrets with values that were made up for an environment with one app.
fn secrets(stage: &Stage) -> Vec<String> {
    let environment = &stage.environment;
    vec![
        format!("{environment}-minio"),
        format!("{environment}-featureflags"),
        "featureflags-db".to_owned(),
        "shop-db".to_owned(),
    ]
}

/// All values that were made up.
async fn values(stage: &Stage) -> Vec<BTreeMap<String, String>> {
    join_all(secrets(stage).iter().map(|name| stage.secret(name))).await
}

async fn delete(stage: &Stage, kind: super::stage::Resource, name: &str) {
    let api = stage.api(kind);
    let uid = api.get(name).await.unwrap().metadata.uid;
    api.delete(name, &DeleteParams::default()).await.unwrap();
    eventually(&format!("there is a new {name}"), || async {
        let object = api.get_opt(name).await.ok()??;
        (object.metadata.uid != uid).then_some(())
    })
    .await;
}

#[tokio::test]
async fn values_outlive_restarts_and_workloads_and_change_with_their_secret() {
    let stage = Stage::alone("values").await;
    let mut operator = stage.operator(&[]).await;
    stage.ready_environment(components()).await;
    stage.create_app("shop", stored_app()).await;
    stage.app_ready("shop").await;
    let first = values(&stage).await;

    operator.process.kill();
    drop(operator);
    let _operator = stage.operator(&[]).await;
    delete(&stage, DEPLOYMENT, "shop-db").await;
    delete(&stage, DEPLOYMENT, &format!("{}-minio", stage.environment)).await;
    stage.environment_ready().await;
    stage.app_ready("shop").await;
    assert_eq!(values(&stage).await, first);

    delete(&stage, SECRET, "shop-db").await;
    let rotated = stage.secret("shop-db").await;
    let before = &first[3];
    for key in ["username", "password", "pgPass"] {
        assert_ne!(rotated[key], before[key], "{key}");
    }
    stage
        .config_when("shop", "has the new password", |config| {
            config["database"]["password"] == json!(rotated["password"])
        })
        .await;
    assert_eq!(values(&stage).await[..3], first[..3]);
}

#[tokio::test]
async fn two_operators_at_once_never_make_two_passwords() {
    let stage = Stage::alone("race").await;
    let (left, right) = tokio::join!(stage.operator(&[]), stage.operator(&[]));
    stage.create_environment(components()).await;
    let names: Vec<String> = (0..6).map(|number| format!("shop-{number}")).collect();
    join_all(
        names
            .iter()
            .map(|name| stage.create_app(name, stored_app())),
    )
    .await;
    stage.environment_ready().await;
    join_all(names.iter().map(|name| stage.app_ready(name))).await;
    for name in &names {
        let api = stage.api(SECRET);
        // Made by one of the two, and never written again.
        let secret = object_when(&api, &format!("{name}-db"), "is there", |_| true).await;
        let writes = secret["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(writes.len(), 1, "{writes:?}");
        let password = stage.secret(&format!("{name}-db")).await["password"].clone();
        let config = stage.config(name).await;
        assert_eq!(config["database"]["password"], json!(password), "{name}");
    }
    drop((left, right));
}
