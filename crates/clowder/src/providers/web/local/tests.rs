mod gateway;
mod hostname;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_engine::object_set::Desired;
use serde_json::{Value, json};

use super::super::Web;
use crate::{
    kinds,
    providers::{
        cronjob::CronJobs,
        deployment::Deployments,
        fixture::{Case, Rendered, case, secret},
        images,
    },
};

/// Mode `local` with these settings, and an environment that has chosen its host.
fn local(settings: &Value, app: Value) -> Case {
    let mut web = json!({"mode": "local", "port": 8100});
    for (field, value) in settings.as_object().unwrap() {
        web[field] = value.clone();
    }
    let mut case = case(json!({"web": web}), app);
    case.environment["status"] = json!({"hostname": "stage.apps.example.com"});
    case
}

fn environment(settings: &Value) -> Case {
    local(settings, json!({}))
}

fn passwords(version: &str) -> Value {
    let values = json!({
        "username": "admin", "password": "old", "defaultUsername": "jdoe", "defaultPassword": "door",
        "version": version, "bopurl": "http://elsewhere:1",
    });
    secret("stage-env", "stage-keycloak", values)
}

fn render(case: &Case) -> Rendered {
    case.render_environment(&Web).unwrap()
}

fn data(rendered: &Rendered, name: &str, key: &str) -> String {
    let text = rendered.object("Secret", name)["data"][key].as_str();
    let bytes = STANDARD.decode(text.unwrap()).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn annotations<'set>(rendered: &'set Rendered, deployment: &str) -> &'set Value {
    let deployment = rendered.object("Deployment", deployment);
    &deployment["spec"]["template"]["metadata"]["annotations"]
}

/// Hosts, paths and backends of an Ingress.
fn ways(ingress: &Value) -> Vec<String> {
    let rule = &ingress["spec"]["rules"][0];
    let paths = rule["http"]["paths"].as_array().unwrap().iter();
    paths
        .map(|path| {
            let service = &path["backend"]["service"];
            let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            [
                word(&rule["host"]) + &word(&path["path"]),
                word(&path["pathType"]),
                word(&service["name"]),
                word(&service["port"]["name"]),
            ]
            .join(" ")
        })
        .collect()
}

#[test]
fn an_environment_has_a_login_server_stand_ins_and_ways_in() {
    let rendered = render(&environment(&json!({})));
    let mut names = rendered.names();
    names.sort();
    assert_eq!(
        names,
        [
            "Deployment stage-env/keycloak-db",
            "Deployment stage-env/stage-keycloak",
            "Deployment stage-env/stage-mbop",
            "Deployment stage-env/stage-mocktitlements",
            "Ingress stage-env/stage-auth",
            "Ingress stage-env/stage-mbop",
            "Ingress stage-env/stage-mocktitlements",
            "Secret stage-env/caddy-config-mbop",
            "Secret stage-env/caddy-config-mocktitlements",
            "Secret stage-env/keycloak-db",
            "Secret stage-env/stage-keycloak",
            "Secret stage-env/stage-keycloak-realm-import",
            "Service stage-env/keycloak-db",
            "Service stage-env/stage-keycloak",
            "Service stage-env/stage-mbop",
            "Service stage-env/stage-mocktitlements",
        ]
    );
    let host = "stage.apps.example.com";
    for (name, expected) in [
        (
            "stage-auth",
            vec![
                "stage-auth.apps.example.com/ Prefix stage-keycloak keycloak".to_owned(),
                "stage-auth.apps.example.com/auth/realms/redhat-external/apis/service_accounts/v1 Prefix \
                 stage-mocktitlements auth"
                    .to_owned(),
            ],
        ),
        (
            "stage-mbop",
            vec![
                format!("{host}/v1/registrations Prefix stage-mbop auth"),
                format!("{host}/v1/check_registration Prefix stage-mbop auth"),
            ],
        ),
        (
            "stage-mocktitlements",
            vec![format!("{host}/api/entitlements/ Prefix stage-mocktitlements auth")],
        ),
    ] {
        let ingress = rendered.object("Ingress", name);
        assert_eq!(ways(ingress), expected);
        assert_eq!(ingress["spec"]["tls"], json!([{}]), "{name}");
        assert_eq!(ingress["spec"]["ingressClassName"], "nginx");
        assert_eq!(ingress["metadata"]["labels"], json!({"app": "stage"}));
    }
    let secrets = ["keycloak-db", "stage-keycloak"];
    for entry in rendered.set.iter() {
        let is_made_up = entry.key.kind == kinds::SECRET && secrets.contains(&&*entry.key.name);
        let Desired::Present { options, .. } = &entry.desired else {
            panic!("{} is not wanted", entry.key);
        };
        assert_eq!(options.generated_first, is_made_up, "{}", entry.key);
    }
}

