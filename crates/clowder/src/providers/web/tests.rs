use mainstay_engine::ObjectKey;
use serde_json::{Value, json};

use super::*;
use crate::providers::{
    cronjob::CronJobs,
    deployment::Deployments,
    fixture::{Case, Rendered, case, live},
    metrics::Metrics,
};

fn environment() -> Value {
    json!({
        "web": {"mode": "operator", "port": 8000, "h2cPort": 9001, "h2cPrivatePort": 9002,
            "tls": {"enabled": true, "port": 8800, "privatePort": 8801, "h2cPort": 8802, "h2cPrivatePort": 8803}},
        "metrics": {"mode": "none", "port": 9000, "path": "/metrics"},
    })
}

fn render(case: &Case) -> Rendered {
    case.render(&[&CronJobs, &Deployments, &Web, &Metrics])
        .unwrap()
}

/// Name, port, target and protocol of the ports of a Service.
fn ports(rendered: &Rendered) -> Vec<String> {
    let ports = rendered.object("Service", "shop-api")["spec"]["ports"]
        .as_array()
        .unwrap();
    let text = |port: &Value| {
        assert_eq!(port["protocol"], "TCP");
        let (name, protocol) = (
            port["name"].as_str().unwrap(),
            port["appProtocol"].as_str().unwrap(),
        );
        format!("{name} {}>{} {protocol}", port["port"], port["targetPort"])
    };
    ports.iter().map(text).collect()
}

fn container_ports(container: &Value) -> Vec<String> {
    let ports = container["ports"].as_array().unwrap();
    ports
        .iter()
        .map(|port| {
            format!(
                "{} {}",
                port["name"].as_str().unwrap(),
                port["containerPort"]
            )
        })
        .collect()
}

#[test]
fn everything_on_gives_nine_ports_in_order() {
    let all = json!({"public": {"enabled": true, "h2cEnabled": true},
        "private": {"enabled": true, "h2cEnabled": true, "h2cTargetPort": 9500}});
    let rendered = render(&case(
        environment(),
        json!({"deployments": [{"name": "api", "webServices": all}]}),
    ));
    let h2c = "kubernetes.io/h2c";
    assert_eq!(
        ports(&rendered),
        [
            "public 8000>8000 http".to_owned(),
            format!("h2c 9001>9001 {h2c}"),
            "private 10000>10000 http".to_owned(),
            format!("h2c-private 9002>9500 {h2c}"),
            "tls 8800>8800 http".to_owned(),
            "tls-private 8801>8801 http".to_owned(),
            format!("h2c-tls 8802>8802 {h2c}"),
            format!("h2c-tls-private 8803>8803 {h2c}"),
            "metrics 9000>9000 http".to_owned(),
        ]
    );
    let service = rendered.object("Service", "shop-api");
    assert_eq!(service["spec"]["selector"], json!({"pod": "shop-api"}));
    assert_eq!(service["spec"]["type"], "ClusterIP");
    assert_eq!(
        service["metadata"]["labels"],
        json!({"app": "shop", "pod": "shop-api"})
    );
    assert_eq!(
        service["metadata"]["annotations"],
        json!({"service.beta.openshift.io/serving-cert-secret-name": "shop-api-serving-cert"})
    );
    let containers = &rendered.pod("shop-api")["containers"];
    assert_eq!(
        container_ports(&containers[0]),
        [
            "web 8000",
            "h2c 9001",
            "private 10000",
            "h2c-private 9500",
            "metrics 9000"
        ]
    );
    assert_eq!(
        containers[1],
        json!({"name": "caddy-tls", "image": crate::providers::images::CADDY_PROXY, "command": ["/usr/bin/caddy"],
            "args": ["run", "--config", "/etc/caddy/caddy.json"],
            "ports": [
                {"name": "tls", "containerPort": 8800, "protocol": "TCP"},
                {"name": "tls-private", "containerPort": 8801, "protocol": "TCP"},
                {"name": "h2c-tls", "containerPort": 8802, "protocol": "TCP"},
                {"name": "h2c-tls-private", "containerPort": 8803, "protocol": "TCP"}],
            "volumeMounts": [
                {"name": "caddy-tls", "mountPath": "/certs", "readOnly": true},
                {"name": "caddy-config", "mountPath": "/etc/caddy", "readOnly": true}]})
    );
    let volumes = rendered.pod("shop-api")["volumes"].as_array().unwrap();
    assert_eq!(
        volumes[1..],
        [
            json!({"name": "caddy-config", "configMap": {"name": "shop-api-caddy-config"}}),
            json!({"name": "caddy-tls", "secret": {"secretName": "shop-api-serving-cert"}}),
            json!({"name": "tls-ca", "configMap": {"name": "openshift-service-ca.crt"}}),
        ]
    );
}

#[test]
fn the_sidecar_is_told_of_each_server() {
    let services = json!({"public": {"h2cEnabled": true}, "private": {"enabled": true}});
    let rendered = render(&case(
        environment(),
        json!({"deployments": [{"name": "api", "webServices": services}]}),
    ));
    let map = rendered.object("ConfigMap", "shop-api-caddy-config");
    assert_eq!(map["metadata"]["labels"], Value::Null);
    let text = map["data"]["caddy.json"].as_str().unwrap();
    let start = "{\n  \"apps\": {\n    \"http\": {\n      \"servers\": {\n        \"privServer\": {\n          \"listen\": [\n            \":8801\"";
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with('}'), "{text}");
    let config: Value = serde_json::from_str(text).unwrap();
    let servers = &config["apps"]["http"]["servers"];
    let proxy = |name: &str| servers[name]["routes"][0]["handle"][0].clone();
    // The private port of the app is the one that the environment does not name.
    assert_eq!(
        proxy("privServer")["upstreams"],
        json!([{"dial": "localhost:0"}])
    );
    assert_eq!(
        proxy("privServer")["transport"],
        json!({"protocol": "http"})
    );
    assert_eq!(
        proxy("pubServerH2C")["upstreams"],
        json!([{"dial": "localhost:9001"}])
    );
    assert_eq!(
        proxy("pubServerH2C")["transport"],
        json!({"protocol": "http", "versions": ["h2c"]})
    );
    assert_eq!(servers["pubServer"], Value::Null);
    assert_eq!(
        config["apps"]["tls"]["certificates"]["load_files"],
        json!([{"certificate": "/certs/tls.crt", "key": "/certs/tls.key", "tags": ["cert0"]}])
    );
}

