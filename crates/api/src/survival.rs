//! Every field that a definition admits survives decoding and encoding.
//!
//! The objects are made from the definitions themselves, so a field that a type forgets or misspells cannot hide.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

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

/// An object whose spec and status are made from the schemas of a definition.
fn object(definition: &Value, make: fn(&Value) -> Value) -> Value {
    let version = &definition["spec"]["versions"][0];
    let fields = &version["schema"]["openAPIV3Schema"]["properties"];
    let group = definition["spec"]["group"].as_str().unwrap();
    let version = version["name"].as_str().unwrap();
    json!({
        "apiVersion": format!("{group}/{version}"),
        "kind": definition["spec"]["names"]["kind"],
        "metadata": {"name": "full"},
        "spec": make(&fields["spec"]),
        "status": make(&fields["status"]),
    })
}

/// What a full object loses on its way through its type.
pub(crate) fn losses<T: DeserializeOwned + Serialize>(definition: &Value) -> Vec<String> {
    let before = object(definition, full);
    let decoded: T = serde_json::from_value(before.clone()).unwrap();
    let after = serde_json::to_value(decoded).unwrap();
    assert_eq!(lost("", &after, &before), [""; 0], "nothing is made up");
    lost("", &before, &after)
}

/// Why an object whose optional fields are there and empty cannot be read.
pub(crate) fn hollow_error<T: DeserializeOwned>(definition: &Value) -> Option<String> {
    let decoded = serde_json::from_value::<T>(object(definition, hollow));
    decoded.err().map(|error| error.to_string())
}