#[test]
fn keycloak_is_told_of_its_database_and_its_realm() {
    let mut persistent = environment(&json!({"keycloakPVC": true}));
    persistent.environment["spec"]["serviceConfig"] = json!({"type": "NodePort"});
    let rendered = render(&persistent);
    let claim = rendered.object("PersistentVolumeClaim", "keycloak-db");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "1Gi");
    let database = rendered.object("Deployment", "keycloak-db");
    assert_eq!(database["spec"]["strategy"]["type"], "Recreate");
    assert_eq!(
        database["metadata"]["labels"],
        json!({"app": "stage", "service": "db", "sub": "keycloak"})
    );
    let variables = &rendered.pod("keycloak-db")["containers"][0]["env"];
    assert_eq!(
        variables[1]["value"],
        data(&rendered, "keycloak-db", "password")
    );
    assert_eq!(
        data(&rendered, "keycloak-db", "hostname"),
        "keycloak-db.stage-env.svc"
    );

    let pod = rendered.pod("stage-keycloak");
    let container = &pod["containers"][0];
    assert_eq!(container["image"], images::KEYCLOAK);
    let references: Vec<String> = container["env"].as_array().unwrap()[4..]
        .iter()
        .map(|variable| {
            let key = &variable["valueFrom"]["secretKeyRef"];
            let word = |value: &Value| value.as_str().unwrap().to_owned();
            format!(
                "{}={}/{}",
                word(&variable["name"]),
                word(&key["name"]),
                word(&key["key"])
            )
        })
        .collect();
    assert_eq!(
        references,
        [
            "KC_DB_USERNAME=keycloak-db/username",
            "KC_DB_PASSWORD=keycloak-db/password",
            "KC_DB_URL_DATABASE=keycloak-db/name",
            "KC_DB_URL_HOST=keycloak-db/hostname",
            "KEYCLOAK_ADMIN=stage-keycloak/username",
            "KEYCLOAK_ADMIN_PASSWORD=stage-keycloak/password",
        ]
    );
    assert_eq!(
        container["livenessProbe"]["httpGet"]["path"],
        "auth/health/live"
    );
    assert_eq!(
        container["readinessProbe"]["httpGet"]["path"],
        "auth/health/ready"
    );
    assert_eq!(
        pod["volumes"][0]["secret"]["secretName"],
        "stage-keycloak-realm-import"
    );
    let realm: Value = serde_json::from_str(&data(
        &rendered,
        "stage-keycloak-realm-import",
        super::realm::FILE,
    ))
    .unwrap();
    assert_eq!(
        realm["users"][0]["credentials"][0]["value"],
        data(&rendered, "stage-keycloak", "defaultPassword")
    );
    for (service, kind) in [
        ("stage-keycloak", "NodePort"),
        ("stage-mbop", "NodePort"),
        ("keycloak-db", "ClusterIP"),
    ] {
        assert_eq!(
            rendered.object("Service", service)["spec"]["type"],
            kind,
            "{service}"
        );
    }
}

#[test]
fn passwords_stay_and_only_the_version_of_keycloak_is_brought_up_to_date() {
    let kept = render(&environment(&json!({})).among([passwords("23.0.1")]));
    let names = kept.names();
    assert!(
        !names.contains(&"Secret stage-env/stage-keycloak".to_owned()),
        "{names:?}"
    );
    let newer = environment(&json!({"keycloakVersion": "24.0.0"})).among([passwords("23.0.1")]);
    let rendered = render(&newer);
    assert_eq!(data(&rendered, "stage-keycloak", "version"), "24.0.0");
    assert_eq!(data(&rendered, "stage-keycloak", "password"), "old");
    assert_eq!(
        rendered.pod("stage-keycloak")["containers"][0]["image"],
        images::KEYCLOAK
    );
    let fresh = render(&environment(&json!({"keycloakVersion": "24.0.0"})));
    assert_eq!(data(&fresh, "stage-keycloak", "version"), "24.0.0");
    assert_eq!(data(&fresh, "stage-keycloak", "username").len(), 8);
    assert_eq!(
        data(&fresh, "stage-keycloak", "bopurl"),
        "http://stage-mbop.stage-env.svc:8090"
    );
}

