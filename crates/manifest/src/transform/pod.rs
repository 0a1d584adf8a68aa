//! Where the pods of a kind are described.

use serde_json::{Map, Value};

use crate::object::Object;

/// The path to the pod spec of a kind that has one.
pub(super) fn spec_path(group: &str, kind: &str) -> Option<&'static [&'static str]> {
    match (group, kind) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") | ("batch", "Job") => {
            Some(&["spec", "template", "spec"])
        }
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        ("", "Pod") => Some(&["spec"]),
        _ => None,
    }
}

/// The pod spec of an object that has one.
pub(super) fn spec_mut(object: &mut Object) -> Option<&mut Map<String, Value>> {
    let path = spec_path(object.group(), object.kind_name())?;
    let found = path
        .iter()
        .try_fold(object.value_mut(), |value, step| value.get_mut(*step));
    found?.as_object_mut()
}

/// All containers of a pod spec.
pub(super) fn containers_mut(
    spec: &mut Map<String, Value>,
) -> impl Iterator<Item = &mut Map<String, Value>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    spec.iter_mut()
        .filter(move |(name, _)| lists.contains(&name.as_str()))
        .filter_map(|(_, list)| list.as_array_mut())
        .flatten()
        .filter_map(Value::as_object_mut)
}
