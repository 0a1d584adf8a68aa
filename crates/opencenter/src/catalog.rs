//! The service catalog: one row for each service with the facts that config, descriptors and documents share.

use serde_json::{Value, json};

use crate::{
    config::{
        DefaultRules, Provider, Validator,
        field::{Section, choice},
    },
    render::Context,
    service::{self, Listener, UnitRenderer, service_list},
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
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a table row"
)]
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
    /// The settings in the config.
    pub(crate) settings: &'static Section,
    /// The descriptor, as file and text.
    pub(crate) descriptor: Option<(&'static str, &'static str)>,
    /// The templates.
    pub(crate) renderer: Option<&'static UnitRenderer>,
    /// Whether blocks of other services may ask for its values file by name.
    pub(crate) values_renderer: bool,
    /// Whether blocks of other services may ask for its further files by name.
    pub(crate) files_renderer: bool,
    /// Whether `override_values` may replace the values file.
    pub(crate) replaceable_values: bool,
    /// What older tools write into the block of a new config, by field.
    pub(crate) usual: &'static [(&'static str, Usual)],
    /// Host names of web interfaces.
    pub(crate) hosts: &'static [Host],
    /// The listeners of the gateway.
    pub(crate) listeners: Option<Listeners>,
    /// Secrets that a new config names, to be filled in.
    pub(crate) placeholders: &'static [&'static str],
    /// Whether a new config has the service only where there is a cloud.
    pub(crate) needs_cloud_at_init: bool,
    /// Providers with which the service cannot work.
    pub(crate) not_with: &'static [Provider],
    /// Fills in settings that follow from other values.
    pub(crate) defaults: Option<fn(&mut DefaultRules<'_>)>,
    /// Looks at the settings; called for active services only.
    pub(crate) check: Option<fn(&mut Validator<'_>)>,
    /// Asks for the secrets that the service cannot do without; called for active services only.
    pub(crate) secrets: Option<fn(&mut Validator<'_>)>,
}

/// The host name of a web interface, if the config does not name one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    /// The field of the settings.
    pub(crate) field: &'static str,
    /// The first label; the rest is that of the cluster.
    pub(crate) label: &'static str,
    /// The rule, in words.
    pub(crate) rule: &'static str,
}

/// Listeners that the gateway has while a service is active.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners {
    /// Where they stand among those of other services. Parity: the original has them in no order of names.
    pub(crate) place: u8,
    /// Their names.
    pub(crate) names: &'static [&'static str],
    /// Makes them.
    pub(crate) build: fn(&Context<'_>) -> Vec<Listener>,
}

/// A value that older tools write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usual {
    Flag(bool),
    Word(&'static str),
    Words(&'static [&'static str]),
    /// The text of this kustomization.
    Kustomization(fn() -> Value),
}

impl Usual {
    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Flag(flag) => flag.into(),
            Self::Word(word) => word.into(),
            Self::Words(words) => json!(words),
            Self::Kustomization(build) => mainstay_yaml::print(&build()).into(),
        }
    }
}

/// Counts, lists and sorts what the one list of services says.
macro_rules! catalog {
    ($($map:ident($kind:expr) { #[doc = $summary:literal] $($module:ident $name:literal;)* })*) => {
        /// All services, sorted by name.
        pub const CATALOG: &[CatalogEntry] = &sorted([$($(CatalogEntry {
            settings: <service::$module::Settings>::SECTION,
            ..service::$module::ENTRY
        },)*)*]);
    };
}
service_list!(catalog);

/// The entries in the order of their names.
const fn sorted<const N: usize>(mut entries: [CatalogEntry; N]) -> [CatalogEntry; N] {
    let mut end = 1;
    while end < N {
        let mut at = end;
        while at > 0 && is_before(entries[at].name, entries[at - 1].name) {
            (entries[at], entries[at - 1]) = (entries[at - 1], entries[at]);
            at -= 1;
        }
        end += 1;
    }
    entries
}

/// Compares two names; the operator cannot be used in constants.
const fn is_before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] < right[at];
        }
        at += 1;
    }
    left.len() < right.len()
}

impl CatalogEntry {
    /// A service without dependencies, secrets or files; each one says what is different about it.
    pub(crate) const NEW: Self = Self {
        name: "",
        description: "",
        category: ServiceCategory::Custom,
        layer: ServiceLayer::Services,
        enabled_at_init: false,
        namespace: None,
        requires: &[],
        goes_with: &[],
        secret_block: None,
        helm_release: None,
        values_secret: None,
        override_first: false,
        namespace_stage: false,
        settings: crate::config::NoSettings::SECTION,
        descriptor: None,
        renderer: None,
        values_renderer: false,
        files_renderer: false,
        replaceable_values: false,
        usual: &[],
        hosts: &[],
        listeners: None,
        placeholders: &[],
        needs_cloud_at_init: false,
        not_with: &[],
        defaults: None,
        check: None,
        secrets: None,
    };

    /// The facts about the service's own settings.
    pub fn settings(&self) -> &'static Section {
        self.settings
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
        let has_no_cloud = matches!(
            provider,
            Provider::Kind | Provider::Baremetal | Provider::Vmware
        );
        self.enabled_at_init && !(self.needs_cloud_at_init && has_no_cloud)
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
    fn every_service_has_a_place_in_the_config_under_its_name() {
        use crate::config::{ManagedServices, Services};
        for entry in CATALOG {
            let section = match entry.layer {
                ServiceLayer::ManagedServices => ManagedServices::settings_section(entry.name),
                _ => Services::settings_section(entry.name),
            };
            assert_eq!(
                section.map(|section| section.name),
                Some(entry.settings().name),
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn names_only_blocks_of_secrets_that_exist() {
        for entry in CATALOG {
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
