//! Every field that the definitions admit survives decoding and encoding.
//!
//! The objects are made from the definitions themselves, so a field that a type forgets or misspells cannot hide.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::schema;
use crate::clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment, ClowdJobInvocation};

/// A value that has everything that a schema admits, and nothing that could be taken for a zero value.
fn full(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().find(|word| *word != "").unwrap().clone();
    }
    if let Some(fields) = schema["properties"].as_object() {
        let fields = fields
            .iter()
            .map(|(name, field)| (name.clone(), full(field)));
        return Value::Object(fields.collect());
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("array"), _) => json!([full(&schema["items"])]),
        (Some("object"), _) if schema["additionalProperties"].is_object() => {
            json!({"key": full(&schema["additionalProperties"])})
        }
        (Some("object"), _) => json!({}),
        (Some("boolean"), _) => json!(true),
        (Some("integer"), Some("int64")) => json!(1_i64 << 40),
        (Some("integer"), _) => json!(7),
        (Some("string"), Some("date-time")) => json!("2024-01-02T03:04:05Z"),
        (Some("string"), _) => json!("text"),
        (None, _) if schema["x-kubernetes-preserve-unknown-fields"] == true => json!({"any": [1]}),
        (None, _) if schema["x-kubernetes-int-or-string"] == true => json!("1"),
        other => panic!("no value for {other:?}"),
    }
}

/// A value in which every optional field is there and empty, as in a file with nothing after the key.
fn hollow(schema: &Value) -> Value {
    let Some(fields) = schema["properties"].as_object() else {
        return full(schema);
    };
    let required = |name: &String| {
        schema["required"]
            .as_array()
            .is_some_and(|required| required.iter().any(|field| field == name))
    };
    let value = |name: &String, field: &Value| match &field["items"] {
        items if items["properties"].is_object() => json!([hollow(items)]),
        _ if required(name) || field["properties"].is_object() => hollow(field),
        _ => Value::Null,
    };
    let fields = fields
        .iter()
        .map(|(name, field)| (name.clone(), value(name, field)));
    Value::Object(fields.collect())
}

/// Paths of what is in the first value and not in the second.
fn lost(path: &str, before: &Value, after: &Value) -> Vec<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before
            .iter()
            .flat_map(|(name, value)| {
                let path = format!("{path}.{name}");
                match after.get(name) {
                    Some(after) => lost(&path, value, after),
                    None => vec![path],
                }
            })
            .collect(),
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => before
            .iter()
            .zip(after)
            .flat_map(|(before, after)| lost(&format!("{path}[]"), before, after))
            .collect(),
        _ if before == after => Vec::new(),
        _ => vec![path.to_owned()],
    }
}

/// An object of a kind whose spec and status are made from their schemas.
fn object(kind: &str, make: fn(&Value) -> Value) -> Value {
    json!({
        "apiVersion": "cloud.redhat.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": "full"},
        "spec": make(&schema(kind, "spec")),
        "status": make(&schema(kind, "status")),
    })
}

/// What a full object of a kind loses on its way through its type.
fn losses<T: DeserializeOwned + Serialize>(kind: &str) -> Vec<String> {
    let before = object(kind, full);
    let decoded: T = serde_json::from_value(before.clone()).unwrap();
    let after = serde_json::to_value(decoded).unwrap();
    assert_eq!(lost("", &after, &before), [""; 0], "nothing is made up");
    lost("", &before, &after)
}

#[test]
fn environments_references_and_their_status_lose_nothing() {
    assert_eq!(losses::<ClowdEnvironment>("ClowdEnvironment"), [""; 0]);
    assert_eq!(losses::<ClowdAppRef>("ClowdAppRef"), [""; 0]);
}

#[test]
fn apps_and_invocations_lose_nothing() {
    assert_eq!(losses::<ClowdApp>("ClowdApp"), [""; 0]);
    assert_eq!(losses::<ClowdJobInvocation>("ClowdJobInvocation"), [""; 0]);
}

#[test]
fn optional_fields_may_be_there_and_empty() {
    fn check<T: DeserializeOwned>(kind: &str) {
        let decoded = serde_json::from_value::<T>(object(kind, hollow));
        assert_eq!(decoded.err().map(|error| error.to_string()), None, "{kind}");
    }
    check::<ClowdApp>("ClowdApp");
    check::<ClowdAppRef>("ClowdAppRef");
    check::<ClowdEnvironment>("ClowdEnvironment");
    check::<ClowdJobInvocation>("ClowdJobInvocation");
}
