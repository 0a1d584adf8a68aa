//! Whose field is it: the server's own bookkeeping, compared with what was meant to be claimed.

use kube::api::DynamicObject;
use serde_json::{Map, Value};

/// Difference between the claims of a manager and the body that it meant to apply.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Claimed, but not in the body.
    pub beyond: Vec<String>,
    /// In the body, but not claimed.
    pub missing: Vec<String>,
}

/// The fields that a manager owns by one operation; `None` if it has no such entry.
pub fn fields_of(object: &DynamicObject, manager: &str, operation: &str) -> Option<Value> {
    let entries = object.metadata.managed_fields.iter().flatten();
    let mut entries = entries.filter(|entry| {
        entry.manager.as_deref() == Some(manager) && entry.operation.as_deref() == Some(operation)
    });
    entries
        .next()?
        .fields_v1
        .as_ref()
        .map(|fields| fields.0.clone())
}

/// Compares claims with a body. The identity of the object is never claimed and never missing.
pub fn compare(fields: &Value, body: &Value) -> Claims {
    let mut claims = Claims::default();
    let mut body = body.clone();
    if let Some(object) = body.as_object_mut() {
        object.remove("apiVersion");
        object.remove("kind");
    }
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("name");
        metadata.remove("namespace");
    }
    walk(fields.as_object().unwrap(), Some(&body), "", &mut claims);
    claims.beyond.sort();
    claims.missing.sort();
    claims
}

/// An empty set of fields claims the whole value; otherwise each member of the value must be claimed in turn.
fn walk(fields: &Map<String, Value>, body: Option<&Value>, path: &str, claims: &mut Claims) {
    let Some(body) = body else {
        claims.beyond.push(path.to_owned());
        return;
    };
    // `.` claims that the value is there, not what it contains.
    let members = || fields.iter().filter(|(name, _)| *name != ".");
    if members().next().is_none() {
        return;
    }
    let mut claimed = Vec::new();
    for (name, inner) in members() {
        let (step, value) = resolve(name, body);
        claimed.extend(value.map(std::ptr::from_ref));
        let inner = inner.as_object().unwrap();
        walk(inner, value, &format!("{path}/{step}"), claims);
    }
    let unclaimed = children(body).into_iter();
    let unclaimed = unclaimed.filter(|(_, child)| !claimed.contains(&std::ptr::from_ref(*child)));
    let unclaimed = unclaimed.map(|(step, _)| format!("{path}/{step}"));
    claims.missing.extend(unclaimed);
}

/// `f:name` is a field, `k:{…}` the item of a list with these keys, `v:…` the item of a set with this value.
fn resolve<'body>(name: &str, body: &'body Value) -> (String, Option<&'body Value>) {
    let (kind, rest) = name.split_once(':').unwrap();
    if kind == "f" {
        return (rest.to_owned(), body.get(rest));
    }
    let wanted: Value = serde_json::from_str(rest).unwrap();
    let matches = |item: &&Value| match (&wanted, kind) {
        (Value::Object(keys), "k") => keys.iter().all(|(key, value)| item.get(key) == Some(value)),
        _ => **item == wanted,
    };
    let found = body.as_array().and_then(|items| items.iter().find(matches));
    (rest.to_owned(), found)
}

fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, value)| (index.to_string(), value))
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tells_claims_beyond_the_body_and_fields_without_a_claim() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}},
            "f:spec": {"f:ports": {".": {}, "k:{\"port\":80}": {".": {}, "f:port": {}}}, "f:selector": {}},
        });
        let body = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "n", "namespace": "m", "labels": {"a": "1"}},
            "spec": {"ports": [{"port": 80, "name": "http"}], "selector": {"x": "y"}},
        });
        assert_eq!(
            compare(&fields, &body),
            Claims {
                beyond: vec!["/metadata/labels/b".to_owned()],
                missing: vec!["/spec/ports/{\"port\":80}/name".to_owned()],
            }
        );
    }
}
