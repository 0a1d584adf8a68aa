//! Apps and environments as users write them.

use serde_json::{Value, json};

/// One web deployment without pods.
pub(crate) fn web_app() -> Value {
    json!({"deployments": [deployment("web")]})
}

/// A deployment with a public service and no pods.
pub(crate) fn deployment(name: &str) -> Value {
    json!({
        "name": name, "replicas": 0,
        "webServices": {"public": {"enabled": true}},
        "podSpec": {"image": "registry.test/shop:1"},
    })
}

/// Everything off.
pub(crate) fn quiet_environment(namespace: &str) -> Value {
    json!({
        "targetNamespace": namespace,
        "resourceDefaults": {
            "limits": {"cpu": "400m", "memory": "1024Mi"},
            "requests": {"cpu": "30m", "memory": "512Mi"},
        },
        "providers": {
            "db": {"mode": "none"},
            "inMemoryDb": {"mode": "none"},
            "kafka": {"mode": "none"},
            "logging": {"mode": "none"},
            "objectStore": {"mode": "none"},
            "featureFlags": {"mode": "none"},
            "metrics": {"mode": "none", "port": 9000, "path": "/metrics"},
            "web": {"mode": "operator", "port": 8000},
        },
    })
}

/// Every kind of component that makes values up.
pub(crate) fn components() -> Value {
    json!({"providers": {
        "db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"},
        "objectStore": {"mode": "minio"}, "featureFlags": {"mode": "local"},
    }})
}

/// An app with everything that needs no server.
pub(crate) fn stored_app() -> Value {
    let mut app = web_app();
    merge(
        &mut app,
        &json!({"database": {"name": "goods"}, "inMemoryDb": true}),
    );
    app
}

/// An environment in mode `local` with these settings of its web provider.
pub(crate) fn web_local(settings: &Value) -> Value {
    let mut web = json!({"mode": "local", "port": 8000});
    merge(&mut web, settings);
    json!({"providers": {"web": web}})
}

/// An app whose pods take a variable from each of these Secrets.
pub(crate) fn app_with_secrets(secrets: &[String]) -> Value {
    let variables = secrets.iter().enumerate().map(|(number, secret)| {
        json!({"name": format!("WORD_{number}"), "valueFrom": {"secretKeyRef": {"name": secret, "key": "word"}}})
    });
    let variables: Vec<Value> = variables.collect();
    let mut app = web_app();
    let image = app["deployments"][0]["podSpec"]["image"].clone();
    merge(
        &mut app,
        &json!({"deployments": [{"name": "web", "podSpec": {"image": image, "env": variables}}]}),
    );
    app
}

/// Puts changes into a value, object by object.
pub(crate) fn merge(value: &mut Value, changes: &Value) {
    match (value, changes) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                merge(fields.entry(name.clone()).or_insert(Value::Null), change);
            }
        }
        (value, change) => *value = change.clone(),
    }
}
