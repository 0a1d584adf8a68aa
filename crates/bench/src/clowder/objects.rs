//! What is written: the same bytes by the operator and by the plain writer.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context;
use kube::api::DynamicObject;
use mainstay_clowder::{
    kinds, names, offline, options,
    settings::{OperatorConfig, Settings},
    views,
};
use mainstay_engine::key::ObjectKey;
use serde_json::{Value, json};

use crate::writer::Child;

/// Apps of a group: the others depend on the first.
pub(super) const GROUP: usize = 5;
/// Name of the image of every app, without its tag.
const IMAGE: &str = "example.org/web";
/// Stands for the uid of the environment.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// Everything that belongs to one app.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// Its name.
    pub(super) name: String,
    /// Whether it depends on another one.
    pub(super) depends: bool,
    /// The custom resource.
    pub(super) app: DynamicObject,
    /// Its objects, in the order of the writes.
    pub(super) children: Vec<Child>,
}

/// The environment: web services through the operator, nothing else.
pub(super) fn environment(name: &str, namespace: &str) -> Value {
    let none = json!({"mode": "none"});
    let sizes = json!({"cpu": "100m", "memory": "100Mi"});
    json!({
        "apiVersion": kinds::CLOWD_ENVIRONMENT.api_version(), "kind": "ClowdEnvironment",
        "metadata": {"name": name},
        "spec": {
            "targetNamespace": namespace,
            "resourceDefaults": {"limits": sizes, "requests": sizes},
            "providers": {
                "web": {"mode": "operator", "port": 8000, "privatePort": 10000},
                "metrics": {"mode": "none", "port": 9000, "path": "/metrics"},
                "db": none, "kafka": none, "inMemoryDb": none, "logging": none, "objectStore": none,
                "featureFlags": none,
            },
        },
    })
}

/// The image of an app with a number as its tag.
pub(super) fn image(number: usize) -> String {
    format!("{IMAGE}:{number}")
}

/// The number in the image of a Deployment.
pub(super) fn image_number(deployment: &DynamicObject) -> Option<i64> {
    let image = deployment
        .data
        .pointer("/spec/template/spec/containers/0/image")?;
    image
        .as_str()?
        .strip_prefix(IMAGE)?
        .strip_prefix(':')?
        .parse()
        .ok()
}

/// The deployments of an app whose image has a number.
pub(super) fn deployments(number: usize) -> Value {
    json!([{
        "name": "web", "replicas": 0, "webServices": {"public": {"enabled": true}},
        "podSpec": {"image": image(number)},
    }])
}

/// One web deployment without replicas; four of five depend on the first of their group.
fn app(environment: &str, namespace: &str, number: usize) -> Value {
    let first = number - number % GROUP;
    let dependencies: Vec<String> = (first < number).then(|| name(first)).into_iter().collect();
    json!({
        "apiVersion": kinds::CLOWD_APP.api_version(), "kind": "ClowdApp",
        "metadata": {"name": name(number), "namespace": namespace},
        "spec": {
            "envName": environment, "dependencies": dependencies, "deployments": deployments(1),
        },
    })
}

fn name(number: usize) -> String {
    format!("app-{number:04}")
}

/// Prepares so many apps with the product's own render step.
pub(super) fn prepare(
    environment_name: &str,
    namespace: &str,
    count: usize,
) -> anyhow::Result<Vec<Prepared>> {
    let settings = Arc::new(Settings {
        config: OperatorConfig::absent(),
        ..Settings::default()
    });
    let numbers: Vec<usize> = (0..count).collect();
    let mut prepared = Vec::new();
    // A group knows nothing of the others, so it can be rendered alone.
    for group in numbers.chunks(GROUP) {
        let apps = group
            .iter()
            .map(|&number| app(environment_name, namespace, number));
        let apps: Vec<Value> = apps.collect();
        let mut children = children(&settings, &environment(environment_name, namespace), &apps)?;
        for (app, &number) in apps.into_iter().zip(group) {
            let children = children.remove(&name(number));
            prepared.push(Prepared {
                name: name(number),
                depends: !number.is_multiple_of(GROUP),
                app: serde_json::from_value(app)?,
                children: children.context("an app renders to nothing")?,
            });
        }
    }
    Ok(prepared)
}

