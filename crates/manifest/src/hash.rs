//! Hashes that depend on what objects mean, not on how they were written.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Number, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    conventions::HASH_ANNOTATION,
    object::Object,
    transform::{Problem, Transform, normalise::SERVER_METADATA},
};

/// The canonical text of an object: keys in the order of their bytes, no white space, no members that are null, no
/// empty `metadata.labels` and `metadata.annotations`, nothing that the server writes, and no hash.
///
/// ```
/// use mainstay_manifest::{Object, hash};
/// use serde_json::json;
///
/// let object = Object::new(json!({
///     "kind": "ConfigMap", "apiVersion": "v1",
///     "metadata": {"name": "a", "labels": {}, "uid": "1"},
///     "data": {"b": "2", "a": "1", "c": null},
/// }))?;
/// assert_eq!(
///     hash::canonical(&object),
///     r#"{"apiVersion":"v1","data":{"a":"1","b":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}"#
/// );
/// # Ok::<(), mainstay_manifest::object::InvalidObject>(())
/// ```
pub fn canonical(object: &Object) -> String {
    let mut out = String::new();
    write_members(&mut out, object.value(), |out, key, value| match key {
        "status" => false,
        "metadata" if value.is_object() => {
            write_key(out, key);
            write_members(out, value, |out, key, value| {
                if SERVER_METADATA.contains(&key) {
                    return false;
                }
                if matches!(key, "labels" | "annotations") {
                    return write_texts(out, key, value);
                }
                write_member(out, key, value)
            });
            true
        }
        _ => write_member(out, key, value),
    });
    out
}

/// Hash of one object.
pub fn of_object(object: &Object) -> String {
    sha256(canonical(object).as_bytes())
}

/// Hash of a set: the order of its objects does not matter.
///
/// Those whose name is yet to be made up have no identity; they are ordered by what they are.
pub fn of_set<'set>(objects: impl IntoIterator<Item = &'set Object>) -> String {
    let mut texts: Vec<_> = objects
        .into_iter()
        .map(|object| {
            let name = object
                .name()
                .map_or((1, object.generate_name()), |name| (0, Some(name)));
            let place = (object.group(), object.kind_name(), object.namespace(), name);
            (place, canonical(object))
        })
        .collect();
    texts.sort();
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    sha256(format!("[{}]", texts.join(",")).as_bytes())
}

/// Hash over the hashes of both sets of an installation.
pub fn of_installation(static_hash: &str, deployment_hash: &str) -> String {
    sha256(format!("{static_hash}:{deployment_hash}").as_bytes())
}

/// Lower-case hexadecimal SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the hash of an object into its annotation, as the last step before it is installed.
#[derive(Clone, Copy, Debug)]
pub struct Stamp;

impl Transform for Stamp {
    fn name(&self) -> &'static str {
        "hash"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        let hash = of_object(object);
        object.set_annotation(HASH_ANNOTATION, &hash);
        Ok(())
    }
}

/// Writes a mapping. `member` writes a member, or says that there is nothing to write.
fn write_members(
    out: &mut String,
    value: &Value,
    mut member: impl FnMut(&mut String, &str, &Value) -> bool,
) {
    // Sorted here as well: whether a map is sorted depends on how the JSON library was built.
    let members: BTreeMap<&str, &Value> = value
        .as_object()
        .into_iter()
        .flat_map(Map::iter)
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    out.push('{');
    let mut is_first = true;
    for (key, value) in members.into_iter().filter(|(_, value)| !value.is_null()) {
        let before = out.len();
        if !is_first {
            out.push(',');
        }
        if member(out, key, value) {
            is_first = false;
        } else {
            out.truncate(before);
        }
    }
    out.push('}');
}

fn write_member(out: &mut String, key: &str, value: &Value) -> bool {
    write_key(out, key);
    write_value(out, value);
    true
}

