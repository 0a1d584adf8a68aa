//! Enough of kustomize to build an overlay in memory and see whether the real one would.
//!
//! Knows resources, namespace, patches, generators of `Secret`s and `ConfigMap`s, and labels. Bases that an include
//! provides are not here; unless a snapshot of them is handed in, what lies behind them is skipped, not judged.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::{Map, Value, json};

use crate::finding::{Code, Finding};

use super::Contents;

/// An object of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltObject {
    /// The manifest after namespace, labels and patches.
    pub manifest: Value,
    /// The file that it comes from.
    pub file: String,
}

/// What came out of a build.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// The objects in order.
    pub objects: Vec<BuiltObject>,
    /// Directories that are not part of the tree and were left out.
    pub unknown_bases: BTreeSet<String>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Kinds without a namespace, as far as overlays use them.
const CLUSTER_SCOPED: &[&str] = &[
    "Namespace",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterIssuer",
    "GatewayClass",
    "StorageClass",
    "RBACDefinition",
    "VolumeSnapshotClass",
    "CustomResourceDefinition",
    "PersistentVolume",
];

/// Builds a directory of a tree.
pub fn build(tree: &Contents, directory: &str) -> Build {
    let mut builder = Builder {
        tree,
        build: Build::default(),
        trail: Vec::new(),
    };
    let objects = builder.directory(directory.trim_end_matches('/'));
    builder.duplicates(&objects);
    Build {
        objects,
        ..builder.build
    }
}

/// Builds every directory of a tree that has a kustomization and is not only a part of another.
pub fn build_all(tree: &Contents) -> Vec<(String, Build)> {
    let directories = tree
        .keys()
        .filter_map(|path| path.strip_suffix("/kustomization.yaml"))
        .filter(|directory| !directory.starts_with("flux-system"));
    directories
        .map(|directory| (directory.to_owned(), build(tree, directory)))
        .collect()
}

struct Builder<'t> {
    tree: &'t Contents,
    build: Build,
    trail: Vec<String>,
}

