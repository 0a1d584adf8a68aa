//! The documents of a tree on disk, for checks that look inside.

use std::collections::BTreeMap;

use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::Value;

use crate::finding::{Code, Finding};

use super::{Contents, is_yaml};

/// The group of Flux units.
pub(super) const FLUX: &str = "kustomize.toolkit.fluxcd.io/";

/// The group of Git sources.
pub(super) const SOURCE: &str = "source.toolkit.fluxcd.io/";

/// One document of the tree.
pub(super) struct TreeDocument {
    pub(super) path: String,
    pub(super) value: Value,
}

impl TreeDocument {
    /// The text at a JSON pointer; empty if there is none.
    pub(super) fn text(&self, pointer: &str) -> &str {
        self.value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The items of the list at a JSON pointer.
    pub(super) fn items(&self, pointer: &str) -> impl Iterator<Item = &Value> {
        let list = self.value.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten()
    }

    /// Kind, namespace and name of an object of the cluster; none for files that only tools read.
    pub(super) fn identity(&self) -> Option<String> {
        let (kind, name) = (self.text("/kind"), self.text("/metadata/name"));
        if kind.is_empty() || name.is_empty() {
            return None;
        }
        Some(match self.text("/metadata/namespace") {
            "" => format!("{kind} {name}"),
            namespace => format!("{kind} {namespace}/{name}"),
        })
    }

    /// Whether the value at a JSON pointer is true.
    pub(super) fn is_set(&self, pointer: &str) -> bool {
        self.value.pointer(pointer) == Some(&Value::Bool(true))
    }

    /// Whether Flux deletes what a unit applied when the unit goes.
    pub(super) fn deletes_at_its_end(&self) -> bool {
        let deletes = match self.text("/spec/deletionPolicy") {
            "" | "MirrorPrune" => self.is_set("/spec/prune"),
            "Orphan" => false,
            _ => true,
        };
        deletes && !self.is_set("/spec/suspend")
    }

    /// Whether this is an object of a kind in any version of a group.
    pub(super) fn is(&self, kind: &str, group: &str) -> bool {
        self.text("/kind") == kind && self.text("/apiVersion").starts_with(group)
    }
}

/// The objects of a kind by name.
pub(super) fn by_name<'d>(
    documents: &'d [TreeDocument],
    kind: &str,
    group: &str,
) -> BTreeMap<&'d str, &'d TreeDocument> {
    let named = documents
        .iter()
        .filter(|document| document.is(kind, group))
        .map(|document| (document.text("/metadata/name"), document));
    named.collect()
}

/// Reads everything except what `flux bootstrap` wrote, and reports what is no clean YAML.
pub(super) fn read_documents(tree: &Contents, findings: &mut Vec<Finding>) -> Vec<TreeDocument> {
    let mut documents = Vec::new();
    let files = tree
        .iter()
        .filter(|(path, _)| !path.starts_with("flux-system/") && is_yaml(path));
    for (path, bytes) in files {
        match parse_bytes(bytes, &SourceName::new(path), &Limits::default()) {
            Ok(parsed) => documents.extend(parsed.into_iter().map(|document| TreeDocument {
                path: path.clone(),
                value: document.value,
            })),
            Err(error) => {
                findings.push(
                    Finding::new(Code::Oc7001, path.as_str(), error.message()).at(error.position()),
                );
            }
        }
        if let Some(problem) = untidy_line(bytes) {
            findings.push(Finding::new(Code::Oc7001, path.as_str(), problem));
        }
    }
    documents
}

/// Tabs and odd indentation, outside of block texts, where every blank counts.
fn untidy_line(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut block: Option<usize> = None;
    for (line, number) in text.lines().zip(1..) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if block.is_some_and(|outer| indent > outer || line.trim().is_empty()) {
            continue;
        }
        block = None;
        if line.trim_start_matches(' ').starts_with('\t') {
            return Some(format!("line {number} is indented with a tab"));
        }
        if indent % 2 == 1 && !line.trim_start().starts_with('#') {
            return Some(format!(
                "line {number} is indented by an odd number of blanks"
            ));
        }
        let end = line.trim_end();
        if [": |", ": |-", ": |+", ": >", ": >-", "- |", "- |-"]
            .iter()
            .any(|mark| end.ends_with(mark))
        {
            block = Some(indent);
        }
    }
    None
}