/// Labels or annotations; none of them is the same as an empty map.
fn write_texts(out: &mut String, key: &str, value: &Value) -> bool {
    let mut inside = String::new();
    write_members(&mut inside, value, |out, key, value| {
        key != HASH_ANNOTATION && write_member(out, key, value)
    });
    if inside == "{}" {
        return false;
    }
    write_key(out, key);
    out.push_str(&inside);
    true
}

fn write_key(out: &mut String, key: &str) {
    write_text(out, key);
    out.push(':');
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(_) => write_members(out, value, write_member),
    }
}

/// `1.0` and `1` are the same number.
fn write_number(out: &mut String, number: &Number) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let _ = match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            write!(out, "{float:.0}")
        }
        _ => write!(out, "{number}"),
    };
}

/// Escapes only what JSON demands.
fn write_text(out: &mut String, text: &str) {
    // A text can always be written as JSON.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::{any_object, object};

    fn config_map(data: &Value) -> Object {
        object(
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}),
        )
    }

    #[test]
    fn what_the_server_writes_does_not_count() {
        let plain = config_map(&json!({"a": "1"}));
        let mut live = plain.clone();
        let metadata = live.metadata_mut();
        for field in [
            "creationTimestamp",
            "uid",
            "resourceVersion",
            "generation",
            "selfLink",
        ] {
            metadata.insert(field.to_owned(), json!("x"));
        }
        metadata.insert("managedFields".to_owned(), json!([{}]));
        metadata.insert("annotations".to_owned(), json!({HASH_ANNOTATION: "old"}));
        live.value_mut()["status"] = json!({"a": 1});
        assert_eq!(of_object(&plain), of_object(&live));
    }

    #[test]
    fn a_number_is_its_value_and_every_other_change_counts() {
        let hash = |value: Value| of_object(&config_map(&value));
        assert_eq!(hash(json!({"a": 1})), hash(json!({"a": 1.0})));
        assert_ne!(hash(json!({"a": 1})), hash(json!({"a": "1"})));
        assert_ne!(hash(json!({"a": 1})), hash(json!({"a": 1.5})));
        assert_ne!(hash(json!({"a": [1, null]})), hash(json!({"a": [1]})));
        assert_ne!(hash(json!({"a": {}})), hash(json!({})));
        assert_eq!(hash(json!({"a": null})), hash(json!({})));
        assert_ne!(
            hash(json!({"a": "1\u{7f}ä\n"})),
            hash(json!({"a": "1\u{7f}ä"}))
        );
    }

    #[test]
    fn the_order_of_a_set_does_not_count_but_its_content_does() {
        let job = |start: &str| {
            object(
                &json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": start}}),
            )
        };
        let (a, b, c) = (config_map(&json!({})), job("x-"), job("y-"));
        assert_eq!(of_set([&a, &b, &c]), of_set([&c, &b, &a]));
        assert_ne!(of_set([&a, &b, &c]), of_set([&a, &b, &b]));
        assert_ne!(of_set([&a]), of_set([&b]));
    }

    #[test]
    fn an_installation_is_known_by_both_its_sets() {
        assert_eq!(of_installation("a", "b"), sha256(b"a:b"));
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    proptest! {
        #[test]
        fn a_stamp_does_not_change_what_it_stands_for(object in any_object()) {
            let mut stamped = object.clone();
            Stamp.apply(&mut stamped).unwrap();
            let hash = of_object(&object);
            prop_assert_eq!(stamped.annotation(HASH_ANNOTATION), Some(hash.as_str()));
            let mut again = stamped.clone();
            Stamp.apply(&mut again).unwrap();
            prop_assert_eq!(again, stamped);
        }

        #[test]
        fn the_canonical_text_is_json_of_the_same_object(object in any_object()) {
            let text = canonical(&object);
            let read = Object::new(serde_json::from_str(&text).unwrap()).unwrap();
            prop_assert_eq!(canonical(&read), text);
        }

        #[test]
        fn the_way_an_object_is_written_does_not_count(object in any_object()) {
            let yaml = mainstay_yaml::print(object.value());
            let read = crate::parse::text(&yaml, "a.yaml").unwrap();
            prop_assert_eq!(of_set(&read), of_set([&object]));
        }
    }
}
