use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case, secret};

fn local() -> Case {
    case(
        json!({"featureFlags": {"mode": "local", "pvc": true}}),
        json!({}),
    )
}

fn from_secret(name: &str, secret: &str, key: &str) -> Value {
    json!({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}})
}

#[test]
fn a_local_server_comes_with_database_edge_and_ingress() {
    let rendered = local().render_environment(&FeatureFlags).unwrap();
    assert_eq!(
        rendered.names(),
        [
            "Secret stage-env/stage-featureflags",
            "Deployment stage-env/stage-featureflags",
            "Service stage-env/stage-featureflags",
            "Secret stage-env/featureflags-db",
            "Deployment stage-env/featureflags-db",
            "Service stage-env/featureflags-db",
            "PersistentVolumeClaim stage-env/featureflags-db",
            "Deployment stage-env/stage-featureflags-edge",
            "Service stage-env/stage-featureflags-edge",
            "Ingress stage-env/stage-featureflags",
        ]
    );
    let ingress = rendered.object("Ingress", "stage-featureflags");
    assert_eq!(ingress["metadata"]["labels"], json!({"app": "stage"}));
    assert_eq!(
        ingress["spec"],
        json!({"ingressClassName": "nginx", "rules": [{"http": {"paths": [{
        "path": "/api/client/features", "pathType": "Prefix",
        "backend": {"service": {"name": "stage-featureflags-edge", "port": {"name": "unleash-edge"}}}}]}}]})
    );
    let database = &rendered.pod("featureflags-db")["containers"][0];
    assert!(
        database["image"]
            .as_str()
            .unwrap()
            .ends_with("/postgresql-rds:d44b8d1")
    );
    assert_eq!(database["env"][3]["value"], "unleash");
    assert_eq!(
        database["resources"]["limits"],
        json!({"cpu": "100m", "memory": "200Mi"})
    );
    assert_eq!(
        rendered.object("Deployment", "featureflags-db")["metadata"]["labels"]["sub"],
        "feature_flags"
    );
    let claim = rendered.object("PersistentVolumeClaim", "featureflags-db");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "1Gi");
}

#[test]
fn server_and_edge_are_as_the_original_makes_them() {
    let rendered = local().render_environment(&FeatureFlags).unwrap();
    let health = |delay| {
        json!({"httpGet": {"path": "/health", "port": 4242}, "initialDelaySeconds": delay, "timeoutSeconds": 4,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3})
    };
    let secret = "stage-featureflags";
    assert_eq!(
        rendered.pod("stage-featureflags")["containers"],
        json!([{
        "name": "stage-featureflags", "image": "unleashorg/unleash-server:5.6.9", "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "env": [{"name": "DATABASE_SSL", "value": "false"},
            from_secret("DATABASE_URL", "featureflags-db", "connectionURL"),
            from_secret("INIT_CLIENT_API_TOKENS", secret, "clientAccessToken"),
            from_secret("INIT_ADMIN_API_TOKENS", secret, "adminAccessToken")],
        "ports": [{"name": "service", "containerPort": 4242, "protocol": "TCP"}],
        "livenessProbe": health(20), "readinessProbe": health(40),
        "resources": {"requests": {"cpu": "50m", "memory": "100Mi"}, "limits": {"cpu": "100m", "memory": "200Mi"}}}])
    );
    let asked = |question, delay| {
        json!({"exec": {"command": ["/unleash-edge", question]}, "initialDelaySeconds": delay, "timeoutSeconds": 5,
            "periodSeconds": 30, "successThreshold": 1, "failureThreshold": 3})
    };
    assert_eq!(
        rendered.pod("stage-featureflags-edge")["containers"],
        json!([{
        "name": "stage-featureflags-edge", "image": "unleashorg/unleash-edge:v19.6.3", "imagePullPolicy": "IfNotPresent",
        "args": ["edge"],
        "env": [{"name": "UPSTREAM_URL", "value": "http://stage-featureflags:4242"},
            from_secret("TOKENS", secret, "clientAccessToken")],
        "ports": [{"name": "service", "containerPort": 3063, "protocol": "TCP"}],
        "readinessProbe": asked("ready", 1), "livenessProbe": asked("health", 30),
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}, "limits": {"cpu": "200m", "memory": "400Mi"}}}])
    );
    for (name, service, port, number) in [
        ("stage-featureflags", "featureflags", "featureflags", 4242),
        (
            "stage-featureflags-edge",
            "unleash-edge",
            "unleash-edge",
            3063,
        ),
    ] {
        let labels = json!({"app": "stage", "env-app": "stage-featureflags", "service": service});
        assert_eq!(
            rendered.object("Deployment", name)["spec"]["selector"]["matchLabels"],
            labels
        );
        assert_eq!(
            rendered.object("Service", name)["spec"],
            json!({"type": "ClusterIP", "selector": labels,
            "ports": [{"name": port, "port": number, "targetPort": number, "protocol": "TCP"}]})
        );
    }
}

