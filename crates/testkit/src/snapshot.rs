//! The state of a namespace without what differs from run to run, to compare two ends.

use kube::{Api, api::DynamicObject, api::ListParams};
use serde_json::{Value, json};

use crate::namespace::Namespace;

/// Everything that the Kaoto operator makes, and the Kaotos with their status; uids, versions, times and cluster
/// addresses replaced.
pub async fn kaoto_state(namespace: &Namespace, route: bool) -> Value {
    let exposure = if route {
        namespace.routes()
    } else {
        namespace.ingresses()
    };
    let mut state = json!({});
    for (kind, api) in [
        ("Kaoto", namespace.kaotos()),
        ("Service", namespace.services()),
        ("Exposure", exposure),
        ("Deployment", namespace.deployments()),
    ] {
        state[kind] = objects(&api, kind == "Kaoto").await;
    }
    state
}

/// The same with the name of the namespace replaced, to compare two namespaces.
pub async fn portable_kaoto_state(namespace: &Namespace, route: bool) -> Value {
    let state = kaoto_state(namespace, route).await.to_string();
    serde_json::from_str(&state.replace(&namespace.name, "NAMESPACE")).unwrap()
}

async fn objects(api: &Api<DynamicObject>, with_status: bool) -> Value {
    let list = api.list(&ListParams::default()).await.unwrap();
    let mut objects = json!({});
    for object in list.items {
        let name = object.metadata.name.clone().unwrap();
        let finalizers = object.metadata.finalizers.clone();
        let owners: Vec<String> = object
            .metadata
            .owner_references
            .iter()
            .flatten()
            .map(|owner| owner.name.clone())
            .collect();
        let mut spec = object.data.get("spec").cloned().unwrap_or_default();
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("clusterIP");
            fields.remove("clusterIPs");
        }
        objects[&name] = json!({
            "labels": object.metadata.labels,
            "finalizers": finalizers,
            "owners": owners,
            "managers": managers(&object),
            "spec": spec,
        });
        if with_status {
            objects[&name]["status"] =
                without_times(object.data.get("status").cloned().unwrap_or_default());
        }
    }
    objects
}

fn managers(object: &DynamicObject) -> Vec<String> {
    let entries = object.metadata.managed_fields.iter().flatten();
    let ours = entries.filter(|entry| entry.subresource.is_none());
    let mut names: Vec<String> = ours
        .map(|entry| {
            format!(
                "{}/{}",
                entry.manager.as_deref().unwrap_or_default(),
                entry.operation.as_deref().unwrap_or_default()
            )
        })
        .filter(|name| !name.starts_with("kube-controller-manager"))
        .collect();
    names.sort();
    names
}

fn without_times(mut status: Value) -> Value {
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        for condition in conditions {
            condition["lastTransitionTime"] = Value::Null;
        }
    }
    status
}
