//! Snapshots of volumes.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::NoSettings,
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "external-snapshotter",
    description: "Snapshots of volumes",
    category: ServiceCategory::Storage,
    enabled_at_init: true,
    namespace: Some("external-snapshotter"),
    descriptor: descriptor!("external_snapshotter", "external-snapshotter"),
    usual: &[("base_only", Usual::Flag(true))],
    ..CatalogEntry::NEW
};
