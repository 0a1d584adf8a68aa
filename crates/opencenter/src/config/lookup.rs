//! From a path to what the types say about it, without any config at hand.

use super::{
    Common, ManagedServices, Root, Services,
    field::{Field, Kind, Section},
    path,
};
use crate::catalog;

/// What the types know about a path.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// A field of a section.
    Field(&'static Field),
    /// An entry of a free mapping or list of this kind; the field is the one that holds it.
    Entry(&'static Field, &'static Kind),
    /// The block of a service.
    Service,
    /// Something below a value that is kept without a look.
    Opaque,
}

impl Known {
    /// The type of the value.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Field(field) => field.kind,
            Self::Entry(_, kind) => **kind,
            Self::Service => Kind::Opaque,
            Self::Opaque => Kind::Any,
        }
    }

    /// The field that the value belongs to.
    pub fn field(&self) -> Option<&'static Field> {
        match self {
            Self::Field(field) | Self::Entry(field, _) => Some(field),
            Self::Service | Self::Opaque => None,
        }
    }

    /// Whether the value is secret.
    pub fn is_secret(&self) -> bool {
        self.field().is_some_and(|field| {
            field.secret && matches!(self.kind(), Kind::Text | Kind::List(_) | Kind::Map(_))
        })
    }
}

/// How far a path could be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The part of the path that is not known.
    pub step: String,
    /// What could stand there instead.
    pub accepted: Vec<&'static str>,
}

/// Follows a path through the types. Known services are entered by name, others have only the common fields.
pub fn lookup(path: &str) -> Result<Known, Unknown> {
    let malformed = || Unknown {
        step: path.to_owned(),
        accepted: Vec::new(),
    };
    let steps = path::steps(path).ok_or_else(malformed)?;
    let mut sections: Vec<&'static Section> = vec![Root::SECTION];
    let mut known: Option<Known> = None;
    for step in steps {
        let kind = known.map(|known| known.kind());
        known = Some(match kind {
            Some(Kind::List(item) | Kind::Map(item)) => {
                let field = known
                    .as_ref()
                    .and_then(Known::field)
                    .ok_or_else(malformed)?;
                Known::Entry(field, item)
            }
            Some(Kind::Services) => {
                sections = service_sections(Services::settings_section(&step));
                Known::Service
            }
            Some(Kind::ManagedServices) => {
                sections = service_sections(ManagedServices::settings_section(&step));
                Known::Service
            }
            Some(Kind::Any) => Known::Opaque,
            Some(Kind::Opaque) if !matches!(known, Some(Known::Service)) => Known::Opaque,
            _ => in_sections(&sections, &step)?,
        });
        sections = match known.map(|known| known.kind()) {
            Some(Kind::Object(section)) => vec![section],
            Some(Kind::Opaque) if matches!(known, Some(Known::Service)) => sections,
            _ => Vec::new(),
        };
    }
    known.ok_or_else(malformed)
}

