//! What must hold before anything is installed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Problem, TransformError};
use crate::{
    conventions::{OWN_GROUP, RESERVED_KEYS},
    object::Object,
    set::ManifestSet,
};

/// Name of this step in errors.
const NAME: &str = "validate";

/// A label or annotation that users asked for and may not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidRequest {
    /// `labels` or `annotations`.
    pub field: &'static str,
    /// What is wrong.
    pub problem: String,
}

/// Checks labels that users want on everything.
pub fn requested_labels(labels: &BTreeMap<String, String>) -> Result<(), InvalidRequest> {
    let invalid = |problem| InvalidRequest {
        field: "labels",
        problem,
    };
    for (key, value) in labels {
        check_key(key)
            .and_then(|()| check_value(key, value))
            .map_err(invalid)?;
        check_reserved(key).map_err(invalid)?;
    }
    Ok(())
}

/// Checks annotations that users want on everything.
pub fn requested_annotations(annotations: &BTreeMap<String, String>) -> Result<(), InvalidRequest> {
    let invalid = |problem| InvalidRequest {
        field: "annotations",
        problem,
    };
    for key in annotations.keys() {
        check_key(key)
            .and_then(|()| check_reserved(key))
            .map_err(invalid)?;
    }
    Ok(())
}

/// Checks a set that is about to be installed: no identity twice, no kind of our own, well-formed labels and
/// annotations.
pub fn set(set: &ManifestSet) -> Result<(), TransformError> {
    let mut seen = BTreeSet::new();
    for object in set {
        let check = own_kind(object)
            .and_then(|()| metadata(object))
            .and_then(|()| {
                let is_new = object
                    .identity()
                    .is_none_or(|identity| seen.insert(identity));
                if is_new {
                    Ok(())
                } else {
                    Err(Problem::InvalidResource(
                        "this object is there twice".to_owned(),
                    ))
                }
            });
        check.map_err(|problem| TransformError::new(NAME, object, problem))?;
    }
    Ok(())
}

/// A bundle that installs bundles would never end.
fn own_kind(object: &Object) -> Result<(), Problem> {
    if object.group() == OWN_GROUP && matches!(object.kind_name(), "Connector" | "InstallManifest")
    {
        let kind = object.kind_name();
        return Err(Problem::InvalidResource(format!(
            "a bundle must not hold a {kind}"
        )));
    }
    Ok(())
}

fn metadata(object: &Object) -> Result<(), Problem> {
    for field in ["labels", "annotations"] {
        let Some(map) = object.value().pointer(&format!("/metadata/{field}")) else {
            continue;
        };
        let wrong =
            |problem: String| Problem::InvalidResource(format!("metadata.{field}: {problem}"));
        let map = match map {
            Value::Object(map) => map,
            Value::Null => continue,
            _ => return Err(wrong("this is no mapping".to_owned())),
        };
        for (key, value) in map {
            check_key(key).map_err(wrong)?;
            match value {
                Value::String(text) if field == "labels" => {
                    check_value(key, text).map_err(wrong)?;
                }
                Value::String(_) | Value::Null => {}
                other => {
                    let text = format!("the value of `{key}` is no text, but {other}: quote it");
                    return Err(wrong(text));
                }
            }
        }
    }
    Ok(())
}

fn check_reserved(key: &str) -> Result<(), String> {
    if RESERVED_KEYS.contains(&key) {
        return Err(format!(
            "`{key}` is written by the operator and cannot be set"
        ));
    }
    Ok(())
}

/// `prefix/name`, the prefix a DNS name, the name up to 63 characters.
fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_domain = |prefix: &str| {
        prefix.len() <= 253
            && prefix.split('.').all(|part| {
                !part.is_empty()
                    && part.bytes().all(|byte| {
                        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
                    })
                    && !part.starts_with('-')
                    && !part.ends_with('-')
            })
    };
    if is_name(name) && !name.is_empty() && prefix.is_none_or(is_domain) {
        return Ok(());
    }
    Err(format!("`{key}` is not a valid key"))
}

fn check_value(key: &str, value: &str) -> Result<(), String> {
    if is_name(value) {
        return Ok(());
    }
    Err(format!(
        "the value of `{key}` is not a valid label: at most 63 letters, digits, `-`, `_` and `.`, with letters or digits at both ends"
    ))
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.len() <= 63
        && text
            .bytes()
            .all(|byte| is_plain(byte) || b"-_.".contains(&byte))
        && text.bytes().next().is_none_or(is_plain)
        && text.bytes().next_back().is_none_or(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::parsed;

    fn problem(text: &str) -> String {
        set(&parsed(text)).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_installed_is_refused_with_its_name() {
        let twice = "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: A, metadata: {name: a}}";
        assert_eq!(
            problem(twice),
            "transformer `validate`: A a (test.yaml:3: document 2): this object is there twice"
        );
        let own = "{apiVersion: operator.connectors.alauda.io/v1alpha1, kind: Connector, metadata: {name: a}}";
        assert!(problem(own).ends_with("a bundle must not hold a Connector"));
        let number = "{apiVersion: v1, kind: A, metadata: {name: a, labels: {version: 1}}}";
        assert!(
            problem(number)
                .ends_with("metadata.labels: the value of `version` is no text, but 1: quote it")
        );
        for labels in [
            "{'': x}",
            "{'a b': x}",
            "{A/b: x}",
            "{a: '-'}",
            "{a: 'x y'}",
        ] {
            let text =
                format!("{{apiVersion: v1, kind: A, metadata: {{name: a, labels: {labels}}}}}");
            assert!(problem(&text).contains("metadata.labels: "), "{labels}");
        }
        let fine = "{apiVersion: v1, kind: A, metadata: {name: a, labels: {a: '', example.com/b_c.d: X-1}, annotations: {note: 'any text'}}}";
        set(&parsed(fine)).unwrap();
    }

    #[test]
    fn keys_of_the_operator_cannot_be_asked_for() {
        let map = |key: &str| BTreeMap::from([(key.to_owned(), "x".to_owned())]);
        for key in RESERVED_KEYS {
            assert!(requested_labels(&map(key)).is_err(), "{key}");
            assert!(requested_annotations(&map(key)).is_err(), "{key}");
        }
        requested_labels(&map("app")).unwrap();
        let failure =
            requested_labels(&BTreeMap::from([("a".to_owned(), "x y".to_owned())])).unwrap_err();
        assert!(
            failure
                .to_string()
                .starts_with("labels: the value of `a` is not a valid label")
        );
    }
}
