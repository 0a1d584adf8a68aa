//! The descriptors that are compiled in: those of services from their folders, the others from `descriptors/`.

use serde_json::{Map, Value};

use crate::catalog::CATALOG;

/// The same descriptors, parsed: every command begins with them, and to parse their texts again would take longer than
/// to render a cluster. A test keeps them equal.
const PARSED: &str = include_str!("../../descriptors.json");

/// The values of the built-in descriptors by file.
pub(super) fn parsed() -> Map<String, Value> {
    serde_json::from_str(PARSED).unwrap_or_default()
}

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        /// File and text of the descriptors that belong to no service.
        const OTHERS: &[(&str, &str)] = &[$((
            concat!("descriptors/", $name, ".yaml"),
            include_str!(concat!("../../descriptors/", $name, ".yaml")),
        )),*];
    };
}

texts! {
    "customer-managed-overlay",
    "flux-system",
    "managed-services-fluxcd-aggregate",
    "managed-services-sources-aggregate",
    "observability-shared",
    "root-overlay",
    "services-fluxcd-aggregate",
    "services-sources-aggregate",
}

/// File and text of every built-in descriptor.
pub(super) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_services = CATALOG.iter().filter_map(|entry| entry.descriptor);
    of_services.chain(OTHERS.iter().copied())
}
