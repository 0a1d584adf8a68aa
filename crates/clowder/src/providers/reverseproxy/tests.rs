use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case};

fn proxied(settings: &Value) -> Case {
    let mut proxy = json!({"mode": "ephemeral"});
    for (field, value) in settings.as_object().unwrap() {
        proxy[field] = value.clone();
    }
    case(json!({"reverseProxy": proxy}), json!({}))
}

fn value_of<'pod>(pod: &'pod Value, variable: &str) -> &'pod Value {
    let variables = pod["containers"][0]["env"].as_array().unwrap();
    let found = variables.iter().find(|found| found["name"] == variable);
    &found.unwrap()["value"]
}

#[test]
fn nothing_is_made_where_nothing_is_wanted_and_unknown_modes_are_refused() {
    for mode in ["none", ""] {
        let case = case(json!({"reverseProxy": {"mode": mode}}), json!({}));
        assert_eq!(
            case.render(&[&ReverseProxy]).unwrap().names(),
            Vec::<String>::new()
        );
        assert_eq!(
            case.render_environment(&ReverseProxy).unwrap().names(),
            Vec::<String>::new()
        );
    }
    let unknown = case(json!({"reverseProxy": {"mode": "local"}}), json!({}));
    let failure = unknown.render(&[&ReverseProxy]).unwrap_err();
    assert!(matches!(failure, ProviderError::Setup(_)));
    assert_eq!(
        failure.to_string(),
        "No matching reverse proxy mode for local: "
    );
    assert!(unknown.render_environment(&ReverseProxy).is_err());
}

#[test]
fn the_proxy_reads_the_environment_s_object_store() {
    let rendered = proxied(&json!({}))
        .render_environment(&ReverseProxy)
        .unwrap();
    assert_eq!(
        rendered.names(),
        [
            "Deployment stage-env/stage-reverse-proxy",
            "Service stage-env/stage-reverse-proxy"
        ]
    );
    let pod = rendered.pod("stage-reverse-proxy");
    for (variable, value) in [
        ("SERVER_PORT", "8080"),
        (
            "MINIO_UPSTREAM_URL",
            "http://stage-minio.stage-env.svc:9000",
        ),
        ("BUCKET_PATH_PREFIX", "frontend-pushcache"),
        ("SPA_ENTRYPOINT_PATH", "/data/chrome/index.html"),
        ("AWS_REGION", "us-east-1"),
        ("LOG_LEVEL", "debug"),
    ] {
        assert_eq!(value_of(pod, variable), value);
    }
    let container = &pod["containers"][0];
    assert_eq!(
        container["env"][6]["valueFrom"]["secretKeyRef"],
        json!({"name": "stage-minio", "key": "accessKey"})
    );
    assert_eq!(
        container["env"][7]["valueFrom"]["secretKeyRef"],
        json!({"name": "stage-minio", "key": "secretKey"})
    );
    assert_eq!(container["image"], images::REVERSE_PROXY);
    assert_eq!(pod["serviceAccountName"], Value::Null);
    let labels = json!({"app": "stage", "env-app": "stage-reverse-proxy"});
    let service = rendered.object("Service", "stage-reverse-proxy");
    assert_eq!(service["metadata"]["labels"], labels);
    assert_eq!(service["spec"]["selector"], labels);
    assert_eq!(service["spec"]["type"], "ClusterIP");
}

#[test]
fn what_the_environment_says_wins_over_the_operator_s_configuration() {
    let mut proxied = proxied(&json!({
        "images": {"proxy": "registry.test/proxy:2"}, "bucketPathPrefix": "assets",
        "spaEntrypointPath": "/start.html", "awsRegion": "eu-west-1",
    }));
    proxied.settings.config.images.reverse_proxy = "registry.test/proxy:1".to_owned();
    proxied.environment["spec"]["serviceConfig"] = json!({"type": "NodePort"});
    let rendered = proxied.render_environment(&ReverseProxy).unwrap();
    let pod = rendered.pod("stage-reverse-proxy");
    assert_eq!(pod["containers"][0]["image"], "registry.test/proxy:2");
    assert_eq!(value_of(pod, "BUCKET_PATH_PREFIX"), "assets");
    assert_eq!(value_of(pod, "SPA_ENTRYPOINT_PATH"), "/start.html");
    assert_eq!(value_of(pod, "AWS_REGION"), "eu-west-1");
    let service = rendered.object("Service", "stage-reverse-proxy");
    assert_eq!(service["spec"]["type"], "NodePort");
    proxied.environment["spec"]["providers"]["reverseProxy"]["images"] = json!({});
    let rendered = proxied.render_environment(&ReverseProxy).unwrap();
    let pod = rendered.pod("stage-reverse-proxy");
    assert_eq!(pod["containers"][0]["image"], "registry.test/proxy:1");
}

#[test]
fn the_proxy_is_the_same_in_every_pass() {
    let proxied = proxied(&json!({}));
    let environment = proxied.render_environment(&ReverseProxy).unwrap();
    let app = proxied.render(&[&ReverseProxy]).unwrap();
    let bodies = |rendered: &crate::providers::fixture::Rendered| {
        rendered.set.bodies().cloned().collect::<Vec<Value>>()
    };
    assert_eq!(bodies(&app), bodies(&environment));
}
