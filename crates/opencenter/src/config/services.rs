//! `services` and `managed_services`: what all services share, and the maps with a typed place for each known one.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::Value;

use super::{
    field::{Described, Kind, Shape, choice, section},
    format::Format,
};
use crate::{finding::Code, service, service::service_list};

section! {
    /// Services without settings of their own.
    struct NoSettings {
    }

    /// What all services share.
    struct Common {
        /// Whether the service is on.
        enabled: bool [flag(false)];
        /// How the service is taken over if it exists already.
        adoption_mode: AdoptionMode [word("managed")];
        /// Namespace of the service.
        namespace: Option<String> [rule("by service"), format(Format::DnsLabel), code(Code::Oc3165)];
        /// Where the base of the service comes from, if not from the base repository.
        source: ServiceSource;
        /// The image of the service, where it can be chosen.
        image: Image;
        /// Edition of the base.
        edition: Option<Edition> [rendering_field];
        /// Name of the Git source; another name than the default means a source that somebody else emits.
        source_name: Option<String> [rule("`opencenter-<service>`"), format(Format::DnsName), rendering_field];
        /// Whether there is one unit from the overlay only.
        single_stage: bool [flag(false), rendering_field];
        /// Whether there is one unit from the base only.
        base_only: bool [flag(false), rendering_field];
        /// Whether the overlay has a values file.
        has_override_values: bool [flag(true), rendering_field];
        /// Whether the overlay includes the enterprise registry.
        enterprise_registry: bool [flag(false), rendering_field];
        /// Further resources of the overlay.
        custom_resources: Vec<String> [format(Format::RelativePath), rendering_field];
        /// Further units that the first unit depends on.
        extra_dependencies: Vec<String> [format(Format::DnsName), rendering_field];
        /// Units that the first unit depends on if a service is active.
        conditional_dependencies: Vec<ConditionalDependency> [rendering_field];
        /// Prefix of the names of the units.
        kustomization_name: Option<String> [rule("name of the service"), format(Format::DnsName), rendering_field];
        /// Replaces what the override unit depends on.
        override_depends_on: Option<Vec<String>>
            [rule("`[<kustomization_name>-base]`"), format(Format::DnsName), rendering_field];
        /// Text of the values file.
        override_values: Option<String> [rendering_field];
        /// Built-in renderer of the values file; wins over `override_values`.
        override_values_renderer: Option<String> [format(Format::DnsLabel), rendering_field];
        /// Text of the overlay's kustomization.
        kustomization_content: Option<String> [rendering_field];
        /// Built-in renderer of further files.
        overlay_files_renderer: Option<String> [format(Format::DnsLabel), rendering_field];
        /// HelmRelease that is checked for health.
        helm_release_name: Option<String> [rule("name of the service"), format(Format::DnsName), rendering_field];
        /// Secret with the values, as the base expects it.
        values_secret_name: Option<String>
            [rule("`<kustomization_name>-values-override`"), format(Format::DnsName), rendering_field];
        /// Which of the two units comes first.
        stage_order: StageOrder [word("base-first"), rendering_field];
        /// Whether the namespace has a unit of its own.
        namespace_stage: bool [flag(false), rendering_field];
    }

    /// Where the base of a service comes from.
    struct ServiceSource {
        /// Address of the repository.
        repo: Option<String> [format(Format::Repository)];
        /// Branch to follow.
        branch: Option<String> [format(Format::GitRef)];
        /// Tag to use; wins over the branch.
        release: Option<String> [format(Format::GitRef)];
    }

    /// The image of a service.
    struct Image {
        /// Repository of the image.
        repository: Option<String> [format(Format::Line)];
        /// Tag of the image.
        tag: Option<String> [format(Format::Line)];
    }

    /// A unit that matters only with a service.
    struct ConditionalDependency {
        /// Name of the unit.
        name: Option<String> [required, format(Format::DnsName)];
        /// Service that must be active.
        when_enabled: Option<String> [required, format(Format::DnsLabel)];
    }
}

