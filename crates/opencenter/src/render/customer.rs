//! The customer's own layer: one repository, and what Flux applies from it.

use mainstay_yaml::{Node, print_manifests};

use crate::{
    config::{CustomerKustomization, CustomerManaged, RepositoryKeys, Secret},
    descriptor::{RETRY_INTERVAL, Role, TIMEOUT},
    flux::{FLUX_NAMESPACE, FluxUnit, GitRepository, KustomizeFile, Reference},
    graph::GraphNode,
    overlay::{ActionKind, OverlayFile, Sensitivity},
    service,
};

use super::{Context, SecretsMode, aggregate::aggregate_file, decision};

/// The descriptor of the layer.
pub(super) const UNIT: &str = "customer-managed-overlay";

const SOURCES_UNIT: &str = "customer-managed-sources";

/// What the layer adds to the tree and to the graph.
pub(super) struct CustomerLayer {
    pub(super) files: Vec<(String, OverlayFile)>,
    pub(super) nodes: Vec<GraphNode>,
}

/// Everything of the layer except its sources unit, which the descriptor declares.
pub(super) fn layer(ctx: &Context<'_>, owner: &str) -> CustomerLayer {
    let settings = &ctx.config.opencenter.gitops.overlay_units.customer_managed;
    let name = settings.repository_name.as_deref().unwrap_or_default();
    let secret = secret_manifest(ctx, settings);
    let units: Vec<FluxUnit> = settings
        .kustomizations
        .iter()
        .map(|item| flux_unit(ctx, settings, item))
        .collect();
    let mut sources = vec![format!("{name}.yaml")];
    sources.extend(secret.as_ref().map(|_| format!("{name}-secret.yaml")));
    let listing = ["./sources.yaml", "./customer-managed.yaml"].map(str::to_owned);
    let sources_kustomization = KustomizeFile {
        namespace: Some(FLUX_NAMESPACE.to_owned()),
        resources: sources,
        ..KustomizeFile::default()
    };
    let unit_nodes: Vec<Node> = units.iter().map(FluxUnit::to_node).collect();
    let mut files = vec![
        (
            "customer-managed/fluxcd/kustomization.yaml".to_owned(),
            aggregate_file(
                owner,
                print_manifests([&KustomizeFile::listing(listing.into()).to_node()]),
                None,
            ),
        ),
        (
            "customer-managed/fluxcd/customer-managed.yaml".to_owned(),
            file(owner, ActionKind::Flux, print_manifests(&unit_nodes)),
        ),
        (
            "customer-managed/sources/kustomization.yaml".to_owned(),
            aggregate_file(
                owner,
                print_manifests([&sources_kustomization.to_node()]),
                None,
            ),
        ),
        (
            format!("customer-managed/sources/{name}.yaml"),
            file(
                owner,
                ActionKind::Source,
                ctx.options
                    .adoption
                    .hold_source(repository(settings, name))
                    .to_text(),
            ),
        ),
    ];
    if let Some(manifest) = secret {
        let mut file = file(owner, ActionKind::Secret, print_manifests([&manifest]));
        file.sensitivity = Some(Sensitivity::Fields);
        file.condition = Some(decision(
            "opencenter.gitops.overlay_units.customer_managed.emit_secret",
            true,
        ));
        files.push((format!("customer-managed/sources/{name}-secret.yaml"), file));
    }
    let nodes = units.into_iter().map(|unit| GraphNode {
        name: unit.name,
        owner: owner.to_owned(),
        depends_on: unit.depends_on,
    });
    CustomerLayer {
        files,
        nodes: nodes.collect(),
    }
}

fn file(owner: &str, kind: ActionKind, text: String) -> OverlayFile {
    OverlayFile {
        kind,
        ..aggregate_file(owner, text, None)
    }
}

/// The address stands as configured: the customer chose it, and its user name may matter.
fn repository(settings: &CustomerManaged, name: &str) -> GitRepository {
    GitRepository {
        name: name.to_owned(),
        interval: settings
            .interval
            .clone()
            .unwrap_or_else(|| "15m".to_owned()),
        url: settings.repository_url.clone().unwrap_or_default(),
        reference: Reference::branch(&settings.branch),
        secret_name: settings.secret_name.clone().filter(|name| !name.is_empty()),
        include: Vec::new(),
        alternative: None,
    }
}

/// Names of units, with the prefix that the config may put in front.
fn prefixed(settings: &CustomerManaged, name: &str) -> String {
    match settings
        .flux_name_prefix
        .as_deref()
        .filter(|prefix| !prefix.is_empty())
    {
        Some(prefix) => format!("{prefix}-{name}"),
        None => name.to_owned(),
    }
}

fn flux_unit(
    ctx: &Context<'_>,
    settings: &CustomerManaged,
    item: &CustomerKustomization,
) -> FluxUnit {
    let siblings = || {
        settings
            .kustomizations
            .iter()
            .filter_map(|item| item.name.as_deref())
    };
    let depends_on = match &item.depends_on {
        None => vec![SOURCES_UNIT.to_owned()],
        Some(names) => names
            .iter()
            .map(|name| {
                if siblings().any(|sibling| sibling == name) {
                    prefixed(settings, name)
                } else {
                    name.clone()
                }
            })
            .collect(),
    };
    ctx.options.adoption.hold_unit(FluxUnit {
        name: prefixed(settings, item.name.as_deref().unwrap_or_default()),
        role: Role::Stage,
        depends_on,
        interval: settings.interval.clone().unwrap_or_else(|| "5m".to_owned()),
        retry_interval: Some(RETRY_INTERVAL.to_owned()),
        timeout: Some(TIMEOUT.to_owned()),
        decryption: false,
        source: settings.repository_name.clone().unwrap_or_default(),
        path: item.path.clone().unwrap_or_default(),
        target_namespace: None,
        prune: ctx.config.opencenter.gitops.flux.prune,
        wait: true,
        force: None,
        suspend: None,
        health_checks: Vec::new(),
        health_check_expressions: Vec::new(),
        part_of: None,
        managed_by: "customer".to_owned(),
        patches: Vec::new(),
    })
}

fn secret_manifest(ctx: &Context<'_>, settings: &CustomerManaged) -> Option<Node> {
    if !ctx.config.emits_customer_secret() || ctx.options.secrets_mode == SecretsMode::Omit {
        return None;
    }
    let keys = ctx.config.customer_repository_keys().map(|(_, keys)| keys);
    let text = |field: fn(&RepositoryKeys) -> Option<&Secret>| {
        keys.and_then(field).map(Secret::expose).unwrap_or_default()
    };
    let name = settings
        .secret_name
        .as_deref()
        .filter(|name| !name.is_empty())
        .or(settings.repository_name.as_deref())
        .unwrap_or_default();
    Some(service::encoded_secret(
        name,
        Some(FLUX_NAMESPACE),
        [
            ("identity", text(|keys| keys.identity.as_ref())),
            ("identity.pub", text(|keys| keys.identity_pub.as_ref())),
            ("known_hosts", text(|keys| keys.known_hosts.as_ref())),
        ],
    ))
}
