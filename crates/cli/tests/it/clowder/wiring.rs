//! How apps find each other: ports, certificates, dependencies, metrics, logging.

use serde_json::{Value, json};

use super::stage::{
    CONFIG_MAP, DEPLOYMENT, ROLE_BINDING, SERVICE, SERVICE_MONITOR, Stage, create, deployment,
    each, merge, web_app,
};

fn with(name: &str, services: &Value) -> Value {
    let mut deployment = deployment(name);
    merge(&mut deployment, &json!({"webServices": services}));
    deployment
}

fn volumes(deployment: &Value) -> Vec<Value> {
    each(&deployment["spec"]["template"]["spec"]["volumes"], "name")
}

fn containers(deployment: &Value) -> Vec<Value> {
    each(
        &deployment["spec"]["template"]["spec"]["containers"],
        "name",
    )
}

const SERVING_CERTIFICATE: &str = "service.beta.openshift.io/serving-cert-secret-name";

#[tokio::test]
async fn a_deployment_may_opt_into_tls_alone() {
    let stage = Stage::shared("tls-in").await;
    let tls = json!({"enabled": false, "port": 8443, "privatePort": 8444});
    stage
        .ready_environment(json!({"providers": {"web": {"tls": tls}}}))
        .await;
    let deployments = json!([
        with("safe", &json!({"public": {"tls": true}})),
        deployment("open")
    ]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;

    let safe = stage.get(SERVICE, "shop-safe").await;
    assert_eq!(
        each(&safe["spec"]["ports"], "name"),
        [json!("public"), json!("tls"), json!("metrics")]
    );
    assert_eq!(
        safe["metadata"]["annotations"][SERVING_CERTIFICATE],
        "shop-safe-serving-cert"
    );
    let deployment = stage.get(DEPLOYMENT, "shop-safe").await;
    assert_eq!(
        containers(&deployment),
        [json!("shop-safe"), json!("caddy-tls")]
    );
    let expected = ["config-secret", "caddy-config", "caddy-tls", "tls-ca"];
    assert_eq!(volumes(&deployment), expected.map(|name| json!(name)));
    let caddy = stage.get(CONFIG_MAP, "shop-safe-caddy-config").await;
    let caddy = caddy["data"]["caddy.json"].as_str().unwrap();
    let caddy: Value = serde_json::from_str(caddy).unwrap();
    let servers = &caddy["apps"]["http"]["servers"];
    assert_eq!(servers["pubServer"]["listen"], json!([":8443"]));
    assert_eq!(servers.as_object().unwrap().len(), 1);

    let open = stage.get(DEPLOYMENT, "shop-open").await;
    assert_eq!(containers(&open), [json!("shop-open")]);
    let config = stage.config("shop").await;
    assert!(config["tlsCAPath"].is_null());
    let endpoints = &config["endpoints"];
    assert_eq!(endpoints[0]["tlsPort"], 8443);
    assert_eq!(endpoints[0]["tlsCAPath"], "/cdapp/certs/service-ca.crt");
    assert_eq!(endpoints[1]["tlsPort"], 0);
    assert!(endpoints[1]["tlsCAPath"].is_null());
}

#[tokio::test]
async fn a_deployment_may_opt_out_of_tls_alone() {
    let stage = Stage::shared("tls-out").await;
    let tls = json!({"enabled": true, "port": 8443, "privatePort": 8444});
    stage
        .ready_environment(json!({"providers": {"web": {"tls": tls}}}))
        .await;
    let open = with("open", &json!({"public": {"tls": false}}));
    stage
        .create_app("shop", json!({"deployments": [open]}))
        .await;
    stage.app_done("shop").await;
    let deployment = stage.get(DEPLOYMENT, "shop-open").await;
    assert_eq!(containers(&deployment), [json!("shop-open")]);
    assert_eq!(
        volumes(&deployment),
        [json!("config-secret"), json!("tls-ca")]
    );
    let config = stage.config("shop").await;
    assert_eq!(config["tlsCAPath"], "/cdapp/certs/service-ca.crt");
    assert_eq!(config["endpoints"][0]["tlsPort"], 0);
}

#[tokio::test]
async fn an_h2c_target_moves_the_container_and_not_the_service() {
    let stage = Stage::shared("h2c").await;
    stage
        .ready_environment(json!({"providers": {"web": {"h2cPort": 9001}}}))
        .await;
    let services = json!({"public": {"h2cEnabled": true, "h2cTargetPort": 7070}});
    let deployments = json!([with("fast", &services)]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;
    let service = stage.get(SERVICE, "shop-fast").await;
    let port = &service["spec"]["ports"][1];
    assert_eq!(port["name"], "h2c");
    assert_eq!(port["port"], 9001);
    assert_eq!(port["targetPort"], 7070);
    assert_eq!(port["appProtocol"], "kubernetes.io/h2c");
    let deployment = stage.get(DEPLOYMENT, "shop-fast").await;
    let ports = &super::stage::container(&deployment)["ports"];
    assert_eq!(ports[1]["containerPort"], 7070);
    let config = stage.config("shop").await;
    assert_eq!(config["h2cPublicPort"], 9001);
    assert_eq!(config["endpoints"][0]["h2cPort"], 9001);
}

#[tokio::test]
async fn node_ports_stay_when_a_service_changes() {
    let stage = Stage::shared("nodeport").await;
    stage
        .ready_environment(json!({"serviceConfig": {"type": "NodePort"}}))
        .await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let first = stage.get(SERVICE, "shop-web").await;
    assert_eq!(first["spec"]["type"], "NodePort");
    let numbers = each(&first["spec"]["ports"], "nodePort");
    assert!(numbers.iter().all(Value::is_i64), "{numbers:?}");

    let more = with("web", &json!({"private": {"enabled": true}}));
    stage
        .patch_app("shop", json!({"spec": {"deployments": [more]}}))
        .await;
    stage.app_done("shop").await;
    let second = stage.get(SERVICE, "shop-web").await;
    let names = each(&second["spec"]["ports"], "name");
    assert_eq!(names, [json!("public"), json!("private"), json!("metrics")]);
    let after = each(&second["spec"]["ports"], "nodePort");
    assert_eq!([&after[0], &after[2]], [&numbers[0], &numbers[1]]);
}

/// A reference to an app of another cluster.
fn app_ref(stage: &Stage, name: &str, serves: &[&str]) -> Value {
    json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdAppRef",
        "metadata": {"name": name},
        "spec": {
            "envName": stage.environment, "serves": serves,
            "remoteCluster": {"name": "far", "region": "away"},
            "remoteEnvironment": {"name": "stage", "region": "away"},
            "deployments": [{
                "name": "web", "hostname": "stock.far.test",
                "webServices": {"public": {"enabled": true}},
            }],
        },
    })
}

