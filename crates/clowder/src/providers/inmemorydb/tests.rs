use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case, other_app, secret};

fn wanting(mode: &str, mut app: Value) -> Case {
    app["inMemoryDb"] = json!(true);
    case(json!({"inMemoryDb": {"mode": mode}}), app)
}

fn failure(case: &Case) -> String {
    case.render(&[&InMemoryDb]).unwrap_err().to_string()
}

#[test]
fn redis_is_a_server_of_the_app() {
    let mut case = wanting("redis", json!({}));
    case.environment["spec"]["serviceConfig"] = json!({"type": "NodePort"});
    let rendered = case.render(&[&InMemoryDb]).unwrap();
    assert_eq!(
        rendered.config["inMemoryDb"],
        json!({"hostname": "shop-redis.market.svc", "port": 6379, "sslMode": false})
    );
    let map = rendered.object("ConfigMap", "shop-redis");
    assert_eq!(
        map["data"],
        json!({"redis.conf": "stop-writes-on-bgsave-error no\nprotected-mode no"})
    );
    assert_eq!(map["metadata"].get("labels"), None);
    let labels = json!({"app": "shop", "env-app": "shop-redis", "service": "redis"});
    let probe = |delay| {
        json!({"exec": {"command": ["valkey-cli"]}, "initialDelaySeconds": delay, "timeoutSeconds": 2,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3})
    };
    assert_eq!(
        rendered.object("Deployment", "shop-redis")["spec"],
        json!({
            "replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {
                "volumes": [{"name": "shop-redis", "configMap": {"name": "shop-redis", "defaultMode": 420}}],
                "containers": [{"name": "shop-redis", "image": "registry.redhat.io/rhel10/valkey-8:10.0",
                    "imagePullPolicy": "IfNotPresent",
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "ports": [{"name": "redis", "containerPort": 6379, "protocol": "TCP"}],
                    "volumeMounts": [{"name": "shop-redis", "mountPath": "/etc/redis"}],
                    "livenessProbe": probe(15), "readinessProbe": probe(45)}]}},
        })
    );
    assert_eq!(
        rendered.object("Service", "shop-redis")["spec"],
        json!({"type": "NodePort", "selector": labels,
        "ports": [{"name": "redis", "port": 6379, "targetPort": 6379, "protocol": "TCP"}]})
    );
}

#[test]
fn the_image_comes_from_the_environment_then_from_the_settings() {
    let mut case = wanting("redis", json!({}));
    case.settings.config.images.in_memory_db = "settings:1".to_owned();
    let image = |case: &Case| {
        case.render(&[&InMemoryDb]).unwrap().pod("shop-redis")["containers"][0]["image"].clone()
    };
    assert_eq!(image(&case), "settings:1");
    case.environment["spec"]["providers"]["inMemoryDb"]["image"] = json!("environment:1");
    assert_eq!(image(&case), "environment:1");
}

#[test]
fn a_secret_that_exists_is_told_as_it_is() {
    let values =
        json!({"hostname": "h", "port": "1", "sslmode": "true", "username": "u", "password": ""});
    let case = wanting("redis", json!({})).among([secret("market", "shop-redis", values)]);
    let rendered = case.render(&[&InMemoryDb]).unwrap();
    assert_eq!(
        rendered.config["inMemoryDb"],
        json!({"hostname": "h", "port": 1, "sslMode": true, "username": "u"})
    );
    let values = json!({"hostname": "h", "port": "1"});
    let case = wanting("redis", json!({})).among([secret("market", "shop-redis", values)]);
    assert_eq!(
        failure(&case),
        "couldn't populate creds: strconv.ParseBool: parsing \"\": invalid syntax"
    );
}

#[test]
fn sharing_needs_a_dependency_an_app_and_its_secret() {
    let mut case = wanting("redis", json!({"sharedInMemoryDbAppName": "cart"}));
    assert_eq!(
        failure(&case),
        "The requested app's in memory db was not found in the dependencies: "
    );
    case.app["spec"]["dependencies"] = json!(["cart"]);
    assert_eq!(failure(&case), "could not get app for in memory db in env");
    let case = case.among([other_app("elsewhere", "cart", json!({}))]);
    assert_eq!(
        failure(&case),
        "Couldn't set/get secret: Secret \"cart-redis\" not found"
    );
    let values = json!({"hostname": "h", "port": "6379", "sslmode": "false"});
    let rendered = case
        .among([secret("elsewhere", "cart-redis", values)])
        .render(&[&InMemoryDb])
        .unwrap();
    assert_eq!(
        (rendered.names(), &rendered.config["inMemoryDb"]["hostname"]),
        (Vec::new(), &json!("h"))
    );
}

#[test]
fn elasticache_is_described_by_one_secret_of_the_namespace() {
    let case = wanting("elasticache", json!({}));
    assert_eq!(
        failure(&case),
        "Missing dependencies: [source: inmemorydb, details: No inmemorydb secret named \
        'in-memory-db' found in namespace 'market']"
    );
    let with = |values| {
        wanting("elasticache", json!({})).among([secret("market", "in-memory-db", values)])
    };
    let bad = with(json!({"db.port": "abc"}));
    assert_eq!(
        failure(&bad),
        "failed to parse port from secret 'in-memory-db' in namespace 'market': strconv.Atoi: \
        parsing a value: invalid syntax"
    );
    let rendered = with(json!({"db.port": "6380", "db.endpoint": "e", "db.auth_token": "t"}))
        .render(&[&InMemoryDb])
        .unwrap();
    assert_eq!(
        rendered.config["inMemoryDb"],
        json!({"hostname": "e", "password": "t", "port": 6380, "sslMode": true})
    );
    let mut shared = wanting(
        "elasticache",
        json!({"sharedInMemoryDbAppName": "cart", "dependencies": ["cart"]}),
    );
    shared = shared.among([
        other_app("elsewhere", "cart", json!({})),
        secret(
            "elsewhere",
            "in-memory-db",
            json!({"db.port": "1", "db.endpoint": "theirs"}),
        ),
    ]);
    assert_eq!(
        shared.render(&[&InMemoryDb]).unwrap().config["inMemoryDb"],
        json!({"hostname": "theirs", "port": 1, "sslMode": true})
    );
}

#[test]
fn only_apps_that_ask_get_one_and_only_known_modes_give_one() {
    let rendered = case(
        json!({"inMemoryDb": {"mode": "redis"}}),
        json!({"sharedInMemoryDbAppName": "x"}),
    )
    .render(&[&InMemoryDb])
    .unwrap();
    assert_eq!(
        (rendered.names(), rendered.config.get("inMemoryDb")),
        (Vec::new(), None)
    );
    assert_eq!(
        wanting("none", json!({}))
            .render(&[&InMemoryDb])
            .unwrap()
            .names(),
        Vec::<String>::new()
    );
    assert_eq!(
        failure(&wanting("memcached", json!({}))),
        "No matching in-memory db mode for memcached: "
    );
}
