//! PostgreSQL databases.

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
    name: "postgres-operator",
    description: "PostgreSQL databases",
    category: ServiceCategory::Storage,
    enabled_at_init: true,
    namespace: Some("postgres-operator"),
    helm_release: Some(("postgres-operator", "postgres-operator")),
    values_secret: Some("postgres-operator-values-override"),
    descriptor: descriptor!("postgres_operator", "postgres-operator"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer =
    UnitRenderer::new("postgres-operator", &[Template::plain(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    or_literal(ctx, "postgres-operator", || {
        Built::one(map! { "configGeneral": map! { "workers": 2 } })
    })
}
