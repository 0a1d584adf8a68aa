//! Encrypted Secrets in Git.

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    config::NoSettings,
    flux::map,
    render::Context,
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, VALUES, manifest::or_literal};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "sealed-secrets",
    description: "Encrypted Secrets in Git",
    category: ServiceCategory::Security,
    namespace: Some("sealed-secrets"),
    helm_release: Some(("sealed-secrets", "sealed-secrets")),
    values_secret: Some("sealed-secrets-values-override"),
    descriptor: descriptor!("sealed_secrets", "sealed-secrets"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer =
    UnitRenderer::new("sealed-secrets", &[Template::plain(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    or_literal(ctx, "sealed-secrets", || {
        Built::one(map! { "keyrenewperiod": "0" })
    })
}
