//! Checks of a tree as it stands on disk, whoever wrote it.

mod flux;
mod routes;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    catalog::CATALOG,
    finding::{Code, Finding, sort},
};

use super::{
    Contents, kustomize,
    tree_document::{TreeDocument, read_documents},
};

/// Whether `flux bootstrap` has been run for a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapState {
    /// The renderer's part is there; `flux-system/` is not, or not whole.
    RendererParity,
    /// Everything is there.
    BootstrapComplete,
}

impl BootstrapState {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RendererParity => "renderer-parity",
            Self::BootstrapComplete => "bootstrap-complete",
        }
    }
}

/// What the check of a tree found.
#[derive(Clone, Debug)]
pub struct TreeCheck {
    /// What is wrong, sorted.
    pub findings: Vec<Finding>,
    /// Whether the tree is complete.
    pub state: BootstrapState,
}

/// Checks a tree; paths are relative to the overlay directory. `flux-system/` is looked at, never judged.
pub fn check_tree(cluster: &str, tree: &Contents) -> TreeCheck {
    let mut findings = Vec::new();
    let documents = read_documents(tree, &mut findings);
    aggregates(tree, &documents, &mut findings);
    flux::units(cluster, tree, &documents, &mut findings);
    flux::sources(&documents, &mut findings);
    overlays(tree, &mut findings);
    values_secrets(&documents, &mut findings);
    routes::check(&documents, &mut findings);
    sort(&mut findings);
    findings.dedup();
    let is_complete = ["gotk-components", "gotk-sync", "kustomization"]
        .iter()
        .all(|name| tree.contains_key(&format!("flux-system/{name}.yaml")));
    TreeCheck {
        findings,
        state: if is_complete {
            BootstrapState::BootstrapComplete
        } else {
            BootstrapState::RendererParity
        },
    }
}

/// Aggregates list what is there, and everything that is there is listed.
fn aggregates(tree: &Contents, documents: &[TreeDocument], findings: &mut Vec<Finding>) {
    for branch in ["services", "managed-services", "customer-managed"] {
        for part in ["sources", "fluxcd"] {
            let directory = format!("{branch}/{part}");
            let path = format!("{directory}/kustomization.yaml");
            let Some(listing) = documents.iter().find(|document| document.path == path) else {
                continue;
            };
            let listed: BTreeSet<String> = listing
                .value
                .get("resources")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|entry| kustomize::join(&directory, entry.as_str()?))
                .collect();
            let missing = listed.iter().filter(|entry| !tree.contains_key(*entry));
            findings.extend(missing.map(|entry| {
                Finding::new(
                    Code::Oc7002,
                    path.as_str(),
                    format!("`{entry}` is listed but does not exist"),
                )
            }));
            let prefix = format!("{directory}/");
            let forgotten = tree.keys().filter(|file| {
                file.strip_prefix(&prefix)
                    .is_some_and(|name| !name.contains('/'))
                    && **file != path
                    && !listed.contains(*file)
            });
            findings.extend(forgotten.map(|file| {
                Finding::new(
                    Code::Oc7002,
                    path.as_str(),
                    format!("`{file}` exists but is not listed"),
                )
            }));
        }
    }
}

fn overlays(tree: &Contents, findings: &mut Vec<Finding>) {
    for (_, build) in kustomize::build_all(tree) {
        findings.extend(build.findings);
    }
}

/// Bases read the cluster's values from Secrets of fixed names.
fn values_secrets(documents: &[TreeDocument], findings: &mut Vec<Finding>) {
    for entry in CATALOG {
        let Some(wanted) = entry.values_secret else {
            continue;
        };
        let paths = ["services", "managed-services"]
            .map(|branch| format!("{branch}/{}/kustomization.yaml", entry.name));
        for file in documents
            .iter()
            .filter(|document| paths.contains(&document.path))
        {
            let name = file.text("/secretGenerator/0/name");
            if !name.is_empty() && name != wanted {
                findings.push(Finding::new(
                    Code::Oc7007,
                    file.path.as_str(),
                    format!("the values Secret is called `{name}`, the base reads `{wanted}`"),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
