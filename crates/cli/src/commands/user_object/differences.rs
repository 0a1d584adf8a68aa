//! The fields of a user's object that an apply would change.

use mainstay_engine::{field_change::FieldChange, key::Kind};
use serde_json::{Map, Value};

/// What the server keeps for itself.
const BOOKKEEPING: [&str; 5] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// Every field that differs, fit to be shown.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare(
        &mut changes,
        "",
        Some(&declared(before)),
        Some(&declared(after)),
    );
    let text = |field: &str| after.get(field).and_then(Value::as_str);
    let kind = Kind::from_parts(
        text("apiVersion").unwrap_or_default(),
        text("kind").unwrap_or_default(),
    );
    let shown = changes.into_iter().map(|change| change.redacted(&kind));
    shown.collect()
}

/// The object without what no user declares.
fn declared(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| !BOOKKEEPING.contains(&name.as_str()));
    }
    object
}

fn compare(changes: &mut Vec<FieldChange>, path: &str, from: Option<&Value>, to: Option<&Value>) {
    match (from, to) {
        (Some(from), Some(to)) if from == to => {}
        (Some(Value::Object(from)), Some(Value::Object(to))) => {
            for name in names(from, to) {
                compare(changes, &below(path, name), from.get(name), to.get(name));
            }
        }
        (Some(Value::Array(from)), Some(Value::Array(to))) if from.len() == to.len() => {
            for (position, (from, to)) in from.iter().zip(to).enumerate() {
                let path = format!("{path}[{position}]");
                compare(changes, &path, Some(from), Some(to));
            }
        }
        (from, to) => changes.push(FieldChange {
            path: path.to_owned(),
            from: from.cloned(),
            to: to.cloned(),
        }),
    }
}

/// All names, each once.
fn names<'value>(
    from: &'value Map<String, Value>,
    to: &'value Map<String, Value>,
) -> Vec<&'value String> {
    let new = to.keys().filter(|name| !from.contains_key(*name));
    from.keys().chain(new).collect()
}

fn below(path: &str, name: &str) -> String {
    let name = if name.contains('.') {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(before: &Value, after: &Value) -> Vec<String> {
        let changes = differences(before, after);
        changes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_field_is_named_with_its_old_and_new_value() {
        let object = |port: u16, generation: u8| {
            json!({
                "kind": "ClowdEnvironment", "metadata": {"generation": generation},
                "spec": {"web": {"port": port}, "list": [{"a": 1}]}, "status": {"ready": generation},
            })
        };
        assert_eq!(
            texts(&object(8000, 1), &object(8001, 2)),
            ["spec.web.port: 8000 -> 8001"]
        );
        assert!(texts(&object(8000, 1), &object(8000, 2)).is_empty());
    }

    #[test]
    fn what_comes_and_goes_is_named_and_secrets_are_not_shown() {
        let old = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "b2xk", "b": "eA=="}});
        let new = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "bmV3"}, "type": "x"});
        assert_eq!(
            texts(&old, &new),
            [
                "data.a: \"<hidden>\" -> \"<hidden>\"",
                "data.b: - \"<hidden>\"",
                "type: + \"x\""
            ]
        );
    }
}