fn service_sections(settings: Option<&'static Section>) -> Vec<&'static Section> {
    std::iter::once(Common::SECTION).chain(settings).collect()
}

fn in_sections(sections: &[&'static Section], step: &str) -> Result<Known, Unknown> {
    match sections.iter().find_map(|section| section.field(step)) {
        Some(field) => Ok(Known::Field(field)),
        None if sections.iter().any(|section| section.open) => Ok(Known::Opaque),
        None => Err(Unknown {
            step: step.to_owned(),
            accepted: sections
                .iter()
                .flat_map(|section| section.fields)
                .map(|field| field.name)
                .collect(),
        }),
    }
}

/// One row about a field and everything below it, flattened: `a.b[].c`.
#[derive(Clone, Debug)]
pub struct OptionRow {
    /// The path, relative to where the walk started.
    pub path: String,
    /// What the types say.
    pub field: &'static Field,
}

impl OptionRow {
    /// The type as the row shows it: lists and maps name what they hold.
    pub fn type_name(&self) -> String {
        fn name(kind: &Kind) -> String {
            match kind {
                Kind::List(item) => format!("list of {}", name(item)),
                Kind::Map(item) => format!("map of {}", name(item)),
                other => other.word().to_owned(),
            }
        }
        name(&self.field.kind)
    }

    /// The default as the row shows it; none if there is none.
    pub fn default_text(&self) -> Option<String> {
        use super::field::{Fallback, Literal};
        let text = |literal: Literal| match literal {
            Literal::Word(word) => word.to_owned(),
            other => other.to_value().to_string(),
        };
        match self.field.fallback {
            Fallback::None => None,
            Fallback::Filled(literal) => Some(text(literal)),
            Fallback::Chart(literal) => Some(format!("{} (of the chart)", text(literal))),
            Fallback::Rule(words) => Some(words.to_owned()),
        }
    }
}

/// All fields of a section, flattened with dots and `[]`.
pub fn rows(section: &'static Section) -> Vec<OptionRow> {
    let mut rows = Vec::new();
    collect(section, "", &mut rows);
    rows
}

fn collect(section: &'static Section, prefix: &str, rows: &mut Vec<OptionRow>) {
    for field in section.fields {
        let path = format!("{prefix}{}", field.name);
        rows.push(OptionRow {
            path: path.clone(),
            field,
        });
        let (inner, suffix) = match field.kind {
            Kind::Object(inner) => (Some(inner), "."),
            Kind::List(Kind::Object(inner)) => (Some(*inner), "[]."),
            Kind::Map(Kind::Object(inner)) => (Some(*inner), ".<name>."),
            _ => (None, ""),
        };
        if let Some(inner) = inner {
            collect(inner, &format!("{path}{suffix}"), rows);
        }
    }
}

/// The options of a service, by section.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// Fields of all services.
    pub common: Vec<OptionRow>,
    /// Fields that steer services without a descriptor of their own; empty for the others.
    pub rendering: Vec<OptionRow>,
    /// Fields of this service only.
    pub parameters: Vec<OptionRow>,
    /// Secret fields, relative to [`ServiceOptions::secret_path`].
    pub secrets: Vec<OptionRow>,
    /// Where the secrets stand, below `secrets`.
    pub secret_path: String,
}

/// The options of a service, known or not.
pub fn service_options(name: &str) -> ServiceOptions {
    let entry = catalog::find(name);
    let (rendering, common): (Vec<_>, Vec<_>) =
        rows(Common::SECTION).into_iter().partition(|row| {
            row.field.rendering_field || row.path.starts_with("conditional_dependencies")
        });
    let secret_path = entry.map_or_else(
        || format!("service_secrets.{name}"),
        catalog::CatalogEntry::secret_path,
    );
    let secrets = match lookup(&format!("secrets.{secret_path}")).map(|known| known.kind()) {
        Ok(Kind::Object(section)) => rows(section),
        _ => Vec::new(),
    };
    ServiceOptions {
        common,
        rendering: if entry.is_none() {
            rendering
        } else {
            Vec::new()
        },
        parameters: entry.map_or_else(Vec::new, |entry| rows(entry.settings())),
        secrets,
        secret_path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_paths_through_services_lists_and_maps() {
        for (path, word) in [
            ("opencenter.meta.region", "string"),
            ("opencenter.services", "object"),
            ("opencenter.services.loki", "object"),
            ("opencenter.services.loki.volume_size", "integer"),
            ("opencenter.services.loki.source.branch", "string"),
            ("opencenter.services.my-own.enabled", "boolean"),
            (
                "opencenter.services.metallb.ip_address_pools[0].auto_assign",
                "boolean",
            ),
            (
                "opencenter.managed_services.alert-proxy.http_route_fqdn",
                "string",
            ),
            ("secrets.cert_manager.aws.main.dns_zones", "list"),
            ("secrets.service_secrets.loki.swift_password", "string"),
            ("opencenter.infrastructure.bastion.flavor", "any"),
            ("deployment.kubespray.version", "any"),
        ] {
            let known = lookup(path).unwrap_or_else(|unknown| panic!("{path}: {unknown:?}"));
            assert_eq!(known.kind().word(), word, "{path}");
        }
        for path in [
            "opencenter.nothing",
            "opencenter.services.loki.hostname",
            "opencenter.services.my-own.hostname",
            "opencenter.meta.region.more",
            "",
            "a..b",
        ] {
            assert!(lookup(path).is_err(), "{path}");
        }
    }

    #[test]
    fn knows_what_is_secret() {
        for (path, expected) in [
            ("secrets.keycloak.admin_password", true),
            ("secrets.service_secrets.x.y", true),
            (
                "opencenter.infrastructure.cloud.openstack.application_credential_secret",
                true,
            ),
            ("secrets.vsphere_csi.port", false),
            ("opencenter.meta.name", false),
        ] {
            assert_eq!(lookup(path).unwrap().is_secret(), expected, "{path}");
        }
    }

    #[test]
    fn describes_every_field() {
        for row in rows(Root::SECTION).iter().chain(&rows(Common::SECTION)) {
            assert!(!row.field.description().is_empty(), "{}", row.path);
        }
        for entry in catalog::CATALOG {
            let options = service_options(entry.name);
            for row in options.parameters.iter().chain(&options.secrets) {
                let description = row.field.description();
                assert!(
                    description.ends_with('.') && description.len() > 5,
                    "{}: {}",
                    entry.name,
                    row.path
                );
            }
        }
    }

    #[test]
    fn offers_rendering_fields_only_where_they_work() {
        assert!(service_options("loki").rendering.is_empty());
        assert!(!service_options("my-own").rendering.is_empty());
        assert_eq!(
            service_options("mimir").secret_path,
            "global.aws.application"
        );
        assert_eq!(
            service_options("my-own").secret_path,
            "service_secrets.my-own"
        );
    }
}