choice! {
    /// How a service is taken over if it exists already.
    enum AdoptionMode {
        /// Rendered, and fields of others are overwritten.
        Managed = "managed",
        /// Not rendered: somebody else runs the service.
        External = "external",
        /// Rendered, and fields of others are respected.
        Sync = "sync",
        /// Rendered, but suspended.
        Deferred = "deferred",
        /// As managed; says that the service existed before.
        Takeover = "takeover",
    }

    /// Edition of a base.
    enum Edition {
        /// The community edition.
        Community = "community",
        /// The enterprise edition.
        Enterprise = "enterprise",
    }

    /// Which of the two units of a service comes first.
    enum StageOrder {
        /// The override waits for the base.
        BaseFirst = "base-first",
        /// The base waits for the override.
        OverrideFirst = "override-first",
    }
}

impl Common {
    /// Whether the service is rendered: enabled, and not run by somebody else.
    pub fn is_active(&self) -> bool {
        self.enabled && self.adoption_mode != AdoptionMode::External
    }

    /// Whether somebody else runs the service.
    pub fn is_external(&self) -> bool {
        self.enabled && self.adoption_mode == AdoptionMode::External
    }
}

/// One service: what all share, and its own settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service<T> {
    /// What all services share.
    pub common: Common,
    /// What only this service has.
    pub settings: T,
}

impl<T> Service<T> {
    /// Whether the service is rendered.
    pub fn is_active(&self) -> bool {
        self.common.is_active()
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for Service<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self {
            common: Common::deserialize(&value).map_err(D::Error::custom)?,
            settings: T::deserialize(&value).map_err(D::Error::custom)?,
        })
    }
}

/// Declares the maps of services with a typed place for each known name.
macro_rules! services {
    ($($map:ident($kind:expr) { #[doc = $summary:literal] $($field:ident $name:literal;)* })*) => {$(
        #[doc = $summary]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $map {
            $(#[doc = concat!("The service `", $name, "`.")] pub $field: Option<Service<service::$field::Settings>>,)*
            /// Services that the catalog does not know.
            pub other: BTreeMap<String, Service<NoSettings>>,
        }

        impl $map {
            /// What a service shares with all others; none if the config has no such block.
            pub fn get(&self, name: &str) -> Option<&Common> {
                match name {
                    $($name => self.$field.as_ref().map(|service| &service.common),)*
                    _ => self.other.get(name).map(|service| &service.common),
                }
            }

            /// The services in the config, sorted by name.
            pub fn iter(&self) -> impl Iterator<Item = (&str, &Common)> {
                let mut all: Vec<(&str, &Common)> = Vec::new();
                $(all.extend(self.$field.as_ref().map(|service| ($name, &service.common)));)*
                all.extend(self.other.iter().map(|(name, service)| (name.as_str(), &service.common)));
                all.sort_by_key(|(name, _)| *name);
                all.into_iter()
            }

            /// Whether a service is rendered.
            pub fn is_active(&self, name: &str) -> bool {
                self.get(name).is_some_and(Common::is_active)
            }

            /// The facts about the settings of a known service.
            pub fn settings_section(name: &str) -> Option<&'static crate::config::field::Section> {
                match name {
                    $($name => Some(<service::$field::Settings>::SECTION),)*
                    _ => None,
                }
            }
        }

        impl<'de> Deserialize<'de> for $map {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Blocks;

                impl<'de> Visitor<'de> for Blocks {
                    type Value = $map;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str("a mapping of services")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$map, A::Error> {
                        let mut services = $map::default();
                        while let Some(name) = map.next_key::<String>()? {
                            match name.as_str() {
                                $($name => services.$field = Some(map.next_value()?),)*
                                _ => {
                                    services.other.insert(name, map.next_value()?);
                                }
                            }
                        }
                        Ok(services)
                    }
                }

                deserializer.deserialize_map(Blocks)
            }
        }

        impl Described for $map {
            const SHAPE: Shape = Shape::of_kind($kind);
        }
    )*};
}
service_list!(services);