impl Builder<'_> {
    fn report(&mut self, path: &str, message: String) {
        self.build
            .findings
            .push(Finding::new(Code::Oc7006, path, message));
    }

    fn directory(&mut self, directory: &str) -> Vec<BuiltObject> {
        let path = format!("{directory}/kustomization.yaml");
        if self.trail.iter().any(|seen| seen == directory) {
            self.report(&path, format!("`{directory}` includes itself"));
            return Vec::new();
        }
        let Some(file) = self
            .documents(&path)
            .and_then(|documents| documents.into_iter().next())
        else {
            return Vec::new();
        };
        self.trail.push(directory.to_owned());
        let mut objects = Vec::new();
        for entry in texts(&file, "resources") {
            objects.extend(self.resource(directory, &path, &entry));
        }
        objects.extend(self.generated(directory, &path, &file, "secretGenerator", "Secret"));
        objects.extend(self.generated(directory, &path, &file, "configMapGenerator", "ConfigMap"));
        self.patches(directory, &path, &file, &mut objects);
        if let Some(namespace) = file.get("namespace").and_then(Value::as_str) {
            for object in &mut objects {
                set_namespace(&mut object.manifest, namespace);
            }
        }
        labels(&file, &mut objects);
        self.trail.pop();
        objects
    }

    fn resource(&mut self, directory: &str, listing: &str, entry: &str) -> Vec<BuiltObject> {
        let Some(path) = join(directory, entry) else {
            self.report(listing, format!("`{entry}` leaves the tree"));
            return Vec::new();
        };
        if self.tree.contains_key(&path) {
            let documents = self.documents(&path).unwrap_or_default();
            return documents
                .into_iter()
                .map(|manifest| BuiltObject {
                    manifest,
                    file: path.clone(),
                })
                .collect();
        }
        if self
            .tree
            .contains_key(&format!("{path}/kustomization.yaml"))
        {
            return self.directory(&path);
        }
        let is_provided = path.starts_with("services/base/")
            || path.starts_with("services/global/")
            || path == "flux-system";
        if is_provided {
            self.build.unknown_bases.insert(path);
        } else {
            self.report(listing, format!("`{entry}` does not exist"));
        }
        Vec::new()
    }

    fn documents(&mut self, path: &str) -> Option<Vec<Value>> {
        let Some(bytes) = self.tree.get(path) else {
            self.report(path, "the file does not exist".to_owned());
            return None;
        };
        match parse_bytes(bytes, &SourceName::new(path), &Limits::default()) {
            Ok(documents) => Some(
                documents
                    .into_iter()
                    .map(|document| document.value)
                    .collect(),
            ),
            Err(error) => {
                let finding =
                    Finding::new(Code::Oc7001, path, error.message()).at(error.position());
                self.build.findings.push(finding);
                None
            }
        }
    }

    fn generated(
        &mut self,
        directory: &str,
        listing: &str,
        file: &Value,
        key: &str,
        kind: &str,
    ) -> Vec<BuiltObject> {
        let items = file
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let mut objects = Vec::new();
        for item in items {
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            let mut keys = Map::new();
            for source in texts(&item, "files") {
                let (entry, file) = source.split_once('=').unwrap_or((&source, &source));
                let path = join(directory, file).filter(|path| self.tree.contains_key(path));
                if let Some(path) = path {
                    keys.insert(entry.to_owned(), Value::from(path));
                } else {
                    self.report(listing, format!("`{file}` of {kind} {name} does not exist"));
                }
            }
            let is_fixed =
                item.pointer("/options/disableNameSuffixHash") == Some(&Value::Bool(true));
            if !is_fixed {
                self.report(
                    listing,
                    format!("the name of {kind} {name} would change with its content"),
                );
            }
            let manifest = json!({
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {"name": name},
                "data": keys,
            });
            objects.push(BuiltObject {
                manifest,
                file: listing.to_owned(),
            });
        }
        objects
    }

    /// Every patch must have something to change, unless that comes from a base that is not here.
    fn patches(
        &mut self,
        directory: &str,
        listing: &str,
        file: &Value,
        objects: &mut [BuiltObject],
    ) {
        let items = file
            .get("patches")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for item in items {
            let Some(entry) = item.get("path").and_then(Value::as_str) else {
                continue;
            };
            let Some(path) = join(directory, entry).filter(|path| self.tree.contains_key(path))
            else {
                self.report(listing, format!("the patch `{entry}` does not exist"));
                continue;
            };
            for patch in self.documents(&path).unwrap_or_default() {
                let target = objects
                    .iter_mut()
                    .find(|object| same_object(&object.manifest, &patch));
                match target {
                    Some(object) => merge(&mut object.manifest, &patch),
                    None if self.build.unknown_bases.is_empty() => {
                        self.report(&path, format!("there is no {} to patch", describe(&patch)));
                    }
                    None => {}
                }
            }
        }
    }

    fn duplicates(&mut self, objects: &[BuiltObject]) {
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for object in objects {
            let identity = describe(&object.manifest);
            if let Some(first) = seen.insert(identity.clone(), &object.file) {
                let first = first.to_owned();
                self.report(
                    &object.file,
                    format!("{identity} stands in {first} already"),
                );
            }
        }
    }
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let items = value.get(key).and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// Joins a relative path; none if it leaves the tree.
pub(super) fn join(directory: &str, entry: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in entry.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn describe(value: &Value) -> String {
    let text = |pointer: &str| {
        value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    format!(
        "{} {}/{}",
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name")
    )
}

fn same_object(left: &Value, right: &Value) -> bool {
    let text = |value: &Value, pointer: &str| {
        value
            .pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    text(left, "/kind") == text(right, "/kind")
        && text(left, "/metadata/name") == text(right, "/metadata/name")
}

fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    target.remove(key);
                } else {
                    merge(target.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

fn set_namespace(manifest: &mut Value, namespace: &str) {
    let kind = manifest
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if CLUSTER_SCOPED.contains(&kind) {
        return;
    }
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
}

fn labels(file: &Value, objects: &mut [BuiltObject]) {
    let pairs = file
        .get("labels")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("pairs")?.as_object());
    for pairs in pairs {
        for object in &mut *objects {
            let labels = json!({"metadata": {"labels": pairs}});
            merge(&mut object.manifest, &labels);
        }
    }
}

#[cfg(test)]
mod tests;
