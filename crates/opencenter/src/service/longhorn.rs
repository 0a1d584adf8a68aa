//! Replicated volumes.

mod settings;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory, Usual},
    flux::{list, map},
    render::{Context, block},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer, VALUES,
    manifest::{Route, or_literal, with_service},
};

/// Settings in the config.
pub(crate) type Settings = settings::Longhorn;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "longhorn",
    description: "Replicated volumes on the nodes' disks",
    category: ServiceCategory::Storage,
    namespace: Some("longhorn-system"),
    helm_release: Some(("longhorn", "longhorn-system")),
    values_secret: Some("longhorn-values-override"),
    descriptor: descriptor!("longhorn", "longhorn"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    files_renderer: true,
    usual: &[("overlay_files_renderer", Usual::Word("longhorn"))],
    hosts: &[Host {
        field: "hostname",
        label: "longhorn",
        rule: "longhorn.<cluster_fqdn>",
    }],
    listeners: Some(Listeners {
        place: 60,
        names: &["longhorn-https"],
        build: listeners,
    }),
    ..CatalogEntry::NEW
};

/// Longhorn.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "longhorn",
    &[
        Template::plain(VALUES, values),
        Template::plain("longhorn-http-route.yaml", route),
    ],
);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().longhorn.as_ref(), "longhorn")?.settings;
    let values = map! {
        "defaultSettings": map! {
            "defaultReplicaCount": settings.default_replica_count,
            "defaultDataPath": settings.default_data_path.as_ref(),
            "storageOverProvisioningPercentage": settings.storage_over_provisioning_percentage,
            "storageMinimalAvailablePercentage": settings.storage_minimal_available_percentage,
        }.or_absent(),
        "defaultBackupStore": map! {
            "backupTarget": settings.backup_target.as_ref(),
            "backupTargetCredentialSecret": settings.backup_target_credential_secret.as_ref(),
        }.or_absent(),
    };
    or_literal(ctx, "longhorn", || {
        if values.is_empty() {
            Built::empty_values()
        } else {
            Built::one(values)
        }
    })
}

fn route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().longhorn.as_ref(), "longhorn")?.settings;
    let route = Route {
        name: "longhorn-gateway-route",
        namespace: ctx.namespace("longhorn"),
        section: "longhorn-https",
        host: &settings.hostname,
    };
    Ok(with_service(ctx, "gateway", || {
        let rules = list![map! {
            "matches": list![map! { "path": map! { "type": "PathPrefix", "value": "/" } }],
            "backendRefs": list![map! {
                "group": "",
                "kind": "Service",
                "name": "longhorn-frontend",
                "port": 80,
                "weight": 1,
            }],
        }];
        let (name, namespace) = ctx.gateway_reference();
        let parent = map! {
            "group": "gateway.networking.k8s.io",
            "kind": "Gateway",
            "name": name,
            "namespace": namespace,
            "sectionName": route.section,
        };
        vec![route.with_parent(parent, rules)]
    }))
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().longhorn else {
        return Vec::new();
    };
    let host = &service.settings.hostname;
    vec![Listener::https("longhorn-https", host, "longhorn-tls")]
}