#[test]
fn tokens_and_connection_are_made_once_and_told_to_every_app() {
    let rendered = local().render_environment(&FeatureFlags).unwrap();
    let mut case = local();
    for name in ["stage-featureflags", "featureflags-db"] {
        case.snapshot.add(rendered.object("Secret", name).clone());
    }
    let second = case.render_environment(&FeatureFlags).unwrap();
    assert!(
        second
            .names()
            .iter()
            .all(|name| !name.starts_with("Secret")),
        "{:?}",
        second.names()
    );
    let config = case.render(&[&FeatureFlags]).unwrap().config["featureFlags"].clone();
    assert_eq!(
        (&config["hostname"], &config["port"], &config["scheme"]),
        (
            &json!("stage-featureflags.stage-env.svc"),
            &json!(4242),
            &json!("http")
        )
    );
    let token = config["clientAccessToken"]
        .as_str()
        .unwrap()
        .strip_prefix("default:development.")
        .unwrap();
    assert!(
        token.len() == 32 && token.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{token}"
    );
    let values = crate::views::SecretFacts::of(rendered.object("Secret", "featureflags-db"));
    let text = |key| values.text(key).unwrap();
    assert_eq!(
        text("connectionURL"),
        format!(
            "postgres://{}:{}@featureflags-db.stage-env.svc/unleash",
            text("username"),
            text("password")
        )
    );
    let missing = local().render(&[&FeatureFlags]).unwrap_err().to_string();
    assert_eq!(missing, "Secret \"stage-featureflags\" not found");
}

#[test]
fn app_interface_says_what_is_missing_one_after_the_other() {
    let mut case = case(
        json!({"featureFlags": {"mode": "app-interface"}}),
        json!({}),
    );
    let steps = [
        (
            "credentialRef",
            json!({"name": "ff", "namespace": "keys"}),
            "no feature flag secret defined: ",
        ),
        (
            "hostname",
            json!("flags.example.com"),
            "hostname is not defined: ",
        ),
        ("port", json!(443), "port is not defined: "),
    ];
    for (field, value, fault) in steps {
        assert_eq!(
            case.render(&[&FeatureFlags]).unwrap_err().to_string(),
            fault
        );
        case.environment["spec"]["providers"]["featureFlags"][field] = value;
    }
    assert_eq!(
        case.render(&[&FeatureFlags]).unwrap_err().to_string(),
        "Secret \"ff\" not found"
    );
    let case = case.among([secret("keys", "ff", json!({"OTHER": "x"}))]);
    assert_eq!(
        case.render(&[&FeatureFlags]).unwrap_err().to_string(),
        "Missing data: "
    );
    let case = case.among([secret("keys", "ff", json!({"CLIENT_ACCESS_TOKEN": "t"}))]);
    assert_eq!(
        case.render(&[&FeatureFlags]).unwrap().config["featureFlags"],
        json!({"clientAccessToken": "t", "hostname": "flags.example.com", "port": 443, "scheme": "https"})
    );
}

#[test]
fn other_modes_give_nothing() {
    for mode in ["none", ""] {
        let rendered = case(
            json!({"featureFlags": {"mode": mode}}),
            json!({"featureFlags": true}),
        )
        .render(&[&FeatureFlags])
        .unwrap();
        assert_eq!(
            (rendered.names(), rendered.config.get("featureFlags")),
            (Vec::new(), None)
        );
    }
    let unknown = case(json!({"featureFlags": {"mode": "cloud"}}), json!({}));
    assert_eq!(
        unknown.render(&[&FeatureFlags]).unwrap_err().to_string(),
        "No matching featureflags mode for cloud: "
    );
}
