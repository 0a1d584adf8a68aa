//! The operator as OLM offers it.

use mainstay_package::{
    BundleError, BundleInput, File, OLDEST_KUBERNETES, Product, bundle,
    csv::{self, BASE_VERSION, GENERATOR, LAYOUT},
};
use serde_json::{Value, json};

use super::{
    Admission, definitions,
    operator::{self, CERTIFICATE_VOLUME},
    webhook,
};
use crate::names::VERSION;

/// Name of the package.
const NAME: &str = "clowder";
const REPOSITORY: &str = "https://github.com/RedHatInsights/clowder";
const DESCRIPTION: &str = "Clowder gives applications what they need: a `ClowdEnvironment` says how databases, caches, \
    topics, object stores and the like are provided, a `ClowdApp` says what an application consists of and what it \
    needs, and the operator makes the workloads and tells each application in its `cdappconfig.json` where everything is.\n";

/// What bundles are made of.
pub(super) fn product(image: &str) -> Product {
    let mut objects = operator::permissions();
    // A role that nobody is bound to here has no place in the install strategy.
    objects.retain(|object| *object != operator::prometheus_role());
    objects.push(deployment(image));
    objects.extend(webhook::configurations());
    let config = operator::config_map(&operator::config(Admission::Webhooks));
    Product {
        name: NAME,
        base: base(),
        definitions: definitions(),
        objects,
        further: vec![
            (
                "clowder-prometheus_clusterrole.yaml",
                operator::prometheus_role(),
            ),
            ("clowder-config_configmap.yaml", at_home(config)),
            (
                "clowder-metrics_service.yaml",
                at_home(operator::metrics_service()),
            ),
        ],
    }
}

/// Generates a bundle and checks it.
pub fn bundle(input: &BundleInput) -> Result<Vec<File>, BundleError> {
    bundle::bundle(&product(&input.image.to_string()), input)
}

/// Two samples: the first is the environment of the second.
pub(super) fn samples() -> [Value; 2] {
    let object = |kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": format!("{}/{VERSION}", crate::names::GROUP),
            "kind": kind, "metadata": {"name": name}, "spec": spec,
        })
    };
    [
        object(
            "ClowdEnvironment",
            "sample",
            json!({
                "providers": {
                    "db": {"mode": "local"},
                    "inMemoryDb": {"mode": "redis"},
                    "kafka": {"mode": "none"},
                    "logging": {"mode": "none"},
                    "metrics": {"mode": "none", "port": 9000, "path": "/metrics"},
                    "objectStore": {"mode": "none"},
                    "web": {"mode": "operator", "port": 8000},
                },
                "resourceDefaults": {
                    "limits": {"cpu": "400m", "memory": "512Mi"},
                    "requests": {"cpu": "40m", "memory": "64Mi"},
                },
            }),
        ),
        object(
            "ClowdApp",
            "sample",
            json!({
                "envName": "sample",
                "database": {"name": "sample"},
                "deployments": [{
                    "name": "web",
                    "webServices": {"public": {"enabled": true}},
                    "podSpec": {"image": "quay.io/psav/clowder-hello"},
                }],
            }),
        ),
    ]
}

/// OLM makes the certificate and mounts it itself, and chooses the namespace.
fn deployment(image: &str) -> Value {
    let mut deployment = operator::deployment(image, Admission::Webhooks);
    let pod = &mut deployment["spec"]["template"]["spec"];
    for pointer in ["/volumes", "/containers/0/volumeMounts"] {
        if let Some(list) = pod.pointer_mut(pointer).and_then(Value::as_array_mut) {
            list.remove(CERTIFICATE_VOLUME);
        }
    }
    at_home(deployment)
}

fn at_home(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
    }
    object
}

fn base() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": csv::name(NAME, BASE_VERSION),
            "namespace": "placeholder",
            "annotations": {
                "alm-examples": format!("{:#}", json!(samples())),
                "capabilities": "Full Lifecycle",
                "categories": "Application Runtime, Developer Tools",
                "certified": "false",
                "description": "What applications need, declared once and provided in each environment",
                "operators.operatorframework.io/builder": GENERATOR,
                "operators.operatorframework.io/project_layout": LAYOUT,
                "repository": REPOSITORY,
            },
        },
        "spec": {
            "displayName": "Clowder",
            "description": DESCRIPTION,
            "version": BASE_VERSION,
            "minKubeVersion": OLDEST_KUBERNETES,
            "maturity": "alpha",
            "keywords": ["clowder", "applications", "environments"],
            "provider": {"name": "Mainstay"},
            "maintainers": [{"name": "Mainstay", "email": "maintainers@mainstay.example.org"}],
            "links": [{"name": "Clowder", "url": REPOSITORY}],
            "installModes": csv::all_namespaces(),
            "customresourcedefinitions": {"owned": owned()},
            "apiservicedefinitions": {},
            "install": {"strategy": "deployment", "spec": {"deployments": []}},
        },
    })
}

fn owned() -> Vec<Value> {
    let about = |kind: &str| match kind {
        "ClowdApp" => "An application and what it needs.",
        "ClowdAppRef" => "An application of another cluster.",
        "ClowdEnvironment" => "How the needs of applications are provided.",
        _ => "Jobs of an application, run once.",
    };
    let definitions = definitions().into_iter();
    let owned = definitions.map(|(_, definition)| {
        let kind = definition["spec"]["names"]["kind"].as_str();
        json!({
            "name": definition["metadata"]["name"],
            "version": VERSION,
            "kind": kind,
            "displayName": kind,
            "description": about(kind.unwrap_or_default()),
        })
    });
    owned.collect()
}
