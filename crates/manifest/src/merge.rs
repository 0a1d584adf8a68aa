//! Merges of objects: what was applied, what is wanted, what there is. Pure.
//!
//! Types of Kubernetes itself are merged strategically: some lists by the key of their items ([`tables`]). All other
//! types are merged as RFC 7386 says, where a list is one value.

mod order;
mod strategic;
pub mod tables;
mod three_way;

use serde_json::{Map, Value};

pub use self::{strategic::strategic, tables::Shape, three_way::three_way};

/// A patch that cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct PatchError {
    /// Path of the field: `spec.containers[1]`.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const SET_ORDER: &str = "$setElementOrder/";

/// Merges a patch into a target as RFC 7386 says.
///
/// ```
/// use mainstay_manifest::merge::rfc7386;
/// use serde_json::json;
///
/// let merged = rfc7386(&json!({"a": {"b": 1, "c": 2}, "d": [1]}), &json!({"a": {"b": null}, "d": [2]}));
/// assert_eq!(merged, json!({"a": {"c": 2}, "d": [2]}));
/// ```
pub fn rfc7386(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut merged = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            merged.remove(key);
        } else {
            let before = merged.get(key).unwrap_or(&Value::Null);
            let after = rfc7386(before, value);
            merged.insert(key.clone(), after);
        }
    }
    Value::Object(merged)
}

/// Merges a patch that [`three_way`] made, or one of the same form, into a live object.
///
/// `shape` is that of the object: [`Shape::of`] its kind.
pub fn patched(live: &Value, patch: &Value, shape: Shape) -> Result<Value, PatchError> {
    match shape {
        Shape::Unknown => Ok(rfc7386(live, patch)),
        shape => strategic(live, patch, shape),
    }
}

/// Lays a wanted object over a live one, for what cannot be merged: maps one into the other, lists item by item and cut
/// to the wanted length; a shorter live list gives way.
pub fn overlay(live: &mut Value, wanted: &Value) {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            for (key, value) in wanted {
                overlay(live.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(live), Value::Array(wanted)) if live.len() >= wanted.len() => {
            live.truncate(wanted.len());
            for (live, wanted) in live.iter_mut().zip(wanted) {
                overlay(live, wanted);
            }
        }
        (live, wanted) => live.clone_from(wanted),
    }
}

/// A value without members that are null: they say that there is nothing.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

/// The key of an item of a list, as text.
fn key_of(item: &Value, key: &str) -> Option<String> {
    match item.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The keys of all items; none if an item lacks one, or two have the same.
fn distinct_keys(items: &[Value], key: &str) -> Option<Vec<String>> {
    let keys: Vec<String> = items
        .iter()
        .map(|item| key_of(item, key))
        .collect::<Option<_>>()?;
    let mut sorted: Vec<&String> = keys.iter().collect();
    sorted.sort();
    let is_distinct = sorted.windows(2).all(|pair| pair.first() != pair.last());
    is_distinct.then_some(keys)
}

fn empty() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests;
