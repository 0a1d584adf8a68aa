//! Marks: labels and annotations that say which root has put an object where it is, and from what.
//!
//! An owner reference says the same and is stronger, but not everything may have one: what the garbage collector must
//! never take, and what lives in no namespace while its root lives in one. A mark is also all that has to be known of an
//! object to tell whether it was written from what is wanted now: its hash.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a mark stands on objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// A label and its value: without it there is no mark.
    pub label: (&'static str, &'static str),
    /// The name of the root, as a JSON pointer.
    pub name: &'static str,
    /// The namespace of the root, if it has one, as a JSON pointer.
    pub namespace: Option<&'static str>,
    /// The hash of what the object was written from, as a JSON pointer.
    pub hash: &'static str,
}

/// The mark of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Marked {
    /// The root: `namespace/name`, or the bare name of one that lives in no namespace.
    pub root: String,
    /// The hash of what the object was written from; empty if it has none.
    pub hash: String,
}

impl Mark {
    /// The label selector for objects that may carry the mark.
    pub fn selector(&self) -> String {
        let (label, value) = self.label;
        format!("{label}={value}")
    }

    /// The mark that an object carries. Its metadata are enough.
    pub fn read(&self, object: &Value) -> Option<Marked> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let (label, value) = self.label;
        let labels = object.pointer("/metadata/labels")?;
        labels.get(label).filter(|found| *found == value)?;
        let name = text(self.name)?;
        let root = match self.namespace {
            None => name.to_owned(),
            Some(namespace) => format!("{}/{name}", text(namespace)?),
        };
        let hash = text(self.hash).unwrap_or_default().to_owned();
        Some(Marked { root, hash })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MARK: Mark = Mark {
        label: ("example.io/by", "us"),
        name: "/metadata/annotations/example.io~1root",
        namespace: None,
        hash: "/metadata/annotations/example.io~1hash",
    };

    #[test]
    fn a_mark_counts_only_with_its_label() {
        let object = |by: &str| {
            json!({"metadata": {
                "labels": {"example.io/by": by},
                "annotations": {"example.io/root": "shop", "example.io/hash": "1"},
            }})
        };
        let marked = MARK.read(&object("us")).unwrap();
        assert_eq!((marked.root.as_str(), marked.hash.as_str()), ("shop", "1"));
        assert_eq!(MARK.read(&object("them")), None);
        assert_eq!(MARK.read(&json!({"metadata": {}})), None);
    }

    #[test]
    fn a_root_in_a_namespace_is_told_by_both_names() {
        let mark = Mark {
            name: "/metadata/labels/name",
            namespace: Some("/metadata/labels/namespace"),
            ..MARK
        };
        let mut object =
            json!({"metadata": {"labels": {"example.io/by": "us", "name": "a", "namespace": "n"}}});
        assert_eq!(mark.read(&object).unwrap().root, "n/a");
        object["metadata"]["labels"]["namespace"] = Value::Null;
        assert_eq!(mark.read(&object), None);
    }
}
