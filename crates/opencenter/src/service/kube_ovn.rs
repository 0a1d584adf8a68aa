//! Network of the pods; configured as the network plugin only.

mod check;
mod settings;

use crate::catalog::{CatalogEntry, ServiceCategory, ServiceLayer};

/// Settings in the config.
pub(crate) type Settings = settings::KubeOvn;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "kube-ovn",
    description: "Network of the pods; configured as the network plugin only",
    category: ServiceCategory::Networking,
    layer: ServiceLayer::ConfigOnly,
    check: Some(check::check),
    ..CatalogEntry::NEW
};
