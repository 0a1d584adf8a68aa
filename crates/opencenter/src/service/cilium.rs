//! Network of the pods; configured as the network plugin only.

mod settings;

use crate::catalog::{CatalogEntry, ServiceCategory, ServiceLayer};

/// Settings in the config.
pub(crate) type Settings = settings::Cilium;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "cilium",
    description: "Network of the pods; configured as the network plugin only",
    category: ServiceCategory::Networking,
    layer: ServiceLayer::ConfigOnly,
    ..CatalogEntry::NEW
};
