//! Web mode `local`: a login server for the environment, and ways in from outside.

use kube::api::{DeleteParams, Patch, PatchParams};
use mainstay_testkit::{
    Program,
    audit::Mark,
    namespace::{object_gone, object_when},
    plane::dynamic,
};
use serde_json::{Value, json};

use super::stage::{
    CERTIFICATE, CONFIG_MAP, DEPLOYMENT, INGRESS, ISSUER, RunningOperator, SECRET, SERVICE, Stage,
    create, deployment, each, failure, web_app, web_local,
};
use crate::mainstay;

fn hosts(ingress: &Value) -> Vec<Value> {
    each(&ingress["spec"]["rules"], "host")
}

#[tokio::test]
async fn an_environment_gets_a_login_server_and_its_apps_ways_in() {
    let stage = Stage::shared("local").await;
    let environment = stage.ready_environment(web_local(&json!({}))).await;
    let name = stage.environment.as_str();
    assert_eq!(environment["status"]["hostname"], name);
    assert_eq!(
        environment["status"]["deployments"]["managedDeployments"],
        4
    );

    let mut app = web_app();
    let worker =
        json!({"name": "worker", "replicas": 0, "podSpec": {"image": "registry.test/shop:1"}});
    app["deployments"].as_array_mut().unwrap().push(worker);
    stage.create_app("shop", app.clone()).await;
    stage.app_ready("shop").await;
    assert_eq!(stage.config("shop").await["hostname"], name);
    let ingress = stage.get(INGRESS, "shop-web").await;
    assert_eq!(hosts(&ingress), [json!(name)]);
    let backend = &ingress["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!(backend["path"], "/api/shop-web/");
    assert_eq!(backend["backend"]["service"]["port"]["name"], "auth");
    assert_eq!(
        hosts(&stage.get(INGRESS, &format!("{name}-auth")).await),
        [json!(format!("{name}-auth"))]
    );
    let service = stage.get(SERVICE, "shop-web").await;
    let ports = each(&service["spec"]["ports"], "name");
    assert_eq!(ports, [json!("public"), json!("auth"), json!("metrics")]);
    for deployment in ["shop-web", "shop-worker"] {
        let config = stage
            .get(SECRET, &format!("caddy-config-{deployment}"))
            .await;
        let owner = &config["metadata"]["ownerReferences"][0];
        assert_eq!(owner["kind"], "ClowdEnvironment", "{deployment}");
    }

    // A deployment that is no longer public loses its way in; what the sidecar was told stays.
    app["deployments"][0]["webServices"]["public"]["enabled"] = json!(false);
    stage.patch_app("shop", json!({"spec": app})).await;
    stage.app_done("shop").await;
    stage.gone(INGRESS, "shop-web").await;
    stage.get(SECRET, "caddy-config-shop-web").await;
    let pods = stage.get(DEPLOYMENT, "shop-web").await["spec"]["template"]["metadata"].clone();
    assert_eq!(pods["annotations"]["clowder/authsidecar-enabled"], "true");
}

#[tokio::test]
async fn what_was_made_up_stays_when_keycloak_gets_another_version() {
    let stage = Stage::shared("keycloak").await;
    stage.ready_environment(web_local(&json!({}))).await;
    let name = format!("{}-keycloak", stage.environment);
    let (old, database) = (stage.secret(&name).await, stage.secret("keycloak-db").await);
    assert_eq!((old["username"].len(), old["password"].len()), (8, 16));
    assert_eq!(
        (old["defaultPassword"].len(), old["version"].as_str()),
        (16, "23.0.1")
    );
    let realm_name = format!("{name}-realm-import");
    let realm = stage.secret(&realm_name).await;
    let document: Value = serde_json::from_str(&realm["redhat-external-realm.json"]).unwrap();
    let password = &document["users"][0]["credentials"][0]["value"];
    assert_eq!(*password, old["defaultPassword"].as_str());

    let newer = json!({"spec": web_local(&json!({"keycloakVersion": "24.0.0"}))});
    stage.patch_environment(newer).await;
    stage.environment_ready().await;
    let mut expected = old.clone();
    expected.insert("version".to_owned(), "24.0.0".to_owned());
    assert_eq!(stage.secret(&name).await, expected);
    assert_eq!(stage.secret("keycloak-db").await, database);
    assert_eq!(stage.secret(&realm_name).await, realm);
}

#[tokio::test]
async fn the_gateway_follows_the_apps_of_its_environment() {
    let stage = Stage::shared("gateway").await;
    let settings = json!({"gatewayCert": {"enabled": true, "certMode": "self-signed"}});
    let environment = stage.ready_environment(web_local(&settings)).await;
    assert_eq!(
        environment["status"]["deployments"]["managedDeployments"],
        5
    );
    let name = format!("{}-caddy-gateway", stage.environment);
    let host = format!("{}-cert", stage.environment);
    let certificate = stage.get(CERTIFICATE, "caddy-gateway").await;
    assert_eq!(certificate["spec"]["dnsNames"], json!([host]));
    assert_eq!(certificate["spec"]["secretName"], json!(name));
    let issuer = stage.get(ISSUER, &stage.namespace.name).await;
    assert_eq!(issuer["spec"], json!({"selfSigned": {}}));
    assert_eq!(hosts(&stage.get(INGRESS, &name).await), [json!(host)]);

    let route = "/api/web/*";
    let leads_there = |config: &Value| {
        let text = config["data"]["Caddyfile.json"].as_str();
        text.is_some_and(|text| text.contains(route))
    };
    let before = stage.get(CONFIG_MAP, &name).await;
    assert!(!leads_there(&before));
    let old = stage.get(DEPLOYMENT, &name).await;
    stage.create_app("shop", web_app()).await;
    object_when(
        &stage.api(CONFIG_MAP),
        &name,
        "leads to the app",
        leads_there,
    )
    .await;
    let hash = |deployment: &Value| {
        let metadata = &deployment["spec"]["template"]["metadata"];
        metadata["annotations"]["clowder/authsidecar-confighash"].clone()
    };
    let restarts = |new: &Value| hash(new) != hash(&old);
    object_when(&stage.api(DEPLOYMENT), &name, "restarts", restarts).await;
    stage.delete_app("shop").await;
    let leads_nowhere = |config: &Value| !leads_there(config);
    object_when(
        &stage.api(CONFIG_MAP),
        &name,
        "forgets the app",
        leads_nowhere,
    )
    .await;
}

#[tokio::test]
async fn an_issuer_without_an_address_is_refused_before_anything_is_written() {
    let stage = Stage::shared("acme").await;
    let acme = |address: &str| {
        web_local(
            &json!({"gatewayCert": {"enabled": true, "certMode": "acme", "emailAddress": address}}),
        )
    };
    stage.create_environment(acme("")).await;
    let text = "runprov: web: could not get env.Spec.EmailAddress for Cert";
    let environment = stage
        .environment_when("says what is missing", |environment| {
            failure(environment).is_some_and(|message| message == text)
        })
        .await;
    assert_eq!(
        environment["status"]["hostname"],
        stage.environment.as_str()
    );
    assert_eq!(stage.names(SECRET).await, Vec::<String>::new());
    assert_eq!(stage.names(DEPLOYMENT).await, Vec::<String>::new());
    let repaired = json!({"spec": acme("ops@example.com")});
    stage.patch_environment(repaired).await;
    stage.environment_ready().await;
    let issuer = stage.get(ISSUER, &stage.namespace.name).await;
    assert_eq!(issuer["spec"]["acme"]["email"], "ops@example.com");
}

#[tokio::test]
async fn the_host_below_the_domain_of_the_cluster_is_chosen_once() {
    let stage = Stage::alone("domain").await;
    let clusters = dynamic(
        &stage.namespace.client,
        "",
        "config.openshift.io/v1",
        "Ingress",
        "ingresses",
    );
    let cluster = |domain: &str| {
        json!({"apiVersion": "config.openshift.io/v1", "kind": "Ingress",
            "metadata": {"name": "cluster"}, "spec": {"domain": domain}})
    };
    create(&clusters, cluster("apps.example.com")).await;
    let operator = stage.operator(&[]).await;
    let environment = stage.ready_environment(web_local(&json!({}))).await;
    let host = environment["status"]["hostname"].clone();
    let text = host.as_str().unwrap();
    let random = text
        .strip_prefix("ee-")
        .and_then(|rest| rest.strip_suffix(".apps.example.com"));
    assert_eq!(random.map(str::len), Some(8), "{text}");
    let auth = text.replacen('.', "-auth.", 1);
    let ingress = format!("{}-auth", stage.environment);
    assert_eq!(hosts(&stage.get(INGRESS, &ingress).await), [json!(auth)]);

    // Neither another domain nor another life of the operator changes it.
    let patch = Patch::Merge(json!({"spec": {"domain": "other.example.com"}}));
    clusters
        .patch("cluster", &PatchParams::default(), &patch)
        .await
        .unwrap();
    drop(operator);
    let mark = Mark::now(stage.plane.audit_log());
    let _operator = stage.operator(&[]).await;
    mark.settled(&stage.namespace.name).await;
    let writes = mark.writes(&stage.namespace.name);
    assert!(writes.is_empty(), "a restart writes nothing: {writes:?}");
    assert_eq!(stage.environment_ready().await["status"]["hostname"], host);
    clusters
        .delete("cluster", &DeleteParams::default())
        .await
        .unwrap();
    object_gone(&clusters, "cluster").await;
}

#[tokio::test]
async fn without_cert_manager_the_rest_of_the_environment_works_and_the_gateway_is_named() {
    let plane = mainstay_testkit::plane::OwnPlane::start("tests-clowder-certless");
    super::kinds::install(&plane, false).await;
    let stage = Stage::own(&plane, "certless").await;
    let _operator = RunningOperator::start(&plane.kubeconfig(), &[]).await;
    stage
        .create_environment(web_local(&json!({"gatewayCert": {"enabled": true}})))
        .await;
    let message = |environment: &Value| failure(environment).unwrap_or_default();
    let environment = stage
        .environment_when("says what is missing", |environment| {
            message(environment).contains("the cluster does not serve")
        })
        .await;
    let text = message(&environment);
    assert!(
        text.contains("of cert-manager.io/v1; install its definition"),
        "{text}"
    );
    // Plain Kubernetes: there is no such kind as OpenShift's, either.
    assert_eq!(
        environment["status"]["hostname"],
        stage.environment.as_str()
    );
    let mut names = stage.names(DEPLOYMENT).await;
    names.retain(|name| name != "keycloak-db");
    let all = ["caddy-gateway", "keycloak", "mbop", "mocktitlements"];
    assert_eq!(
        names,
        all.map(|part| format!("{}-{part}", stage.environment))
    );

    let client = plane.client().await;
    for (kind, plural) in [("Issuer", "issuers"), ("Certificate", "certificates")] {
        let definition = super::kinds::definition("cert-manager.io", "v1", kind, plural);
        mainstay_testkit::plane::install_definition(&client, &definition).await;
    }
    stage.environment_ready().await;
    stage.get(CERTIFICATE, "caddy-gateway").await;
}

#[tokio::test]
async fn plan_and_apply_choose_the_host_as_the_operator_does() {
    let stage = Stage::alone("applied").await;
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("environment.json");
    let environment = stage.environment_with(&web_local(&json!({})));
    std::fs::write(&file, environment.to_string()).unwrap();
    let run = |word: &str| {
        let file = file.to_str().unwrap().to_owned();
        let mut arguments = vec![word.to_owned(), "-f".to_owned(), file];
        if word == "apply" {
            arguments.push("--yes".to_owned());
        }
        Program::new(mainstay(), arguments)
            .kubeconfig(&stage.plane.kubeconfig())
            .run()
    };
    let planned = run("plan").await;
    let name = format!("{}-auth", stage.environment);
    assert!(planned.stdout.contains(&name), "{planned}");
    run("apply").await.success();
    let ingress = stage.get(INGRESS, &name).await;
    assert_eq!(hosts(&ingress), [json!(name)]);
    let stored = stage.environments().get(&stage.environment).await.unwrap();
    assert_eq!(
        stored.data["status"]["hostname"],
        stage.environment.as_str()
    );
}

#[tokio::test]
async fn ports_that_collide_are_named() {
    let stage = Stage::shared("collision").await;
    let same_port = json!({"port": 8080});
    stage.ready_environment(web_local(&same_port)).await;
    let app = json!({"deployments": [deployment("web")]});
    stage.create_app("shop", app).await;
    let text = stage.app_failed("shop", "shop-web").await;
    assert!(text.contains("8080"), "{text}");
}
