//! Differences between two trees by meaning: which field of which object, not which line.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde::Serialize;
use serde_json::Value;

use super::OverlayTree;

/// Files by path, as they stand on a disk or in a fixture.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// What a secret looks like in a difference.
const HIDDEN: &str = "<secret changed>";

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Where the field is: a JSON pointer, in which items of lists stand as `[name]` if they have names and as `[]` if
    /// they are plain values. Empty for the document as a whole.
    pub pointer: String,
    /// The value before; none if the field is new.
    pub before: Option<Value>,
    /// The value after; none if the field is gone.
    pub after: Option<Value>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content differs.
    Changed,
}

/// One object that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentChange {
    /// `Kind namespace/name`, or the number of the document where it is no Kubernetes object.
    pub object: String,
    /// The fields.
    pub fields: Vec<FieldChange>,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreeChange {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
    /// Whether a reviewer should look twice: encryption rules, repository addresses, Secrets of the customer.
    pub security_sensitive: bool,
    /// What differs inside; empty for new and deleted files, and where only the text differs.
    pub documents: Vec<DocumentChange>,
}

/// Compares what is there with what would be rendered. Content of secret files is never shown.
pub fn semantic_diff(before: &Contents, after: &OverlayTree) -> Vec<TreeChange> {
    let paths: BTreeSet<&String> = before.keys().chain(after.files.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let old = before.get(path).map(Vec::as_slice);
            let new = after.files.get(path);
            let (change, documents) = match (old, new) {
                (None, Some(_)) => (FileChange::Added, Vec::new()),
                (Some(_), None) => (FileChange::Deleted, Vec::new()),
                (Some(old), Some(new)) if old != new.bytes => (
                    FileChange::Changed,
                    document_changes(path, old, &new.bytes, new.sensitivity.is_some()),
                ),
                _ => return None,
            };
            let security_sensitive = is_security_sensitive(path, &documents);
            Some(TreeChange {
                path: path.clone(),
                change,
                security_sensitive,
                documents,
            })
        })
        .collect()
}

fn is_security_sensitive(path: &str, documents: &[DocumentChange]) -> bool {
    let touches_url = || {
        documents
            .iter()
            .flat_map(|document| &document.fields)
            .any(|field| {
                field.pointer == "/spec/url" || field.pointer.starts_with("/spec/secretRef")
            })
    };
    path == ".sops.yaml"
        || (path.starts_with("customer-managed/sources/") && !path.ends_with("kustomization.yaml"))
        || (path.contains("/sources/") && touches_url())
}

fn document_changes(
    path: &str,
    before: &[u8],
    after: &[u8],
    is_secret: bool,
) -> Vec<DocumentChange> {
    let before = documents(path, before).unwrap_or_default();
    let after = documents(path, after).unwrap_or_default();
    let keys: Vec<&String> = {
        let mut keys: Vec<&String> = before.iter().map(|(key, _)| key).collect();
        keys.extend(after.iter().map(|(key, _)| key));
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let find = |all: &[(String, Value)], key: &str| {
        all.iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.clone())
    };
    keys.into_iter()
        .filter_map(|key| {
            let (old, new) = (find(&before, key), find(&after, key));
            let hide = is_secret || key == "Secret" || key.starts_with("Secret ");
            let mut fields = field_changes(old.as_ref(), new.as_ref());
            if hide {
                fields.iter_mut().for_each(FieldChange::hide);
            }
            (!fields.is_empty()).then(|| DocumentChange {
                object: key.clone(),
                fields,
            })
        })
        .collect()
}

impl FieldChange {
    pub(super) fn hide(&mut self) {
        for value in [&mut self.before, &mut self.after] {
            if value.is_some() {
                *value = Some(Value::from(HIDDEN));
            }
        }
    }
}

/// The documents of a file with their identities; none if it is not YAML.
pub(super) fn documents(path: &str, bytes: &[u8]) -> Option<Vec<(String, Value)>> {
    let parsed = parse_bytes(bytes, &SourceName::new(path), &Limits::default()).ok()?;
    let documents = parsed.into_iter().enumerate().map(|(index, document)| {
        let identity =
            identity(&document.value).unwrap_or_else(|| format!("document {}", index + 1));
        (identity, document.value)
    });
    Some(documents.collect())
}

/// `Kind namespace/name` of a Kubernetes object.
fn identity(value: &Value) -> Option<String> {
    let kind = value.get("kind")?.as_str()?;
    let metadata = value.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| metadata.get(key)?.as_str());
    Some(match (text("namespace"), text("name")) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    })
}

/// The fields in which two values differ.
pub fn field_changes(before: Option<&Value>, after: Option<&Value>) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    collect(before, after, &mut String::new(), &mut changes);
    changes
}

fn collect(
    before: Option<&Value>,
    after: Option<&Value>,
    pointer: &mut String,
    changes: &mut Vec<FieldChange>,
) {
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                collect(old.get(key), new.get(key), pointer, changes);
                pointer.truncate(length);
            }
        }
        (before, after) if before == after => {}
        (Some(Value::Array(old)), Some(Value::Array(new))) => list(old, new, pointer, changes),
        (before, after) => changes.push(FieldChange {
            pointer: pointer.clone(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

/// Items that have names belong together by name, plain values by value, and everything else by position.
fn list(old: &[Value], new: &[Value], pointer: &mut String, changes: &mut Vec<FieldChange>) {
    let mut step = |suffix: &str, before: Option<&Value>, after: Option<&Value>| {
        let length = pointer.len();
        pointer.push_str(suffix);
        collect(before, after, pointer, changes);
        pointer.truncate(length);
    };
    if let (Some(old_names), Some(new_names)) = (names(old), names(new)) {
        let find = |items: &[(String, usize)], name: &str| {
            let found = items.iter().find(|(known, _)| known == name);
            found.map(|(_, index)| *index)
        };
        let added = new_names
            .iter()
            .filter(|(name, _)| find(&old_names, name).is_none());
        for (name, _) in old_names.iter().chain(added) {
            let before = find(&old_names, name).and_then(|index| old.get(index));
            let after = find(&new_names, name).and_then(|index| new.get(index));
            step(&format!("[{name}]"), before, after);
        }
    } else if old.iter().chain(new).all(is_plain) {
        let (mut removed, mut added) = (old.to_vec(), Vec::new());
        for item in new {
            match removed.iter().position(|known| known == item) {
                Some(index) => {
                    removed.remove(index);
                }
                None => added.push(item),
            }
        }
        if removed.is_empty() && added.is_empty() {
            changes.push(FieldChange {
                pointer: pointer.clone(),
                before: Some(old.into()),
                after: Some(new.into()),
            });
            return;
        }
        for item in &removed {
            step("[]", Some(item), None);
        }
        for item in added {
            step("[]", None, Some(item));
        }
    } else {
        for index in 0..old.len().max(new.len()) {
            step(&format!("/{index}"), old.get(index), new.get(index));
        }
    }
}

/// The names of all items with their positions, if every item has one of its own.
fn names(items: &[Value]) -> Option<Vec<(String, usize)>> {
    let mut names: Vec<(String, usize)> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let name = item.get("name")?.as_str()?;
        if names.iter().any(|(known, _)| known == name) {
            return None;
        }
        names.push((name.to_owned(), index));
    }
    Some(names)
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

#[cfg(test)]
mod tests;
