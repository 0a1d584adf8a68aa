//! Checks of a tree as it stands on disk, whoever wrote it.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_yaml::{Limits, SourceName, parse_bytes};
use serde_json::Value;

use crate::{
    catalog::CATALOG,
    finding::{Code, Finding, sort},
    flux::SPEC_FIELDS,
    graph::{FluxGraph, GraphNode},
};

use super::{Contents, is_yaml, kustomize};

/// Whether `flux bootstrap` has been run for a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapState {
    /// The renderer's part is there; `flux-system/` is not, or not whole.
    RendererParity,
    /// Everything is there.
    BootstrapComplete,
}

/// What the check of a tree found.
#[derive(Clone, Debug)]
pub struct TreeCheck {
    /// What is wrong, sorted.
    pub findings: Vec<Finding>,
    /// Whether the tree is complete.
    pub state: BootstrapState,
}

/// One document of the tree.
struct TreeDocument {
    path: String,
    value: Value,
}

impl TreeDocument {
    fn text(&self, pointer: &str) -> &str {
        self.value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn is(&self, kind: &str, group: &str) -> bool {
        self.text("/kind") == kind && self.text("/apiVersion").starts_with(group)
    }
}

const FLUX: &str = "kustomize.toolkit.fluxcd.io/";
const SOURCE: &str = "source.toolkit.fluxcd.io/";

/// Checks a tree; paths are relative to the overlay directory. `flux-system/` is looked at, never judged.
pub fn check_tree(cluster: &str, tree: &Contents) -> TreeCheck {
    let mut findings = Vec::new();
    let documents = read(tree, &mut findings);
    aggregates(tree, &documents, &mut findings);
    flux_units(cluster, tree, &documents, &mut findings);
    git_sources(&documents, &mut findings);
    overlays(tree, &mut findings);
    values_secrets(&documents, &mut findings);
    routes(&documents, &mut findings);
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

fn read(tree: &Contents, findings: &mut Vec<Finding>) -> Vec<TreeDocument> {
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

fn flux_units(
    cluster: &str,
    tree: &Contents,
    documents: &[TreeDocument],
    findings: &mut Vec<Finding>,
) {
    let units: Vec<&TreeDocument> = documents
        .iter()
        .filter(|document| document.is("Kustomization", FLUX))
        .collect();
    let root = format!("applications/overlays/{cluster}/");
    for unit in &units {
        let name = unit.text("/metadata/name");
        let spec = unit.value.get("spec").and_then(Value::as_object);
        let unknown = spec.into_iter().flat_map(|spec| spec.keys());
        findings.extend(
            unknown
                .filter(|key| !SPEC_FIELDS.contains(&key.as_str()))
                .map(|key| {
                    Finding::new(
                        Code::Oc7003,
                        unit.path.as_str(),
                        format!("`{name}` has the unknown field `spec.{key}`"),
                    )
                }),
        );
        let path = unit.text("/spec/path").trim_start_matches("./");
        if let Some(inside) = path.strip_prefix(&root) {
            let exists = tree.contains_key(&format!(
                "{}/kustomization.yaml",
                inside.trim_end_matches('/')
            ));
            if !exists && !inside.starts_with("services/base/") {
                findings.push(Finding::new(
                    Code::Oc7005,
                    unit.path.as_str(),
                    format!("the path `{inside}` of `{name}` does not exist"),
                ));
            }
        }
    }
    let graph = FluxGraph::new(units.iter().map(|unit| {
        GraphNode {
            name: unit.text("/metadata/name").to_owned(),
            owner: unit.path.clone(),
            depends_on: unit
                .value
                .pointer("/spec/dependsOn")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.get("name")?.as_str()?.to_owned()))
                .collect(),
        }
    }));
    for (unit, target) in graph.missing_targets() {
        let path = graph.get(unit).map_or("", |node| node.owner.as_str());
        findings.push(Finding::new(
            Code::Oc7003,
            path,
            format!("`{unit}` depends on `{target}`, which does not exist"),
        ));
    }
    if let Some(cycle) = graph.cycle() {
        findings.push(Finding::new(
            Code::Oc3203,
            "",
            format!("the Flux units wait for each other: {}", cycle.join(" -> ")),
        ));
    }
}

fn git_sources(documents: &[TreeDocument], findings: &mut Vec<Finding>) {
    for source in documents
        .iter()
        .filter(|document| document.is("GitRepository", SOURCE))
    {
        let name = source.text("/metadata/name");
        let references = source
            .value
            .pointer("/spec/ref")
            .and_then(Value::as_object)
            .map_or(0, serde_json::Map::len);
        if references != 1 {
            findings.push(Finding::new(
                Code::Oc7004,
                source.path.as_str(),
                format!("`{name}` must have exactly one reference"),
            ));
        }
        let url = source.text("/spec/url");
        if !url.starts_with("https://") && !url.starts_with("ssh://") {
            findings.push(Finding::new(
                Code::Oc7004,
                source.path.as_str(),
                format!("the address of `{name}` is neither ssh nor https"),
            ));
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

/// Routes must name listeners that answer for their hosts.
fn routes(documents: &[TreeDocument], findings: &mut Vec<Finding>) {
    let mut listeners: BTreeMap<(&str, &str, &str), &str> = BTreeMap::new();
    for gateway in documents
        .iter()
        .filter(|document| document.is("Gateway", "gateway.networking.k8s.io/"))
    {
        let name = (
            gateway.text("/metadata/name"),
            gateway.text("/metadata/namespace"),
        );
        let all = gateway
            .value
            .pointer("/spec/listeners")
            .and_then(Value::as_array);
        for listener in all.into_iter().flatten() {
            let text = |key: &str| {
                listener
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            listeners.insert((name.0, name.1, text("name")), text("hostname"));
        }
    }
    for route in documents
        .iter()
        .filter(|document| document.is("HTTPRoute", "gateway.networking.k8s.io/"))
    {
        let parents = route
            .value
            .pointer("/spec/parentRefs")
            .and_then(Value::as_array);
        for parent in parents.into_iter().flatten() {
            let text = |key: &str| parent.get(key).and_then(Value::as_str).unwrap_or_default();
            let section = text("sectionName");
            if section.is_empty() {
                continue;
            }
            let host = listeners.get(&(text("name"), text("namespace"), section));
            let hosts = route
                .value
                .pointer("/spec/hostnames")
                .and_then(Value::as_array);
            let fits = host.is_some_and(|host| {
                host.is_empty()
                    || hosts
                        .into_iter()
                        .flatten()
                        .all(|name| name.as_str() == Some(host))
            });
            if !fits {
                let name = route.text("/metadata/name");
                findings.push(Finding::new(
                    Code::Oc6031,
                    route.path.as_str(),
                    format!("the route `{name}` does not fit the listener `{section}`"),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(files: &[(&str, &str)]) -> Vec<String> {
        let tree = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        check_tree("alpha", &tree)
            .findings
            .iter()
            .map(|finding| finding.code.to_string())
            .collect()
    }

    #[test]
    fn each_defect_has_its_code() {
        for (code, path, text) in [
            ("OC7001", "services/a.yaml", "a: [\n"),
            ("OC7001", "services/a.yaml", "a:\n   b: 1\n"),
            (
                "OC7002",
                "services/sources/kustomization.yaml",
                "resources: [gone.yaml]\n",
            ),
            (
                "OC7003",
                "services/x.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {magic: 1}\n",
            ),
            (
                "OC7003",
                "services/x.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {dependsOn: [{name: b}]}\n",
            ),
            (
                "OC3203",
                "services/x.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {dependsOn: [{name: a}]}\n",
            ),
            (
                "OC7004",
                "services/x.yaml",
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {url: 'https://a/b', ref: {}}\n",
            ),
            (
                "OC7004",
                "services/x.yaml",
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {url: 'ftp://a/b', ref: {tag: x}}\n",
            ),
            (
                "OC7005",
                "services/x.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./applications/overlays/alpha/services/none}\n",
            ),
            (
                "OC7006",
                "services/a/kustomization.yaml",
                "resources: [gone.yaml]\n",
            ),
            (
                "OC7007",
                "services/loki/kustomization.yaml",
                "secretGenerator: [{name: wrong, options: {disableNameSuffixHash: true}}]\n",
            ),
            (
                "OC6031",
                "services/x.yaml",
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {parentRefs: [{name: g, sectionName: s}]}\n",
            ),
        ] {
            let found = codes(&[(path, text)]);
            assert!(found.contains(&code.to_owned()), "{code}: {found:?}");
        }
    }

    #[test]
    fn a_forgotten_file_is_found() {
        let found = codes(&[
            ("services/sources/kustomization.yaml", "resources: []\n"),
            ("services/sources/a.yaml", "a: 1\n"),
        ]);
        assert_eq!(found, ["OC7002"]);
    }

    #[test]
    fn a_missing_bootstrap_is_a_state_and_no_defect() {
        let check = check_tree("alpha", &Contents::new());
        assert_eq!(
            (check.findings.len(), check.state),
            (0, BootstrapState::RendererParity)
        );
        let tree = ["gotk-components", "gotk-sync", "kustomization"]
            .map(|name| (format!("flux-system/{name}.yaml"), b"\t: [".to_vec()))
            .into();
        let check = check_tree("alpha", &tree);
        assert_eq!(
            (check.findings.len(), check.state),
            (0, BootstrapState::BootstrapComplete)
        );
    }
}
