//! The proxy for the assets of frontends.

use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::stage::{DEPLOYMENT, SERVICE, Stage, container, deployment, each, failure};

fn proxied(further: &Value) -> Value {
    let mut environment = json!({"providers": {"reverseProxy": {"mode": "ephemeral"}}});
    super::stage::merge(&mut environment, further);
    environment
}

#[tokio::test]
async fn the_proxy_of_an_environment_is_counted_mended_and_keeps_its_node_port() {
    let stage = Stage::shared("proxy").await;
    let environment = proxied(&json!({"serviceConfig": {"type": "NodePort"}}));
    let ready = stage.ready_environment(environment).await;
    let counts = &ready["status"]["deployments"];
    assert_eq!(counts["managedDeployments"], 1);
    assert_eq!(counts["readyDeployments"], 1);
    let name = format!("{}-reverse-proxy", stage.environment);
    let service = stage.get(SERVICE, &name).await;
    let port = service["spec"]["ports"][0]["nodePort"].clone();
    assert!(port.is_i64(), "{service}");

    let old = stage.get(DEPLOYMENT, &name).await;
    let params = DeleteParams::default();
    stage.api(DEPLOYMENT).delete(&name, &params).await.unwrap();
    mainstay_testkit::namespace::object_when(
        &stage.api(DEPLOYMENT),
        &name,
        "is there again",
        |new| new["metadata"]["uid"] != old["metadata"]["uid"],
    )
    .await;

    // The app makes sure of the proxy, too, and changes nothing about it.
    let app = json!({"deployments": [deployment("web")]});
    stage.create_app("shop", app).await;
    stage.app_ready("shop").await;
    let patch = json!({"spec": {"providers": {"reverseProxy": {"awsRegion": "eu-west-1"}}}});
    stage.patch_environment(patch).await;
    stage.environment_ready().await;
    let proxy = stage.get(DEPLOYMENT, &name).await;
    let variables = &container(&proxy)["env"];
    assert!(each(variables, "value").contains(&json!("eu-west-1")));
    let service = stage.get(SERVICE, &name).await;
    assert_eq!(service["spec"]["ports"][0]["nodePort"], port);
}

#[tokio::test]
async fn apps_wait_for_a_proxy_that_cannot_start_and_go_on_when_it_does() {
    let stage = Stage::shared("starved").await;
    stage.namespace.forbid_pods().await;
    stage.create_environment(proxied(&json!({}))).await;
    let name = format!("{}-reverse-proxy", stage.environment);
    let broken = format!(
        "dependency failure: [broken deployments: [{name}/{}]]",
        stage.namespace.name
    );
    stage
        .environment_when("says which Deployment is not ready", |environment| {
            let conditions = &environment["status"]["conditions"];
            let messages = each(conditions, "message");
            let says =
                |message: &Value| message.as_str().is_some_and(|text| text.ends_with(&broken));
            messages.iter().any(says)
        })
        .await;
    stage.create_app("shop", super::stage::web_app()).await;
    stage
        .app_when("shop", "waits", |app| {
            failure(app).is_some_and(|text| text == "clowd env not ready")
        })
        .await;
    assert!(stage.find(DEPLOYMENT, "shop-web").await.is_none());
    stage.namespace.allow_pods().await;
    stage.environment_ready().await;
    stage.app_ready("shop").await;
}
