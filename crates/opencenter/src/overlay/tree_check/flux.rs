//! Flux units and Git sources of a tree.

use serde_json::Value;

use crate::{
    finding::{Code, Finding},
    flux::SPEC_FIELDS,
    graph::{FluxGraph, GraphNode},
    overlay::{
        Contents,
        tree_document::{FLUX, SOURCE, TreeDocument},
    },
};

/// Units have only fields that Flux knows, lead to paths that exist, and wait for each other in some order.
pub(super) fn units(
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
                .items("/spec/dependsOn")
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

/// Sources have one reference and an address that Flux can reach.
pub(super) fn sources(documents: &[TreeDocument], findings: &mut Vec<Finding>) {
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
