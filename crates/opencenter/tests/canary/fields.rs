//! Every field of the config that can hold a text, taken from the tables that the types are made with: a new field is
//! among them by itself. Shared by the tests of the library and of the program.

use mainstay_opencenter::{
    catalog::CATALOG,
    config::{
        Common, ManagedServices, Root, Services,
        field::{Field, Kind, Section},
        format::Format,
        path::steps,
    },
};
use serde_json::{Map, Value, json};

/// A config in which every section is at work.
pub(crate) const CONFIG: &str = include_str!("config.yaml");

/// The service of [`CONFIG`] that no catalog knows.
const OWN_SERVICE: &str = "own-cache";

/// Services that stand for the others in fields which mean something only without a descriptor: one without, and two
/// with, of which one has values that can be replaced.
const SAMPLES: [&str; 3] = [OWN_SERVICE, "loki", "longhorn"];

/// One place for a text.
#[derive(Clone, Debug)]
#[allow(
    dead_code,
    reason = "the tests of the program need less than those of the library"
)]
pub(crate) struct Leaf {
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) format: Option<Format>,
}

#[allow(
    dead_code,
    reason = "the tests of the program need less than those of the library"
)]
impl Leaf {
    /// Whether a text fits there at all. Others are tried as well: what does not fit must not be shown either.
    pub(crate) fn takes_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Any)
    }

    /// A text that is valid there, and has the mark in it where letters are allowed.
    pub(crate) fn canary(&self, mark: &str) -> String {
        match self.format {
            Some(Format::Email) => format!("{mark}@example.org"),
            Some(Format::Url) => format!("https://{mark}.example.org/v3"),
            Some(Format::Repository) => format!("https://git.example.org/{mark}/tree.git"),
            Some(Format::Ipv4) => "203.0.113.77".to_owned(),
            Some(Format::CidrV4) => "203.0.113.64/26".to_owned(),
            Some(Format::Version) => "7.7173.91733".to_owned(),
            Some(Format::Duration) => "71h733m".to_owned(),
            Some(Format::RelativePath) => format!("{mark}/{mark}.yaml"),
            Some(Format::DnsLabel | Format::DnsName | Format::Line | Format::GitRef) => {
                mark.to_owned()
            }
            None => match self.path.rsplit('.').next() {
                Some("letsencrypt_server" | "external_url" | "frontend_url") => {
                    format!("https://{mark}.example.org/")
                }
                Some("email") => format!("{mark}@example.org"),
                Some("repository_url") => format!("ssh://git@git.example.org/{mark}/apps.git"),
                Some("override_values") => {
                    format!("password: {mark}\nnested: {{list: [{mark}]}}\n")
                }
                Some("kustomization_content") => {
                    format!(
                        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamePrefix: {mark}\n"
                    )
                }
                _ => mark.to_owned(),
            },
        }
    }
}

/// Every place for a text, in the order of the tables.
pub(crate) fn all() -> Vec<Leaf> {
    let mut leaves = Vec::new();
    section(Root::SECTION, "", &mut leaves);
    leaves.retain(|leaf| !leaf.path.starts_with("schema_version"));
    leaves
}

fn section(section: &'static Section, place: &str, leaves: &mut Vec<Leaf>) {
    for field in section.fields {
        let place = if place.is_empty() {
            field.name.to_owned()
        } else {
            format!("{place}.{}", field.name)
        };
        value(field, &field.kind, &place, leaves);
    }
    if section.open {
        leaves.push(Leaf {
            path: format!("{place}.of_somebody_else"),
            kind: Kind::Any,
            format: None,
        });
    }
}

fn value(field: &'static Field, kind: &'static Kind, place: &str, leaves: &mut Vec<Leaf>) {
    let mut push = |path: String| {
        leaves.push(Leaf {
            path,
            kind: *kind,
            format: field.format,
        });
    };
    match kind {
        Kind::Text | Kind::Choice(_) | Kind::Boolean | Kind::Integer => push(place.to_owned()),
        Kind::Any | Kind::Opaque => leaves.push(Leaf {
            path: format!("{place}.inside.list[0]"),
            kind: Kind::Any,
            format: None,
        }),
        Kind::Object(inner) => section(inner, place, leaves),
        Kind::List(item) => value(field, item, &format!("{place}[0]"), leaves),
        Kind::Map(item) => {
            let key = if place.ends_with("customer_managed") {
                "keys"
            } else {
                "zones"
            };
            value(field, item, &format!("{place}.{key}"), leaves);
        }
        Kind::Services => {
            let known = CATALOG.iter().map(|entry| entry.name);
            for name in known.chain([OWN_SERVICE]) {
                let settings = Services::settings_section(name);
                service(
                    settings,
                    &format!("{place}.{name}"),
                    SAMPLES.contains(&name),
                    leaves,
                );
            }
        }
        Kind::ManagedServices => {
            for entry in CATALOG {
                if let Some(settings) = ManagedServices::settings_section(entry.name) {
                    service(
                        Some(settings),
                        &format!("{place}.{}", entry.name),
                        true,
                        leaves,
                    );
                }
            }
        }
    }
}

fn service(
    settings: Option<&'static Section>,
    place: &str,
    is_sample: bool,
    leaves: &mut Vec<Leaf>,
) {
    for field in Common::SECTION.fields {
        let is_rendering = field.rendering_field || field.name == "conditional_dependencies";
        if is_sample || !is_rendering {
            value(
                field,
                &field.kind,
                &format!("{place}.{}", field.name),
                leaves,
            );
        }
    }
    if let Some(settings) = settings {
        section(settings, place, leaves);
    }
}

/// Puts a value into a config, with everything on the way to it.
pub(crate) fn set(config: &mut Value, path: &str, text: &str) {
    let steps = steps(path).expect("the path is well-formed");
    let mut place = config;
    for step in &steps {
        place = if let Ok(index) = step.parse::<usize>() {
            if !place.is_array() {
                *place = json!([]);
            }
            let items = place.as_array_mut().expect("it was made a list");
            while items.len() <= index {
                items.push(Value::Null);
            }
            items.get_mut(index).expect("it was filled up")
        } else {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            let fields = place.as_object_mut().expect("it was made a mapping");
            fields.entry(step.as_str()).or_insert(Value::Null)
        };
    }
    *place = text.into();
}
