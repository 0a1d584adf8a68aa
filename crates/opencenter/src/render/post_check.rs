//! A last look at the whole before anybody may write it.
//!
//! Generated files are YAML by construction: they are printed from values. What users bring along was parsed when it
//! was taken in.

use std::collections::BTreeMap;

use mainstay_yaml::Node;
use regex_lite::Regex;

use crate::{
    finding::{Code, Finding},
    flux::SPEC_FIELDS,
    overlay::OverlayFile,
    service::{Listener, listeners},
};

use super::{
    Context,
    expand::{Expanded, UnitFile},
    plan::PlannedUnit,
};

/// Runs all checks but the search for secrets.
pub(super) fn check(
    ctx: &Context<'_>,
    expanded: &[(&PlannedUnit<'_>, Expanded)],
    findings: &mut Vec<Finding>,
) {
    let unit_files = || expanded.iter().flat_map(|(_, expanded)| &expanded.files);
    for file in unit_files().filter(|file| !file.is_verbatim) {
        template_markers(file, findings);
    }
    wiring(ctx, unit_files(), findings);
}

/// Flux ignores or refuses keys that it does not know.
pub(super) fn spec_fields(unit: &str, manifest: &Node, findings: &mut Vec<Finding>) {
    let Some(Node::Map(entries)) = manifest.get("spec") else {
        return;
    };
    for (key, _) in entries {
        if !SPEC_FIELDS.contains(&key.as_ref()) {
            findings.push(Finding::new(
                Code::Oc6030,
                unit,
                format!("`{unit}` has the unknown field `spec.{key}`"),
            ));
        }
    }
}

/// No generated text holds the marks of a template language.
fn template_markers(file: &UnitFile, findings: &mut Vec<Finding>) {
    // Most files have no brace at all; one look for it is cheaper than one for each mark.
    if !file.text.contains('{') {
        return;
    }
    let marker = ["{{", "}}", "{%", "${ref:", "${env:", "${file:"]
        .into_iter()
        .find(|marker| file.text.contains(marker));
    // Nested collections of a dashboard's JSON end in two braces; they are never opened by two.
    let Some(marker) = marker.filter(|marker| *marker != "}}") else {
        return;
    };
    findings.push(Finding::new(
        Code::Oc6012,
        file.path.as_str(),
        format!("the file holds the template mark `{marker}`"),
    ));
}

/// Every route must lead through a listener that answers for its host.
fn wiring<'f>(
    ctx: &Context<'_>,
    files: impl Iterator<Item = &'f UnitFile>,
    findings: &mut Vec<Finding>,
) {
    let listeners = if ctx.config.is_active("gateway") {
        listeners(ctx)
    } else {
        Vec::new()
    };
    let gateway = ctx.gateway_reference();
    for file in files {
        for document in &file.documents {
            if document.get("kind").and_then(Node::as_text) == Some("HTTPRoute")
                && let Some(reason) = route_problem(document, gateway, &listeners)
            {
                findings.push(Finding::new(Code::Oc6031, file.path.as_str(), reason));
            }
        }
    }
}

fn route_problem(route: &Node, gateway: (&str, &str), listeners: &[Listener]) -> Option<String> {
    let spec = route.get("spec")?;
    let hosts: Vec<&str> = spec
        .get("hostnames")
        .map_or(&[][..], Node::items)
        .iter()
        .filter_map(Node::as_text)
        .collect();
    let parents = spec.get("parentRefs").map_or(&[][..], Node::items);
    parents.iter().find_map(|parent| {
        let text = |key| parent.get(key).and_then(Node::as_text).unwrap_or_default();
        let section = parent.get("sectionName").and_then(Node::as_text)?;
        if (text("name"), text("namespace")) != gateway {
            return None;
        }
        let Some(listener) = listeners.iter().find(|listener| listener.name == section) else {
            return Some(format!("the gateway has no listener `{section}`"));
        };
        let host = listener.host.as_deref()?;
        let stranger = hosts.iter().find(|candidate| **candidate != host)?;
        Some(format!(
            "the listener `{section}` answers for {host}, the route for {stranger}"
        ))
    })
}

/// Where SOPS has rules, one of them must match every secret file.
pub(super) fn sops_rules(
    ctx: &Context<'_>,
    files: &BTreeMap<String, OverlayFile>,
    findings: &mut Vec<Finding>,
) {
    let sops = &ctx.config.opencenter.gitops.overlay_units.sops;
    if !sops.enabled {
        return;
    }
    let rules: Vec<Regex> = sops
        .rules
        .iter()
        .filter_map(|rule| Regex::new(rule.path_regex.as_deref()?).ok())
        .collect();
    for (path, _) in files.iter().filter(|(_, file)| file.sensitivity.is_some()) {
        if !rules.iter().any(|rule| rule.is_match(path)) {
            findings.push(Finding::new(
                Code::Oc4027,
                "opencenter.gitops.overlay_units.sops.rules",
                format!("no rule matches `{path}`"),
            ));
        }
    }
}
