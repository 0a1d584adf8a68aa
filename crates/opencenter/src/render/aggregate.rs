//! Files that list the files of other units.

use mainstay_yaml::{Node, print_manifests, print_node};

use crate::{
    descriptor::{Descriptor, Layer, Owner},
    flux::{FLUX_NAMESPACE, KustomizeFile, map},
    overlay::{ActionKind, Decision, OverlayFile, RETIRED_UNITS},
};

use super::{
    Context, decision,
    plan::{Plan, PlannedUnit, emitted_flux_units, emitted_sources},
};

/// The aggregate files that a unit stands for; none for ordinary units.
pub(super) fn files(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    descriptor: &Descriptor,
) -> Vec<(String, OverlayFile)> {
    let owner = descriptor.name.as_str();
    match owner {
        "root-overlay" => root(ctx, plan, owner),
        "services-sources-aggregate" => vec![sources(ctx, plan, Layer::Services, owner)],
        "managed-services-sources-aggregate" => {
            vec![sources(ctx, plan, Layer::ManagedServices, owner)]
        }
        "services-fluxcd-aggregate" => vec![fluxcd(ctx, plan, Layer::Services, owner)],
        "managed-services-fluxcd-aggregate" => {
            vec![fluxcd(ctx, plan, Layer::ManagedServices, owner)]
        }
        _ => Vec::new(),
    }
}

pub(super) fn aggregate_file(
    owner: &str,
    text: String,
    condition: Option<Decision>,
) -> OverlayFile {
    OverlayFile {
        bytes: text.into_bytes(),
        owner: owner.to_owned(),
        kind: ActionKind::Aggregate,
        sensitivity: None,
        condition,
    }
}

fn root(ctx: &Context<'_>, plan: &Plan<'_>, owner: &str) -> Vec<(String, OverlayFile)> {
    let units = &ctx.config.opencenter.gitops.overlay_units;
    let has_managed = plan
        .active_services()
        .any(|unit| unit.descriptor.layer == Layer::ManagedServices);
    let entries = [
        (units.flux_system.enabled, "./flux-system"),
        (true, "./services/fluxcd"),
        (has_managed, "./managed-services/fluxcd"),
        (units.customer_managed.enabled, "./customer-managed/fluxcd"),
    ];
    let resources = entries
        .into_iter()
        .filter(|(is_listed, _)| *is_listed)
        .map(|(_, path)| path.to_owned());
    let text = print_manifests([&KustomizeFile::listing(resources.collect()).to_node()]);
    let mut files = vec![(
        "kustomization.yaml".to_owned(),
        aggregate_file(owner, text, None),
    )];
    if units.sops.enabled {
        let gate = decision("opencenter.gitops.overlay_units.sops.enabled", true);
        files.push((
            ".sops.yaml".to_owned(),
            aggregate_file(owner, sops_rules(ctx), Some(gate)),
        ));
    }
    files
}

/// The rules for `sops`, in the order of the config: there, too, the first match wins.
fn sops_rules(ctx: &Context<'_>) -> String {
    let rules = ctx
        .config
        .opencenter
        .gitops
        .overlay_units
        .sops
        .rules
        .iter()
        .map(|rule| {
            map! {
                "path_regex": Node::SingleQuoted(rule.path_regex.clone().unwrap_or_default()),
                "age": rule.age_recipients.join(","),
                "encrypted_regex": rule.encrypted_regex.as_ref().map(Node::quoted),
            }
        });
    print_node(&map! { "creation_rules": Node::list(rules) })
}

fn sources(ctx: &Context<'_>, plan: &Plan<'_>, layer: Layer, owner: &str) -> (String, OverlayFile) {
    let mut resources: Vec<String> = Vec::new();
    for unit in plan.members(layer) {
        for source in emitted_sources(ctx, unit) {
            if !resources.contains(&source.file) {
                resources.push(source.file.clone());
            }
        }
    }
    let file = KustomizeFile {
        namespace: Some(FLUX_NAMESPACE.to_owned()),
        resources,
        keep_empty_resources: true,
        ..KustomizeFile::default()
    };
    (
        format!("{}/sources/kustomization.yaml", layer.directory()),
        aggregate_file(owner, print_manifests([&file.to_node()]), None),
    )
}

fn fluxcd(ctx: &Context<'_>, plan: &Plan<'_>, layer: Layer, owner: &str) -> (String, OverlayFile) {
    let mut resources: Vec<(i32, String)> = vec![(0, "./sources.yaml".to_owned())];
    let lists_podmonitor = layer == Layer::Services
        && ctx.config.is_active("kube-prometheus-stack")
        && !ctx.config.opencenter.gitops.strict_crd_ordering;
    if lists_podmonitor {
        resources.push((10, "./fluxcd-configs/podmonitor.yaml".to_owned()));
    }
    if layer == Layer::Services && ctx.options.adoption.retires() {
        resources.push((i32::MAX, format!("./{RETIRED_UNITS}")));
    }
    for unit in plan.members(layer) {
        for (weight, file) in flux_files(ctx, unit) {
            let entry = format!("./{file}");
            if !resources.iter().any(|(_, known)| *known == entry) {
                resources.push((weight, entry));
            }
        }
    }
    // Stable: files of equal weight stay in the order of their units.
    resources.sort_by_key(|(weight, _)| *weight);
    let file = KustomizeFile::listing(resources.into_iter().map(|(_, entry)| entry).collect());
    (
        format!("{}/fluxcd/kustomization.yaml", layer.directory()),
        aggregate_file(owner, print_manifests([&file.to_node()]), None),
    )
}

/// The Flux files of a unit with their weights; files beside the common one stand right before it.
fn flux_files<'u>(
    ctx: &'u Context<'_>,
    unit: &'u PlannedUnit<'_>,
) -> impl Iterator<Item = (i32, &'u str)> {
    let descriptor = &unit.descriptor;
    emitted_flux_units(ctx, unit).map(move |entry| match &entry.file {
        None => (descriptor.order, descriptor.flux_file.as_str()),
        // The aggregate's own extra units stand behind its sources, where the file that they wait with would stand.
        Some(file) if descriptor.owner == Owner::Cluster && descriptor.order == 0 => {
            (10, file.as_str())
        }
        Some(file) => (descriptor.order - 1, file.as_str()),
    })
}
