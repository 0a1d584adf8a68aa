//! Bindings of roles to users and groups.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::NoSettings,
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "rbac-manager",
    description: "Bindings of roles to users and groups",
    category: ServiceCategory::Security,
    enabled_at_init: true,
    namespace: Some("rbac-system"),
    helm_release: Some(("rbac-manager", "rbac-system")),
    descriptor: descriptor!("rbac_manager", "rbac-manager"),
    usual: &[("base_only", Usual::Flag(true))],
    ..CatalogEntry::NEW
};
