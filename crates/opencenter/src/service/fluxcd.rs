//! Flux itself; stands for the aggregate of Flux units.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, ServiceLayer},
    config::NoSettings,
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "fluxcd",
    description: "Flux itself; stands for the aggregate of Flux units",
    category: ServiceCategory::Gitops,
    layer: ServiceLayer::Structural,
    enabled_at_init: true,
    namespace: Some("flux-system"),
    ..CatalogEntry::NEW
};
