//! Address pools for load balancers.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    flux::map,
    overlay::Decision,
    render::{Context, Failure, block},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{or_literal, when},
};

use settings::{AddressPool, MetalLb};

/// Settings in the config.
pub(crate) type Settings = MetalLb;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "metallb",
    description: "Addresses for load balancers without a cloud",
    category: ServiceCategory::Networking,
    namespace: Some("metallb-system"),
    helm_release: Some(("metallb", "metallb-system")),
    values_secret: Some("metallb-values-override"),
    descriptor: descriptor!("metallb", "metallb"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    files_renderer: true,
    check: Some(check::check),
    ..CatalogEntry::NEW
};

/// MetalLB.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "metallb",
    &[
        Template::plain(VALUES, values),
        Template::plain("ipaddresspool.yaml", pools),
        Template::plain("l2advertisement.yaml", advertisements),
    ],
);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    or_literal(ctx, "metallb", Built::empty_values)
}

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c MetalLb, Failure> {
    Ok(&block(ctx.config.services().metallb.as_ref(), "metallb")?.settings)
}

fn has_pools(settings: &MetalLb) -> Decision {
    Decision {
        field: "opencenter.services.metallb.ip_address_pools".to_owned(),
        operator: "exists",
        value: None,
        result: !settings.ip_address_pools.is_empty(),
    }
}

fn pools(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let namespace = ctx.namespace("metallb");
    Ok(when(has_pools(settings), || {
        settings
            .ip_address_pools
            .iter()
            .map(|pool| address_pool(pool, namespace))
            .collect()
    }))
}

fn address_pool(pool: &AddressPool, namespace: Option<&str>) -> Node {
    map! {
        "apiVersion": "metallb.io/v1beta1",
        "kind": "IPAddressPool",
        "metadata": map! { "name": pool.name.as_ref(), "namespace": namespace },
        "spec": map! {
            "addresses": Node::list(pool.addresses.iter()),
            "autoAssign": (!pool.auto_assign).then_some(false),
        },
    }
}

fn advertisements(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let namespace = ctx.namespace("metallb");
    Ok(when(has_pools(settings), || {
        if settings.l2_advertisements.is_empty() {
            let all = settings
                .ip_address_pools
                .iter()
                .filter_map(|pool| pool.name.as_ref());
            return vec![advertisement(
                "default",
                namespace,
                Node::list(all),
                Node::Absent,
            )];
        }
        settings
            .l2_advertisements
            .iter()
            .map(|entry| {
                advertisement(
                    entry.name.as_deref().unwrap_or_default(),
                    namespace,
                    Node::list(entry.ip_address_pools.iter()).or_absent(),
                    Node::list(entry.interfaces.iter()).or_absent(),
                )
            })
            .collect()
    }))
}

fn advertisement(name: &str, namespace: Option<&str>, pools: Node, interfaces: Node) -> Node {
    map! {
        "apiVersion": "metallb.io/v1beta1",
        "kind": "L2Advertisement",
        "metadata": map! { "name": name, "namespace": namespace },
        "spec": map! { "ipAddressPools": pools, "interfaces": interfaces }.or_absent(),
    }
}