#[test]
fn stand_ins_ask_for_a_sidecar_and_restart_with_what_it_is_told() {
    let images = json!({"caddy": "auth:1", "mockBop": "bop:1", "mocktitlements": "mock:1"});
    let rendered = render(&environment(&json!({"images": images})).among([passwords("23.0.1")]));
    assert_eq!(
        annotations(&rendered, "stage-mbop"),
        &json!({
            "clowder/authsidecar-image": "auth:1", "clowder/authsidecar-enabled": "true",
            "clowder/authsidecar-port": "8090", "clowder/authsidecar-config": "caddy-config-mbop",
            "clowder/authsidecar-confighash": MBOP_HASH,
        })
    );
    assert_eq!(
        data(&rendered, "caddy-config-mbop", "bopurl"),
        "http://127.0.0.1:8090"
    );
    assert_eq!(
        data(&rendered, "caddy-config-mocktitlements", "bopurl"),
        "http://elsewhere:1"
    );
    assert_eq!(
        rendered.pod("stage-mbop")["containers"][0]["image"],
        "bop:1"
    );
    assert_eq!(
        rendered.pod("stage-mocktitlements")["containers"][0]["image"],
        "mock:1"
    );
    let ports = &rendered.object("Service", "stage-mocktitlements")["spec"]["ports"];
    let named: Vec<(&Value, &Value)> = ports
        .as_array()
        .unwrap()
        .iter()
        .map(|port| (&port["name"], &port["port"]))
        .collect();
    assert_eq!(
        named,
        [
            (&json!("mocktitlements"), &json!(8090)),
            (&json!("auth"), &json!(8080))
        ]
    );
}

/// Of `{"bopurl":"http://127.0.0.1:8090","keycloakurl":"http://stage-keycloak.stage-env.svc:8080","whitelist":""}`.
const MBOP_HASH: &str = "0c8bb27b956c37970d35e169e1adabd492d1896f9308cd89400ec4061ced4fbc";
/// Of the same for an app, with `/open,/a?x=1\u0026y` as its whitelist.
const OPEN_HASH: &str = "e7e60762be8d76c1409c9b9152cf9fe3e79185255aeb9064dceddcf5bf14ce57";
/// Of the same for an app without a whitelist.
const SHUT_HASH: &str = "f8226d9ce57b9b132f722dbd512f66f90d19a2b9b9796cca79837b2e93067b34";

#[test]
fn every_deployment_of_an_app_is_told_who_may_come_in() {
    let app = json!({
        "deployments": [
            {"name": "api", "webServices": {"public": {
                "enabled": true, "apiPath": "goods", "whitelistPaths": ["/open", "/a?x=1&y"]}}},
            {"name": "paths", "webServices": {"public": {"enabled": true, "apiPaths": ["/api/a/", "/api/b/"]}}},
            {"name": "old", "web": true},
            {"name": "worker"},
        ],
        "jobs": [{"name": "sweep", "schedule": "@daily"}],
    });
    let tls = json!({"tls": {"port": 8800, "privatePort": 8801}});
    let rendered = local(&tls, app)
        .render(&[&CronJobs, &Deployments, &Web])
        .unwrap();
    assert_eq!(rendered.config["hostname"], "stage.apps.example.com");
    for (name, expected) in [
        (
            "shop-api",
            &["stage.apps.example.com/api/goods/ Prefix shop-api auth"][..],
        ),
        (
            "shop-paths",
            &[
                "stage.apps.example.com/api/a/ Prefix shop-paths auth",
                "stage.apps.example.com/api/b/ Prefix shop-paths auth",
            ],
        ),
        (
            "shop-old",
            &["stage.apps.example.com/api/shop-old/ Prefix shop-old auth"],
        ),
    ] {
        let ingress = rendered.object("Ingress", name);
        assert_eq!(ways(ingress), expected);
        assert_eq!(ingress["metadata"]["labels"], json!({"app": "shop"}));
        assert_eq!(
            ingress["metadata"]["ownerReferences"][0]["kind"],
            "ClowdApp"
        );
        assert_eq!(
            annotations(&rendered, name)["clowder/authsidecar-enabled"],
            "true"
        );
        assert_eq!(
            annotations(&rendered, name)["clowder/authsidecar-port"],
            "8100"
        );
    }
    let ingresses = rendered
        .names()
        .into_iter()
        .filter(|name| name.starts_with("Ingress"));
    assert_eq!(ingresses.count(), 3);
    let config = rendered.object("Secret", "caddy-config-shop-api");
    assert_eq!(config["metadata"]["namespace"], "market");
    assert_eq!(config["metadata"]["labels"], Value::Null);
    assert_eq!(
        config["metadata"]["ownerReferences"][0]["kind"],
        "ClowdEnvironment"
    );
    assert_eq!(
        data(&rendered, "caddy-config-shop-api", "whitelist"),
        "/open,/a?x=1&y"
    );
    assert_eq!(
        annotations(&rendered, "shop-api")["clowder/authsidecar-confighash"],
        OPEN_HASH
    );
    assert_eq!(
        annotations(&rendered, "shop-worker"),
        &json!({"clowder/authsidecar-confighash": SHUT_HASH})
    );
    assert_eq!(data(&rendered, "caddy-config-shop-worker", "whitelist"), "");
    // The service CA is for deployments; unlike in other modes, jobs go without.
    assert_eq!(rendered.pod("shop-worker")["volumes"][1]["name"], "tls-ca");
    let job = &rendered.object("CronJob", "shop-sweep")["spec"]["jobTemplate"]["spec"]["template"]
        ["spec"];
    assert_eq!(job["volumes"].as_array().unwrap().len(), 1);
}
