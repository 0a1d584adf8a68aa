//! What tests of this crate share.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Object, set::ManifestSet};

pub(crate) fn object(value: &Value) -> Object {
    Object::new(value.clone()).unwrap()
}

pub(crate) fn names<'set>(objects: impl IntoIterator<Item = &'set Object>) -> Vec<String> {
    objects.into_iter().map(ToString::to_string).collect()
}

pub(crate) fn parsed(text: &str) -> ManifestSet {
    ManifestSet::new(crate::parse::text(text, "test.yaml").unwrap())
}

/// Any JSON of moderate size, without nulls in lists.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z0-9/:.-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A workload or some other object, with names from a small set.
pub(crate) fn any_object() -> impl Strategy<Value = Object> {
    let workload = (0_usize..4, "[a-c]", prop::collection::vec(any_container(), 0..3), any_json())
        .prop_map(|(kind, name, containers, extra)| {
            let (api_version, kind) = [
                ("apps/v1", "Deployment"),
                ("apps/v1", "StatefulSet"),
                ("batch/v1", "Job"),
                ("apps/v1", "DaemonSet"),
            ][kind];
            object(&json!({
                "apiVersion": api_version, "kind": kind,
                "metadata": {"name": name, "namespace": "n", "labels": {"app": name}},
                "spec": {
                    "selector": {"matchLabels": {"app": name}}, "extra": extra,
                    "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}},
                },
            }))
        });
    let other = (0_usize..3, "[a-c]", any_json()).prop_map(|(kind, name, data)| {
        let (api_version, kind) = [("v1", "ConfigMap"), ("example.com/v1", "Widget"), ("v1", "Namespace")][kind];
        object(&json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": data}))
    });
    prop_oneof![workload, other]
}

fn any_container() -> impl Strategy<Value = Value> {
    let image = "(quay\\.io/|localhost:5000/|)(org/|)[a-c]{1,3}(:v[0-9]|@sha256:[a-f0-9]{4}|)";
    (
        "[a-c]",
        image,
        prop::collection::vec(("(WEB_|)(IMAGE|PORT)", image), 0..2),
    )
        .prop_map(|(name, image, env)| {
            let env: Vec<Value> = env
                .into_iter()
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
            json!({"name": name, "image": image, "env": env})
        })
}
