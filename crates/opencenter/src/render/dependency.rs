//! Edges between Flux units: what is declared, minus what leads nowhere, plus what the content asks for.

use mainstay_yaml::Node;

use crate::{
    descriptor::{DependencyEntry, FluxUnitEntry, OVERLAY_PREFIX, Role},
    finding::{Code, Finding},
    graph::FluxGraph,
};

use super::{
    Context,
    expand::{Expanded, documents_below},
    plan::{Plan, PlannedUnit, owner_block},
};

/// The units that must be ready before this one, in declared order and without repetitions.
pub(super) fn resolve(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
    expanded: &Expanded,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let mut resolved: Vec<String> = Vec::new();
    for dependency in declared(ctx, unit, entry) {
        let wanted = dependency
            .when_enabled
            .as_deref()
            .is_none_or(|service| ctx.config.is_active(service))
            && dependency
                .when
                .as_ref()
                .is_none_or(|condition| condition.holds(ctx.config.effective()));
        if wanted && leads_somewhere(ctx, plan, unit, entry, &dependency.name, findings) {
            resolved.push(dependency.name);
        }
    }
    resolved.extend(implied(plan, unit, entry, expanded));
    let mut seen = std::collections::BTreeSet::new();
    resolved.retain(|name| *name != entry.name && seen.insert(name.clone()));
    resolved
}

fn declared(
    ctx: &Context<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
) -> Vec<DependencyEntry> {
    let sources = unit.descriptor.layer.sources_unit();
    let mut dependencies = match (&entry.depends_on, entry.role) {
        (Some(declared), _) => declared.clone(),
        (None, Role::Base | Role::Namespace) => vec![DependencyEntry::always(sources)],
        (None, Role::Override) => {
            let prefix = entry.name.strip_suffix("-override").unwrap_or(&entry.name);
            vec![DependencyEntry::always(format!("{prefix}-base"))]
        }
        (None, Role::Single | Role::Stage | Role::Sources) => Vec::new(),
    };
    let takes_extras = matches!(entry.role, Role::Base | Role::Single)
        && unit
            .descriptor
            .flux_units
            .iter()
            .find(|unit| matches!(unit.role, Role::Base | Role::Single))
            .is_some_and(|first| first.name == entry.name);
    if let Some(common) = owner_block(ctx, &unit.descriptor.owner).filter(|_| takes_extras) {
        dependencies.extend(
            common
                .extra_dependencies
                .iter()
                .map(DependencyEntry::always),
        );
        dependencies.extend(common.conditional_dependencies.iter().map(|dependency| {
            DependencyEntry {
                name: dependency.name.clone().unwrap_or_default(),
                when_enabled: dependency.when_enabled.clone(),
                when: None,
            }
        }));
    }
    dependencies
}

/// Whether the target is there; if not, says so as loudly as it deserves.
fn leads_somewhere(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
    target: &str,
    findings: &mut Vec<Finding>,
) -> bool {
    let owner = unit
        .descriptor
        .owner
        .service()
        .unwrap_or(&unit.descriptor.name);
    let path = format!("opencenter.services.{owner}");
    let Some(facts) = plan.flux_unit(target) else {
        findings.push(Finding::new(
            Code::Oc5022,
            path,
            format!(
                "`{}` depends on `{target}`, which nobody can emit",
                entry.name
            ),
        ));
        return false;
    };
    if facts.is_active {
        return true;
    }
    let Some(service) = &facts.service else {
        return false;
    };
    if ctx.config.is_external(service) {
        return false;
    }
    let is_required = unit.descriptor.dependencies.contains(service);
    let (code, verb) = if is_required {
        (Code::Oc3201, "needs")
    } else {
        (Code::Oc3202, "waits for")
    };
    findings.push(Finding::new(
        code,
        path,
        format!(
            "`{}` {verb} `{target}` of {service}, which is not active",
            entry.name
        ),
    ));
    false
}

/// Units that define the kinds which this unit's overlay uses.
fn implied(
    plan: &Plan<'_>,
    unit: &PlannedUnit<'_>,
    entry: &FluxUnitEntry,
    expanded: &Expanded,
) -> Vec<String> {
    if !matches!(entry.role, Role::Override | Role::Single | Role::Stage) {
        return Vec::new();
    }
    let (mut routes, mut certificates) = (false, false);
    let directory = entry
        .path
        .strip_prefix(OVERLAY_PREFIX)
        .unwrap_or(&entry.path);
    for document in documents_below(expanded, directory) {
        let text = |key| {
            document
                .get(key)
                .and_then(Node::as_text)
                .unwrap_or_default()
        };
        routes |= matches!(text("kind"), "HTTPRoute" | "SecurityPolicy");
        certificates |= text("apiVersion").starts_with("cert-manager.io/");
    }
    let own = |name: &str| {
        unit.descriptor
            .flux_units
            .iter()
            .any(|unit| unit.name == name)
    };
    let wanted = [
        (routes, "envoy-gateway-api-base"),
        (certificates, "cert-manager-base"),
    ];
    wanted
        .into_iter()
        .filter(|(is_wanted, name)| *is_wanted && !own(name))
        .filter(|(_, name)| plan.flux_unit(name).is_some_and(|facts| facts.is_active))
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// Whether Flux could ever apply all units.
pub(super) fn check_graph(graph: &FluxGraph, findings: &mut Vec<Finding>) {
    for (unit, target) in graph.missing_targets() {
        findings.push(Finding::new(
            Code::Oc5022,
            unit,
            format!("`{unit}` depends on `{target}`, which is not rendered"),
        ));
    }
    if let Some(cycle) = graph.cycle() {
        let path = cycle.join(" -> ");
        findings.push(Finding::new(
            Code::Oc3203,
            cycle.first().copied().unwrap_or_default(),
            format!("the Flux units wait for each other: {path}"),
        ));
    }
}