#[tokio::test]
async fn a_reference_replaces_an_app_for_those_it_serves() {
    let stage = Stage::shared("refs").await;
    stage.ready_environment(json!({})).await;
    create(&stage.app_refs(), app_ref(&stage, "stock", &["served"])).await;
    stage.create_app("stock", web_app()).await;
    stage.app_done("stock").await;
    let own = format!("stock-web.{}.svc", stage.namespace.name);
    for (name, expected) in [("served", "stock.far.test"), ("other", own.as_str())] {
        let mut app = web_app();
        merge(&mut app, &json!({"dependencies": ["stock"]}));
        stage.create_app(name, app).await;
        stage.app_done(name).await;
        // Apps and references are heard of independently: the app may be done before its reference is known.
        let config = stage
            .config_when(name, &format!("leads to {expected}"), |config| {
                config["endpoints"][1]["hostname"] == expected
            })
            .await;
        let uri = &config["dependencyEndpoints"]["v2"]["stock"]["web"]["uri"];
        assert_eq!(*uri, format!("http://{expected}:8000"));
    }
}

#[tokio::test]
async fn a_missing_dependency_writes_nothing_and_heals_when_an_app_or_a_reference_appears() {
    let stage = Stage::shared("missing").await;
    stage.ready_environment(json!({})).await;
    let mut app = web_app();
    merge(&mut app, &json!({"dependencies": ["stock", "prices"]}));
    stage.create_app("shop", app).await;
    let both = "runapp: dependencies: Missing dependencies: [source: service, details: stock; source: service, details: prices]";
    assert_eq!(stage.app_failed("shop", "Missing").await, both);
    assert!(stage.names(DEPLOYMENT).await.is_empty());
    assert!(stage.names(SERVICE).await.is_empty());
    let warning = "Warning FailedReconciliation: Clowdapp requeued [shop]";
    stage.event(&stage.namespace.name, "shop", warning).await;

    stage.create_app("stock", web_app()).await;
    let one = "Missing dependencies: [source: service, details: prices]";
    stage.app_failed("shop", one).await;
    create(&stage.app_refs(), app_ref(&stage, "prices", &[])).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    let apps = each(&config["endpoints"], "app");
    assert_eq!(apps, [json!("shop"), json!("stock"), json!("prices")]);
}