/// The objects of some apps by the name of their owner. What belongs to the environment is not among them.
fn children(
    settings: &Arc<Settings>,
    environment: &Value,
    apps: &[Value],
) -> anyhow::Result<HashMap<String, Vec<Child>>> {
    let mut roots = vec![environment.clone()];
    roots.extend(apps.iter().cloned());
    for root in &mut roots {
        root["metadata"]["uid"] = NOBODY.into();
        root["metadata"]["generation"] = 1.into();
    }
    let world = views::files(roots.clone());
    let mut children: HashMap<String, Vec<Child>> = HashMap::new();
    for body in offline::render(settings, world, &roots)? {
        let owner = body.pointer("/metadata/ownerReferences/0");
        let Some(owner) = owner.filter(|owner| owner["kind"] == "ClowdApp") else {
            continue;
        };
        let owner = owner["name"].as_str().unwrap_or_default().to_owned();
        let key = ObjectKey::of(&body).context("an object has no identity")?;
        let row = kinds::KINDS
            .find(&key.kind)
            .context("a kind is not declared")?
            .clone();
        children
            .entry(owner)
            .or_default()
            .push(Child { row, key, body });
    }
    for children in children.values_mut() {
        children.sort_by_key(|child| options::phase(&child.row.kind));
    }
    Ok(children)
}

/// The status of an app whose Deployment nobody runs: as long as the one that the operator writes.
pub(super) fn status(generation: i64) -> Value {
    let condition = |name: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": name, "status": status, "reason": reason, "message": message,
            "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let not_ready = "Deployments are not yet ready";
    json!({
        "conditions": [
            condition("DeploymentsReady", "False", "DeploymentsNotReady", not_ready),
            condition("ReconciliationFailed", "False", "ReconciliationNotComplete", ""),
            condition("ReconciliationSuccessful", "True", "ReconciliationSucceeded", ""),
        ],
        "deployments": {"managedDeployments": 1, "readyDeployments": 0}, "ready": false,
        "generation": generation,
    })
}

/// The generation for which an app is reconciled.
pub(super) fn reconciled_generation(app: &DynamicObject) -> Option<i64> {
    let status = app.data.get("status")?;
    let generation = status.get("generation").and_then(Value::as_i64)?;
    let conditions = status.get("conditions")?.as_array()?;
    let succeeded = conditions.iter().any(|condition| {
        condition["type"] == "ReconciliationSuccessful" && condition["status"] == "True"
    });
    (succeeded && app.metadata.generation == Some(generation)).then_some(generation)
}

/// The event that tells of the first success.
pub(super) fn event(app: &DynamicObject, number: usize) -> Value {
    let metadata = &app.metadata;
    let name = names::name(metadata);
    let now = "2026-01-01T00:00:00Z";
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{name}.{number:x}"), "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": kinds::CLOWD_APP.api_version(), "kind": "ClowdApp", "name": name,
            "namespace": metadata.namespace, "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": "Normal", "reason": "SuccessfulReconciliation",
        "message": format!("Clowdapp reconciled [{name}]"),
        "source": {"component": "app"}, "firstTimestamp": now, "lastTimestamp": now, "count": 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_five_apps_depend_on_the_first_of_their_group() {
        let prepared = prepare("stage", "team", 10).unwrap();
        let dependent = prepared.iter().filter(|prepared| prepared.depends).count();
        assert_eq!((prepared.len(), dependent), (10, 8));
        let last = &prepared[9].app.data["spec"];
        assert_eq!(last["dependencies"], json!(["app-0005"]));
    }

    #[test]
    fn every_app_has_objects_of_its_own_and_the_deployment_comes_last() {
        for prepared in prepare("stage", "team", 5).unwrap() {
            let last = prepared.children.last().unwrap();
            assert_eq!(last.row.kind, kinds::DEPLOYMENT);
            assert_eq!(last.body["spec"]["replicas"], 0);
            for child in &prepared.children {
                let body = child.owned_by("u-1");
                assert_eq!(body["metadata"]["ownerReferences"][0]["uid"], "u-1");
                assert_eq!(
                    body["metadata"]["ownerReferences"][0]["name"],
                    prepared.name
                );
            }
            let object: DynamicObject = serde_json::from_value(last.body.clone()).unwrap();
            assert_eq!(image_number(&object), Some(1));
        }
    }

    #[test]
    fn an_app_is_reconciled_for_its_current_generation_only() {
        let mut app = prepare("stage", "team", 1).unwrap().remove(0).app;
        assert_eq!(reconciled_generation(&app), None);
        app.data["status"] = status(2);
        app.metadata.generation = Some(2);
        assert_eq!(reconciled_generation(&app), Some(2));
        app.metadata.generation = Some(3);
        assert_eq!(reconciled_generation(&app), None);
    }
}
