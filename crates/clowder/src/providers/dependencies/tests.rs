use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case};

fn environment() -> Value {
    json!({"web": {"mode": "operator", "port": 8000, "h2cPort": 9001,
        "tls": {"enabled": true, "port": 8443, "privatePort": 8444, "h2cPort": 8445}}})
}

fn consumer(spec: &Value) -> Case {
    let mut case = case(environment(), spec.clone());
    let services = json!({"public": {"enabled": true, "tls": false}, "private": {"enabled": true, "tls": false}});
    for namespace in ["a", "b"] {
        case.snapshot.add(json!({"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
            "metadata": {"name": "stock", "namespace": namespace},
            "spec": {"envName": "stage", "deployments": [{"name": "web", "webServices": services}, {"name": "worker"}]}}));
    }
    for (name, serves) in [("stock", json!(["shop"])), ("remote", json!([]))] {
        case.snapshot.add(json!({"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdAppRef",
            "metadata": {"name": name, "namespace": "refs"},
            "spec": {"envName": "stage", "disabled": true, "serves": serves,
                "remoteEnvironment": {"port": 443, "tls": {"enabled": true, "port": 444}},
                "deployments": [
                    {"name": "one", "hostname": "one.example.com", "web": true},
                    {"name": "two", "hostname": "fd00::2", "webServices": {"public": {"enabled": true, "tls": true}}}]}}));
    }
    case
}

fn config(case: &Case) -> Value {
    case.render(&[&Dependencies]).unwrap().config
}

#[test]
fn an_app_alone_is_told_of_itself_in_the_first_form_only() {
    let all = json!({"public": {"enabled": true, "h2cEnabled": true, "apiPath": "old"}, "private": {"enabled": true, "tls": false}});
    let config = config(&consumer(&json!({"deployments": [
        {"name": "api", "webServices": all}, {"name": "none"},
        {"name": "h2c", "webServices": {"public": {"h2cEnabled": true, "tls": false,
            "apiPaths": ["/api/x/", "/api/y/"]}}},
        {"name": "empty", "webServices": {"public": {"enabled": true, "tls": false, "apiPaths": []}}}]})));
    assert_eq!(
        config["endpoints"],
        json!([
            {"apiPath": "/api/old/", "apiPaths": ["/api/old/"], "app": "shop", "h2cPort": 9001, "h2cTLSPort": 8445,
                "hostname": "shop-api.market.svc", "name": "api", "port": 8000,
                "tlsCAPath": "/cdapp/certs/service-ca.crt", "tlsPort": 8443},
            {"apiPath": "/api/x/", "apiPaths": ["/api/x/", "/api/y/"], "app": "shop", "h2cPort": 9001, "h2cTLSPort": 0,
                "hostname": "shop-h2c.market.svc", "name": "h2c", "port": 0, "tlsPort": 0},
            {"apiPath": "/api/shop-empty/", "apiPaths": ["/api/shop-empty/"], "app": "shop", "h2cPort": 0, "h2cTLSPort": 0,
                "hostname": "shop-empty.market.svc", "name": "empty", "port": 8000, "tlsPort": 0}])
    );
    assert_eq!(
        config["privateEndpoints"],
        json!([{"app": "shop", "h2cPort": 0, "h2cTLSPort": 0, "hostname": "shop-api.market.svc", "name": "api",
            "port": 10000, "tlsPort": 0}])
    );
    assert_eq!(config["dependencyEndpoints"], Value::Null);
}

#[test]
fn a_reference_stands_in_for_an_app_that_it_serves_or_that_is_not_there() {
    let case =
        consumer(&json!({"dependencies": ["stock", "remote"], "optionalDependencies": ["nobody"]}));
    let config = config(&case);
    let hosts: Vec<_> = config["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|endpoint| {
            (
                endpoint["app"].as_str().unwrap(),
                endpoint["hostname"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        hosts,
        [
            ("stock", "one.example.com"),
            ("stock", "fd00::2"),
            ("remote", "one.example.com"),
            ("remote", "fd00::2")
        ]
    );
    assert_eq!(
        config["dependencyEndpoints"]["v2"]["remote"],
        json!({"one": {"uri": "http://one.example.com:443"}, "two": {"uri": "http://[fd00::2]:443"},
            "two_tls": {"uri": "https://[fd00::2]:444", "ca_certificate": "/cdapp/certs/service-ca.crt"}})
    );
    assert_eq!(config["privateDependencyEndpoints"], Value::Null);
}

#[test]
fn others_reach_the_app_that_was_listed_last() {
    let mut case = consumer(&json!({"dependencies": ["stock"]}));
    case.app["metadata"]["name"] = json!("cart");
    let config = config(&case);
    assert_eq!(config["endpoints"][0]["hostname"], "stock-web.b.svc");
    assert_eq!(config["endpoints"].as_array().unwrap().len(), 1);
    let address = json!({"v2": {"stock": {"web": {"uri": "http://stock-web.b.svc:10000"}}}});
    assert_eq!(config["privateDependencyEndpoints"], address);
}

#[test]
fn all_missing_dependencies_are_named() {
    let case = consumer(&json!({"dependencies": ["x", "stock", "y"]}));
    let error = case.render(&[&Dependencies]).unwrap_err().to_string();
    assert_eq!(
        error,
        "Missing dependencies: [source: service, details: x; source: service, details: y]"
    );
}