#[tokio::test]
async fn an_optional_dependency_shows_up_when_it_appears_and_leaves_when_it_goes() {
    let stage = Stage::shared("optional").await;
    stage.ready_environment(json!({})).await;
    let mut app = web_app();
    merge(&mut app, &json!({"optionalDependencies": ["stock"]}));
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    assert_eq!(each(&config["endpoints"], "app"), [json!("shop")]);

    stage.create_app("stock", web_app()).await;
    let both = [json!("shop"), json!("stock")];
    stage
        .config_when("shop", "knows stock", |config| {
            each(&config["endpoints"], "app") == both
        })
        .await;
    stage.delete_app("stock").await;
    stage
        .config_when("shop", "has forgotten stock", |config| {
            each(&config["endpoints"], "app") == [json!("shop")]
        })
        .await;
}

#[tokio::test]
async fn apps_that_depend_on_each_other_find_each_other() {
    let stage = Stage::shared("circle").await;
    stage.ready_environment(json!({})).await;
    for (name, other) in [("left", "right"), ("right", "left")] {
        let mut app = web_app();
        merge(&mut app, &json!({"dependencies": [other]}));
        stage.create_app(name, app).await;
    }
    for (name, other) in [("left", "right"), ("right", "left")] {
        stage.app_done(name).await;
        let config = stage.config(name).await;
        assert_eq!(
            each(&config["endpoints"], "app"),
            [json!(name), json!(other)]
        );
    }
}

#[tokio::test]
async fn a_monitor_of_somebody_else_does_not_keep_an_app_from_its_pods() {
    let stage = Stage::shared("monitored").await;
    stage
        .ready_environment(json!({"providers": {"metrics": {"mode": "operator"}}}))
        .await;
    let foreign = json!({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
        "metadata": {"name": "shop-web"},
        "spec": {"selector": {"matchLabels": {"app": "another"}}, "endpoints": []},
    });
    create(&stage.api(SERVICE_MONITOR), foreign).await;
    stage.create_app("shop", web_app()).await;
    let text = stage.app_failed("shop", "ServiceMonitor").await;
    assert!(text.contains("was not created by this operator"), "{text}");
    for (kind, name) in [(DEPLOYMENT, "shop-web"), (SERVICE, "shop-web")] {
        stage.get(kind, name).await;
    }
    let monitor = stage.get(SERVICE_MONITOR, "shop-web").await;
    let selected = &monitor["spec"]["selector"]["matchLabels"];
    assert_eq!(selected, &json!({"app": "another"}), "untouched");
}

#[tokio::test]
async fn metrics_of_the_operator_mode_are_scraped() {
    let stage = Stage::shared("metrics").await;
    stage
        .ready_environment(json!({"providers": {"metrics": {"mode": "operator"}}}))
        .await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let monitor = stage.get(SERVICE_MONITOR, "shop-web").await;
    assert_eq!(
        monitor["spec"],
        json!({
            "endpoints": [{"interval": "15s", "path": "/metrics", "port": "metrics"}],
            "namespaceSelector": {"matchNames": [stage.namespace.name]},
            "selector": {"matchLabels": {"pod": "shop-web"}},
        })
    );
    assert_eq!(
        monitor["metadata"]["ownerReferences"][0]["kind"],
        "ClowdEnvironment"
    );
    let binding = stage.get(ROLE_BINDING, "shop").await;
    assert_eq!(binding["roleRef"]["name"], "clowder-prometheus");
    assert_eq!(binding["subjects"][0]["namespace"], stage.namespace.name);
}

#[tokio::test]
async fn logging_without_a_service_is_said_in_full() {
    let stage = Stage::shared("logging").await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", web_app()).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    let nothing = json!({
        "cloudwatch": {"accessKeyId": "", "logGroup": "", "region": "", "secretAccessKey": ""},
        "type": "null",
    });
    assert_eq!(config["logging"], nothing);
}