#[test]
fn a_deployment_decides_for_itself_whether_it_speaks_tls() {
    let services = |tls: bool| json!({"public": {"enabled": true, "tls": tls}});
    let mut case = case(
        environment(),
        json!({"deployments": [{"name": "api", "webServices": services(false)}],
        "jobs": [{"name": "sweep", "schedule": "@daily", "podSpec": {"initContainers": [{}]}}]}),
    );
    let off = render(&case);
    assert_eq!(
        ports(&off),
        ["public 8000>8000 http", "metrics 9000>9000 http"]
    );
    assert_eq!(
        off.pod("shop-api")["containers"].as_array().unwrap().len(),
        1
    );
    assert_eq!(off.config["tlsCAPath"], "/cdapp/certs/service-ca.crt");
    let mount = json!({"name": "tls-ca", "mountPath": "/cdapp/certs", "readOnly": true});
    assert_eq!(
        off.pod("shop-api")["containers"][0]["volumeMounts"][1],
        mount
    );
    let job =
        &off.object("CronJob", "shop-sweep")["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    assert_eq!(job["containers"][0]["volumeMounts"][1], mount);
    assert_eq!(job["initContainers"][0]["volumeMounts"][1], mount);

    case.environment["spec"]["providers"]["web"]["tls"]["enabled"] = json!(false);
    case.app["spec"]["deployments"][0]["webServices"] = services(true);
    let on = render(&case);
    assert_eq!(
        ports(&on),
        [
            "public 8000>8000 http",
            "tls 8800>8800 http",
            "metrics 9000>9000 http"
        ]
    );
    assert_eq!(on.config["tlsCAPath"], Value::Null);

    case.environment["spec"]["providers"]["web"]["tls"] = json!({"enabled": true, "port": 8800});
    let without_ports = render(&case);
    assert_eq!(
        ports(&without_ports),
        ["public 8000>8000 http", "metrics 9000>9000 http"]
    );
    assert_eq!(
        without_ports.pod("shop-api")["volumes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        without_ports.config["tlsCAPath"],
        "/cdapp/certs/service-ca.crt"
    );
}

#[test]
fn the_deprecated_switch_gives_a_public_port_without_tls() {
    let rendered = render(&case(
        environment(),
        json!({"deployments": [{"name": "api", "web": true}]}),
    ));
    assert_eq!(
        ports(&rendered),
        ["public 8000>8000 http", "metrics 9000>9000 http"]
    );
}

#[test]
fn a_port_of_the_container_is_named_once() {
    let services = json!({"public": {"enabled": true, "h2cEnabled": true, "h2cTargetPort": 8000, "tls": false}});
    let rendered = render(&case(
        environment(),
        json!({"deployments": [{"name": "api", "webServices": services}]}),
    ));
    assert_eq!(ports(&rendered)[1], "h2c 9001>8000 kubernetes.io/h2c");
    assert_eq!(
        container_ports(&rendered.pod("shop-api")["containers"][0]),
        ["web 8000", "metrics 9000"]
    );
}

#[test]
fn node_ports_stay_with_the_names_of_their_ports() {
    let services = json!({"public": {"enabled": true, "tls": false, "sessionAffinity": true}});
    let mut case = case(
        environment(),
        json!({"deployments": [{"name": "api", "webServices": services}]}),
    );
    case.environment["spec"]["serviceConfig"] = json!({"type": "NodePort"});
    let key = ObjectKey::new(kinds::SERVICE, "market", "shop-api");
    case.snapshot.add_live(live(
        key,
        json!({"nodePorts": {"public": 30001, "metrics": 30002}}),
    ));
    let rendered = render(&case);
    let spec = &rendered.object("Service", "shop-api")["spec"];
    assert_eq!(
        (&spec["type"], &spec["sessionAffinity"]),
        (&json!("NodePort"), &json!("ClientIP"))
    );
    let numbers: Vec<_> = spec["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| port["nodePort"].as_i64())
        .collect();
    assert_eq!(numbers, [Some(30001), Some(30002)]);
}

#[test]
fn every_app_is_told_the_ports() {
    let rendered = render(&case(environment(), json!({})));
    for (key, value) in [
        ("webPort", 8000),
        ("publicPort", 8000),
        ("privatePort", 10000),
        ("h2cPublicPort", 9001),
        ("h2cPrivatePort", 9002),
        ("metricsPort", 9000),
    ] {
        assert_eq!(rendered.config[key], value, "{key}");
    }
    assert_eq!(rendered.config["metricsPath"], "/metrics");
}

#[test]
fn there_is_no_default_mode() {
    for mode in ["", "other"] {
        let case = case(json!({"web": {"mode": mode, "port": 8000}}), json!({}));
        let text = format!("No matching web mode for {mode}");
        for result in [case.render(&[&Web]), case.render_environment(&Web)] {
            assert!(matches!(result, Err(ProviderError::Setup(error)) if error == text));
        }
    }
}
