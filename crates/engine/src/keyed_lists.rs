//! Lists whose items are told apart by key fields, and what becomes of items with equal keys.
//!
//! A create or update may hold two container ports of one number, or a variable twice. A server-side apply cannot say
//! that: its items are merged by key, and a key that stands there twice fails the whole apply. So one of them is kept, the
//! one that counts when the container runs, and the other is told.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::key::Kind;

/// Which of several items with one key is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    First,
    Last,
}

struct KeyedList {
    /// Field that holds the list.
    field: &'static str,
    /// Key fields, each with the value that the server gives it if it is missing.
    keys: &'static [(&'static str, Option<&'static str>)],
    keep: Keep,
}

/// The lists in pod templates and service accounts in which the API server accepts equal keys.
const LISTS: &[KeyedList] = &[
    KeyedList {
        field: "ports",
        keys: &[("containerPort", None), ("protocol", Some("TCP"))],
        keep: Keep::First,
    },
    // Of two variables of one name a container sees the last one.
    KeyedList {
        field: "env",
        keys: &[("name", None)],
        keep: Keep::Last,
    },
    KeyedList {
        field: "imagePullSecrets",
        keys: &[("name", None)],
        keep: Keep::First,
    },
];

/// Kinds with such lists. Elsewhere the same names may mean something else.
const KINDS: &[&str] = &[
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "Pod",
    "ReplicaSet",
    "ServiceAccount",
    "StatefulSet",
];

/// Removes items whose key stands in their list twice; says which: `spec.containers.ports[containerPort=9000,protocol=TCP]`.
pub fn drop_repeated(kind: &Kind, body: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    if matches!(&*kind.group, "" | "apps" | "batch") && KINDS.contains(&&*kind.kind) {
        visit(body, "", &mut dropped);
    }
    dropped
}

fn visit(value: &mut Value, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut().filter(|(_, field)| is_nested(field)) {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                if let (Some(list), Value::Array(items)) = (known(name), &mut *field) {
                    drop_from(list, items, &path, dropped);
                }
                visit(field, &path, dropped);
            }
        }
        Value::Array(items) => {
            for item in items {
                visit(item, path, dropped);
            }
        }
        _ => {}
    }
}

const fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

fn known(field: &str) -> Option<&'static KeyedList> {
    LISTS.iter().find(|list| list.field == field)
}

fn drop_from(list: &KeyedList, items: &mut Vec<Value>, path: &str, dropped: &mut Vec<String>) {
    let keys: Vec<Option<String>> = items.iter().map(|item| key_of(list, item)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for key in keys.iter().flatten() {
        *counts.entry(key).or_default() += 1;
    }
    if counts.values().all(|&count| count == 1) {
        return;
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut at = keys.iter();
    items.retain(|_| {
        let Some(Some(key)) = at.next() else {
            return true;
        };
        let count = counts.get(key.as_str()).copied().unwrap_or(1);
        let seen = seen.entry(key).or_default();
        *seen += 1;
        let is_kept = match list.keep {
            Keep::First => *seen == 1,
            Keep::Last => *seen == count,
        };
        if !is_kept {
            dropped.push(format!("{path}[{key}]"));
        }
        is_kept
    });
}

/// The key of an item; `None` if it lacks a field that has no default.
fn key_of(list: &KeyedList, item: &Value) -> Option<String> {
    let fields: &Map<String, Value> = item.as_object()?;
    let parts = list.keys.iter().map(|&(name, default)| {
        let value = match (fields.get(name), default) {
            (Some(Value::String(text)), _) => text.clone(),
            (Some(value), _) => value.to_string(),
            (None, default) => default?.to_owned(),
        };
        Some(format!("{name}={value}"))
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");

    fn pod(container: &Value) -> Value {
        json!({"spec": {"template": {"spec": {"containers": [container]}}}})
    }

    #[test]
    fn of_two_ports_with_one_number_the_first_is_kept_and_the_other_named() {
        let h2c = json!({"name": "h2c", "containerPort": 9000});
        let metrics = json!({"name": "metrics", "containerPort": 9000, "protocol": "TCP"});
        let other = json!({"name": "dns", "containerPort": 9000, "protocol": "UDP"});
        let mut body = pod(&json!({"ports": [h2c, metrics, other]}));
        let dropped = drop_repeated(&DEPLOYMENT, &mut body);
        assert_eq!(
            dropped,
            ["spec.template.spec.containers.ports[containerPort=9000,protocol=TCP]"]
        );
        assert_eq!(body, pod(&json!({"ports": [h2c, other]})));
        assert_eq!(drop_repeated(&DEPLOYMENT, &mut body), [""; 0]);
    }

    #[test]
    fn of_two_variables_with_one_name_the_one_that_counts_is_kept() {
        let mut body = pod(
            &json!({"env": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]}),
        );
        let dropped = drop_repeated(&DEPLOYMENT, &mut body);
        assert_eq!(dropped, ["spec.template.spec.containers.env[name=A]"]);
        let left = json!({"env": [{"name": "B"}, {"name": "A", "value": "2"}]});
        assert_eq!(body, pod(&left));
    }

    #[test]
    fn kinds_of_others_and_services_are_left_alone() {
        let body = json!({"spec": {"ports": [{"port": 1}, {"port": 1}], "env": [{"name": "A"}, {"name": "A"}]}});
        for kind in [
            Kind::new("example.io", "v1", "Deployment"),
            Kind::new("", "v1", "Service"),
        ] {
            let mut copy = body.clone();
            assert_eq!(drop_repeated(&kind, &mut copy), [""; 0]);
            assert_eq!(copy, body);
        }
    }
}
