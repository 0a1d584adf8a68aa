//! The Git sources; stands for their aggregate.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, ServiceLayer},
    config::NoSettings,
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "sources",
    description: "The Git sources; stands for their aggregate",
    category: ServiceCategory::Gitops,
    layer: ServiceLayer::Structural,
    enabled_at_init: true,
    namespace: Some("flux-system"),
    ..CatalogEntry::NEW
};
