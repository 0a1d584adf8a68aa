//! The service catalog: one row for each service with the facts that config, descriptors and documents share.

mod rows;

pub use rows::CATALOG;

use crate::config::{
    ManagedServices, Provider, Services,
    field::{Section, choice},
};

choice! {
    /// What a service is for; for display only.
    enum ServiceCategory {
        /// Parts of every cluster.
        Core = "core",
        /// Metrics and alerts.
        Monitoring = "monitoring",
        /// Logs and traces.
        Logging = "logging",
        /// Volumes, databases, backups.
        Storage = "storage",
        /// Networks and gateways.
        Networking = "networking",
        /// Certificates, policies, sign-in.
        Security = "security",
        /// Flux and what shows it.
        Gitops = "gitops",
        /// Anything else.
        Custom = "custom",
    }
}

/// The part of the config and of the tree that a service belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceLayer {
    /// `opencenter.services`, rendered below `services/`.
    Services,
    /// `opencenter.managed_services`, rendered below `managed-services/`.
    ManagedServices,
    /// `opencenter.services`, but part of the tree's own structure.
    Structural,
    /// `opencenter.services`, accepted and never rendered.
    ConfigOnly,
}

impl ServiceLayer {
    /// The word in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::ManagedServices => "managed-services",
            Self::Structural => "structural",
            Self::ConfigOnly => "config only",
        }
    }
}

/// One service of the catalog.
#[derive(Debug)]
pub struct CatalogEntry {
    /// The key in the config.
    pub name: &'static str,
    /// What the service does, in one sentence.
    pub description: &'static str,
    /// What the service is for.
    pub category: ServiceCategory,
    /// Where the service belongs.
    pub layer: ServiceLayer,
    /// Whether a new config has the service enabled.
    pub enabled_at_init: bool,
    /// The namespace, if the config does not name one.
    pub namespace: Option<&'static str>,
    /// Services that must be enabled together with this one.
    pub requires: &'static [&'static str],
    /// Services that usually go with this one; their absence is a warning.
    pub goes_with: &'static [&'static str],
    /// The block of `secrets` that belongs to the service; none means `service_secrets.<name>`.
    pub secret_block: Option<&'static str>,
    /// The HelmRelease in the base, as name and namespace.
    pub helm_release: Option<(&'static str, &'static str)>,
    /// The Secret with values that the base expects.
    pub values_secret: Option<&'static str>,
    /// Whether the override must exist before the base can become healthy.
    pub override_first: bool,
    /// Whether the namespace has a unit of its own.
    pub namespace_stage: bool,
}

impl CatalogEntry {
    /// The facts about the service's own settings.
    pub fn settings(&self) -> &'static Section {
        let known = match self.layer {
            ServiceLayer::ManagedServices => ManagedServices::settings_section(self.name),
            _ => Services::settings_section(self.name),
        };
        known.unwrap_or(crate::config::NoSettings::SECTION)
    }

    /// Whether the service leads to files of its own.
    pub fn is_rendered(&self) -> bool {
        matches!(
            self.layer,
            ServiceLayer::Services | ServiceLayer::ManagedServices
        )
    }

    /// The path of the service's block in the config.
    pub fn config_path(&self) -> String {
        match self.layer {
            ServiceLayer::ManagedServices => format!("opencenter.managed_services.{}", self.name),
            _ => format!("opencenter.services.{}", self.name),
        }
    }

    /// Whether a new config for this provider has the service enabled.
    pub fn enabled_at_init_for(&self, provider: Provider) -> bool {
        let needs_openstack = matches!(self.name, "openstack-ccm" | "openstack-csi" | "velero");
        let without_openstack = matches!(
            provider,
            Provider::Kind | Provider::Baremetal | Provider::Vmware
        );
        self.enabled_at_init && !(needs_openstack && without_openstack)
    }

    /// The path below `secrets` for the service's own secrets, with dots.
    pub fn secret_path(&self) -> String {
        match self.secret_block {
            Some(block) => block.to_owned(),
            None => format!("service_secrets.{}", self.name),
        }
    }
}

/// The entry of a service or managed service.
pub fn find(name: &str) -> Option<&'static CatalogEntry> {
    CATALOG.iter().find(|entry| entry.name == name)
}

/// The entry of a key under `opencenter.services`.
pub fn find_service(name: &str) -> Option<&'static CatalogEntry> {
    find(name).filter(|entry| entry.layer != ServiceLayer::ManagedServices)
}

/// The entry of a key under `opencenter.managed_services`.
pub fn find_managed(name: &str) -> Option<&'static CatalogEntry> {
    find(name).filter(|entry| entry.layer == ServiceLayer::ManagedServices)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn has_every_service_once_in_order() {
        let names: Vec<_> = CATALOG.iter().map(|entry| entry.name).collect();
        assert!(names.is_sorted_by(|left, right| left < right));
        let rendered = CATALOG.iter().filter(|entry| entry.is_rendered()).count();
        assert_eq!((rendered, names.len()), (28, 32));
    }

    #[test]
    fn names_only_services_that_exist() {
        let names: BTreeSet<_> = CATALOG.iter().map(|entry| entry.name).collect();
        for entry in CATALOG {
            for other in entry.requires.iter().chain(entry.goes_with) {
                assert!(names.contains(other), "{}: {other}", entry.name);
            }
        }
    }

    #[test]
    fn agrees_with_the_types() {
        for entry in CATALOG {
            let typed = match entry.layer {
                ServiceLayer::ManagedServices => ManagedServices::settings_section(entry.name),
                _ => Services::settings_section(entry.name),
            };
            assert!(typed.is_some(), "{} has no typed place", entry.name);
            if let Some(block) = entry.secret_block {
                let mut section = crate::config::Secrets::SECTION;
                for step in block.split('.') {
                    let field = section.field(step).unwrap_or_else(|| panic!("{block}"));
                    let crate::config::field::Kind::Object(inner) = field.kind else {
                        panic!("{block}")
                    };
                    section = inner;
                }
            }
        }
    }

    #[test]
    fn leaves_openstack_services_out_elsewhere() {
        let velero = find("velero").unwrap();
        assert!(velero.enabled_at_init_for(Provider::Openstack));
        assert!(velero.enabled_at_init_for(Provider::Aws));
        assert!(!velero.enabled_at_init_for(Provider::Kind));
    }
}
