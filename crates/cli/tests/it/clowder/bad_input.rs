//! Broken input harms itself only, says what is wrong, and heals.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stage::{
    CLAIM, DEPLOYMENT, SECRET, SERVICE, SERVICE_ACCOUNT, Stage, deployment, failure, merge, web_app,
};

#[tokio::test]
async fn an_unknown_mode_is_named_and_other_environments_go_on() {
    let stage = Stage::shared("mode").await;
    stage
        .create_environment(json!({"providers": {"kafka": {"mode": "local"}}}))
        .await;
    stage.create_app("shop", web_app()).await;
    let environment = stage
        .environment_when("fails", |environment| failure(environment).is_some())
        .await;
    assert_eq!(
        failure(&environment).unwrap(),
        "getprov: kafka: No matching kafka mode for local: "
    );
    let other = stage.beside("mode-other").await;
    other.ready_environment(json!({})).await;
    other.create_app("shop", web_app()).await;
    other.app_done("shop").await;
    stage
        .patch_environment(json!({"spec": {"providers": {"kafka": {"mode": "none"}}}}))
        .await;
    stage.environment_ready().await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn two_init_containers_need_names() {
    let stage = Stage::shared("init").await;
    stage.ready_environment(json!({})).await;
    let with = |containers: Value| {
        let mut app = web_app();
        app["deployments"][0]["podSpec"]["initContainers"] = containers;
        app
    };
    let unnamed = json!([{"command": ["one"]}, {"command": ["two"]}]);
    stage.create_app("shop", with(unnamed)).await;
    stage.create_app("stock", web_app()).await;
    let text = stage.app_failed("shop", "init").await;
    assert!(
        text.starts_with("runapp: deployment: multiple init containers must have name"),
        "{text}"
    );
    stage.app_done("stock").await;
    assert_eq!(stage.names(DEPLOYMENT).await, ["stock-web"]);
    let named = json!([{"name": "a", "command": ["one"]}, {"name": "b", "command": ["two"]}]);
    stage.patch_app("shop", json!({"spec": with(named)})).await;
    stage.app_done("shop").await;
}

#[tokio::test]
async fn a_name_that_is_too_long_is_refused_with_the_object_named() {
    let stage = Stage::shared("long").await;
    stage.ready_environment(json!({})).await;
    let long = "l".repeat(60);
    stage
        .create_app("shop", json!({"deployments": [deployment(&long)]}))
        .await;
    stage.create_app("stock", web_app()).await;
    let text = stage.app_failed("shop", &format!("shop-{long}")).await;
    assert!(text.contains("63 characters"), "{text}");
    stage.app_done("stock").await;
    stage
        .patch_app(
            "shop",
            json!({"spec": {"deployments": [deployment("web")]}}),
        )
        .await;
    stage.app_done("shop").await;
    stage.get(SERVICE, "shop-web").await;
}

#[tokio::test]
async fn a_secret_that_is_missing_or_malformed_is_named_and_heals() {
    let stage = Stage::shared("secret").await;
    let flags = json!({
        "mode": "app-interface", "hostname": "flags.test", "port": 443,
        "credentialRef": {"name": "flags", "namespace": stage.namespace.name},
    });
    stage
        .ready_environment(json!({"providers": {"featureFlags": flags}}))
        .await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "featureflags").await;
    assert_eq!(text, "runapp: featureflags: Secret \"flags\" not found");
    stage
        .put_secret("flags", json!({}), json!({"TOKEN": "word"}))
        .await;
    let text = stage.app_failed("shop", "Missing data").await;
    assert_eq!(text, "runapp: featureflags: Missing data: ");
    stage
        .put_secret("flags", json!({}), json!({"CLIENT_ACCESS_TOKEN": "word"}))
        .await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    assert_eq!(
        config["featureFlags"],
        json!({"clientAccessToken": "word", "hostname": "flags.test", "port": 443, "scheme": "https"})
    );
    // A new token reaches the app.
    stage
        .put_secret("flags", json!({}), json!({"CLIENT_ACCESS_TOKEN": "other"}))
        .await;
    stage
        .config_when("shop", "has the new token", |config| {
            config["featureFlags"]["clientAccessToken"] == "other"
        })
        .await;
}

#[tokio::test]
async fn a_database_secret_without_its_port_is_said_to_lack_it() {
    let stage = Stage::shared("port").await;
    stage
        .ready_environment(json!({"providers": {"db": {"mode": "local"}}}))
        .await;
    let half = json!({"hostname": "db.test", "username": "keeper", "password": "p", "pgPass": "a", "port": "many"});
    stage.put_secret("shop-db", json!({}), half).await;
    let mut app = web_app();
    merge(&mut app, &json!({"database": {"name": "goods"}}));
    stage.create_app("shop", app).await;
    // As long as the Secret is not known, it is only said to be in the way.
    let text = stage.app_failed("shop", "couldn't convert to int").await;
    assert!(text.contains("database"), "{text}");
    assert_eq!(stage.find(CLAIM, "shop-db").await, None);
    assert_eq!(
        stage.find(SECRET, "shop").await,
        None,
        "nothing half-written"
    );
}

#[tokio::test]
async fn an_app_with_a_thousand_deployments_is_an_app() {
    const COUNT: usize = 1000;
    const PATIENCE: Duration = Duration::from_mins(1);
    let stage = Stage::shared("thousand").await;
    stage.ready_environment(json!({})).await;
    let deployments: Vec<Value> = (0..COUNT)
        .map(|number| {
            json!({
                "name": format!("d{number}"), "replicas": 0,
                "podSpec": {"image": "registry.test/shop:1"},
            })
        })
        .collect();
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.create_app("stock", web_app()).await;
    stage.app_done("stock").await;
    // Three thousand objects take their time; as long as there is progress, there is hope.
    let mut before = 0;
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let mut count = 0;
        for kind in [SERVICE_ACCOUNT, SERVICE, DEPLOYMENT] {
            count += stage.names(kind).await.len();
        }
        if count >= 3 * COUNT {
            break;
        }
        if count > before {
            (before, since) = (count, Instant::now());
        }
        assert!(since.elapsed() < PATIENCE, "stuck at {count} objects");
    }
    let app = stage.app_done("shop").await;
    assert_eq!(app["status"]["deployments"]["managedDeployments"], COUNT);
    let config = stage.config("shop").await;
    let told = config["metadata"]["deployments"].as_array().unwrap();
    assert_eq!(told.len(), COUNT);
}

#[tokio::test]
async fn an_object_with_too_many_items_is_refused_with_its_path_and_others_go_on() {
    let stage = Stage::shared("items").await;
    stage.ready_environment(json!({})).await;
    let with = |count: usize| {
        let variables = (0..count).map(|number| json!({"name": format!("V{number}")}));
        let variables: Vec<Value> = variables.collect();
        let mut app = web_app();
        app["deployments"][0]["podSpec"]["env"] = json!(variables);
        app
    };
    stage.create_app("shop", with(10_001)).await;
    stage.create_app("stock", web_app()).await;
    let text = stage.app_failed("shop", "at most 10000").await;
    assert!(text.contains("spec.template.spec.containers.env"), "{text}");
    stage.app_done("stock").await;
    stage.patch_app("shop", json!({"spec": with(5_000)})).await;
    stage.app_done("shop").await;
    let deployment = stage.get(DEPLOYMENT, "shop-web").await;
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert!(container["env"].as_array().unwrap().len() >= 5_000);
}
