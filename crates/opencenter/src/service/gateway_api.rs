//! Envoy Gateway, which carries out the Gateway API.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::NoSettings,
    flux::map,
    render::Context,
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, VALUES, manifest::or_literal};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "gateway-api",
    description: "Envoy Gateway, which carries out the Gateway API",
    category: ServiceCategory::Networking,
    enabled_at_init: true,
    namespace: Some("envoy-gateway-system"),
    helm_release: Some(("envoy-gateway-api", "envoy-gateway-system")),
    values_secret: Some("envoy-gateway-api-values-override"),
    descriptor: descriptor!("gateway_api", "gateway-api"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    usual: &[("kustomization_name", Usual::Word("envoy-gateway-api"))],
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer = UnitRenderer::new("gateway-api", &[Template::plain(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let level = map! { "level": map! { "default": "info" } };
    let config = map! { "envoyGateway": map! { "logging": level } };
    or_literal(ctx, "gateway-api", || {
        Built::one(map! { "envoyGateway": map! { "config": config } })
    })
}
