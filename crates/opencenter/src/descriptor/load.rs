//! Text → [`Descriptor`]: shape, words and conditions. What needs the other descriptors is checked by the registry.

mod condition;
mod file;
mod flux_unit;
mod names;
mod source;

use mainstay_yaml::{
    Document, ErrorKind, Limits, SourceName, from_value_reporting, parse_documents,
};
use serde_json::Value;

use crate::finding::{Code, Finding};

use super::{
    Descriptor, Layer, Lifecycle, Origin, Owner, TemplateStore,
    raw::{RawDescriptor, RawOwner},
};

pub(super) use names::in_layer;
pub(crate) use names::is_safe_relative;
use names::is_unit_name;

/// The weight of units that do not care where they stand in aggregates.
pub(super) const DEFAULT_ORDER: i32 = 500;

const CATEGORIES: &[&str] = &[
    "core",
    "monitoring",
    "logging",
    "storage",
    "networking",
    "security",
    "gitops",
    "custom",
];

/// The text of one descriptor file.
#[derive(Clone, Copy, Debug)]
pub struct DescriptorText<'a> {
    /// The file, as findings name it.
    pub file: &'a str,
    /// Its content.
    pub text: &'a str,
    /// Where it comes from.
    pub origin: Origin,
}

/// Reads one descriptor. Reports everything that is wrong with it, not only the first thing.
///
/// The store is needed for `roots`, which stand for every template below a directory.
pub fn load(text: DescriptorText<'_>, store: &TemplateStore) -> Result<Descriptor, Vec<Finding>> {
    let source = SourceName::new(text.file);
    let document = single_document(text.text, &source).map_err(|finding| vec![*finding])?;
    from_document(&document, text.origin, store)
}

/// Reads one built-in descriptor whose text was parsed before.
pub(super) fn load_built_in(
    file: &str,
    value: Value,
    store: &TemplateStore,
) -> Result<Descriptor, Vec<Finding>> {
    let document = Document::from_value(value, &SourceName::new(file));
    from_document(&document, Origin::BuiltIn, store)
}

fn from_document(
    document: &Document,
    origin: Origin,
    store: &TemplateStore,
) -> Result<Descriptor, Vec<Finding>> {
    let (raw, unknown) = from_value_reporting::<RawDescriptor>(document)
        .map_err(|error| vec![from_yaml(Code::Oc5001, &error)])?;
    let mut reader = Reader {
        document,
        findings: unknown
            .iter()
            .map(|error| from_yaml(Code::Oc5002, error))
            .collect(),
    };
    let descriptor = reader.descriptor(raw, origin, store);
    match descriptor {
        Some(descriptor) if reader.findings.is_empty() => Ok(descriptor),
        _ => Err(reader.findings),
    }
}

fn single_document(text: &str, source: &SourceName) -> Result<Document, Box<Finding>> {
    let mut documents = parse_documents(text, source, &Limits::default()).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::UnknownField => Code::Oc5002,
            _ => Code::Oc5001,
        };
        Box::new(from_yaml(code, &error))
    })?;
    let refuse = |message: &str| {
        Err(Box::new(
            Finding::new(Code::Oc5001, "", message).in_file(source),
        ))
    };
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) => Ok(document),
        (None, _) => refuse("the file is empty"),
        (Some(_), false) => refuse("a descriptor file holds exactly one document"),
    }
}

fn from_yaml(code: Code, error: &mainstay_yaml::Error) -> Finding {
    Finding::new(code, "", error.message())
        .in_file(error.source_name())
        .at(error.position())
}

/// Turns raw parts into the model and collects what is wrong with them.
struct Reader<'d> {
    document: &'d Document,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn report(&mut self, code: Code, pointer: &str, message: impl Into<String>) {
        let location = self.document.position(pointer);
        let path = pointer.trim_start_matches('/').replace('/', ".");
        self.findings.push(
            Finding::new(code, path, message)
                .in_file(self.document.source_name())
                .at(location.value),
        );
    }

    fn descriptor(
        &mut self,
        raw: RawDescriptor,
        origin: Origin,
        store: &TemplateStore,
    ) -> Option<Descriptor> {
        let name = self.name(raw.name.as_deref());
        let layer = self.layer(raw.layer.as_deref());
        let category = self.category(raw.category);
        let lifecycle = match raw.lifecycle.as_deref() {
            None | Some("rendered") => Lifecycle::Rendered,
            Some("bootstrap") => Lifecycle::Bootstrap,
            Some(_) => {
                self.report(
                    Code::Oc5001,
                    "/lifecycle",
                    "a lifecycle is `rendered` or `bootstrap`",
                );
                Lifecycle::Rendered
            }
        };
        let enabled_when = self.condition(raw.enabled_when.as_ref(), "/enabled_when");
        let name = name?;
        let layer = layer?;
        let owner = self.owner(
            &name,
            layer,
            raw.owner.as_ref(),
            raw.service,
            raw.managed_service,
        )?;
        let renderer = match raw.plugin {
            Some(plugin) if plugin.mode.as_deref() == Some("custom") => {
                Some(plugin.renderer.unwrap_or_else(|| name.clone()))
            }
            _ => None,
        };
        let sources: Vec<_> = raw
            .render
            .sources
            .into_iter()
            .enumerate()
            .filter_map(|(index, source)| self.source(source, &format!("/render/sources/{index}")))
            .collect();
        let flux_units: Vec<_> = raw
            .render
            .flux_units
            .into_iter()
            .enumerate()
            .filter_map(|(index, unit)| {
                self.flux_unit(unit, &format!("/render/flux_units/{index}"))
            })
            .collect();
        let root = raw
            .render
            .overlay
            .root
            .map(|root| root.trim_matches('/').to_owned());
        let mut files = self.files(
            raw.render.overlay.files,
            root.as_deref(),
            "/render/overlay/files",
        );
        files.extend(self.files(raw.files, root.as_deref(), "/files"));
        files.extend(self.roots(raw.roots, layer, store));
        let renders_nothing =
            sources.is_empty() && flux_units.is_empty() && files.is_empty() && renderer.is_none();
        if renders_nothing && lifecycle == Lifecycle::Rendered {
            self.report(Code::Oc5007, "", "the descriptor renders nothing");
        }
        let aggregate_targets = raw.aggregate_targets.unwrap_or_else(|| {
            default_aggregates(layer, !sources.is_empty(), !flux_units.is_empty())
        });
        let flux_file = raw
            .render
            .flux_file
            .unwrap_or_else(|| format!("{}.yaml", owner.service().unwrap_or(&name)));
        Some(Descriptor {
            category,
            layer,
            owner,
            lifecycle,
            origin,
            dependencies: raw.dependencies,
            soft_dependencies: raw.soft_dependencies,
            renderer,
            enabled_when,
            aggregate_targets,
            order: raw
                .aggregate
                .and_then(|aggregate| aggregate.order)
                .unwrap_or(DEFAULT_ORDER),
            sources,
            flux_units,
            flux_file,
            root,
            files,
            name,
        })
    }

    fn name(&mut self, name: Option<&str>) -> Option<String> {
        // Parity: ids of the original carry a prefix that says nothing.
        let name = name.map(|name| name.strip_prefix("service-").unwrap_or(name));
        match name {
            Some(name) if is_unit_name(name) => Some(name.to_owned()),
            _ => {
                self.report(
                    Code::Oc5003,
                    "/name",
                    "a name has lower-case letters, digits and inner hyphens",
                );
                None
            }
        }
    }

    fn layer(&mut self, layer: Option<&str>) -> Option<Layer> {
        match layer {
            Some("services") => Some(Layer::Services),
            Some("managed-services") => Some(Layer::ManagedServices),
            Some("customer-managed") => Some(Layer::CustomerManaged),
            Some("cluster" | "root") => Some(Layer::Cluster),
            None => {
                self.report(Code::Oc5005, "/layer", "the layer is missing");
                None
            }
            Some(other) => {
                self.report(
                    Code::Oc5006,
                    "/layer",
                    format!("there is no layer `{other}`"),
                );
                None
            }
        }
    }

    fn category(&mut self, category: Option<String>) -> String {
        let category = category.unwrap_or_else(|| "custom".to_owned());
        if !CATEGORIES.contains(&category.as_str()) {
            self.report(
                Code::Oc5001,
                "/type",
                format!("a type is one of {}", CATEGORIES.join(", ")),
            );
        }
        category
    }

    fn owner(
        &mut self,
        unit: &str,
        layer: Layer,
        owner: Option<&RawOwner>,
        service: Option<String>,
        managed_service: Option<String>,
    ) -> Option<Owner> {
        let kind = owner.and_then(|owner| owner.kind.as_deref());
        let declared = match (service, managed_service, kind) {
            (Some(_), Some(_), _)
            | (Some(_), None, Some("managed-service" | "cluster"))
            | (None, Some(_), Some("service" | "cluster")) => None,
            (Some(name), None, _) => Some(Owner::Service(name)),
            (None, Some(name), _) => Some(Owner::ManagedService(name)),
            (None, None, kind) => {
                let name = owner
                    .and_then(|owner| owner.name.clone())
                    .unwrap_or_else(|| unit.to_owned());
                match (kind, layer) {
                    (Some("service"), _) | (None, Layer::Services) => Some(Owner::Service(name)),
                    (Some("managed-service"), _) | (None, Layer::ManagedServices) => {
                        Some(Owner::ManagedService(name))
                    }
                    (Some("cluster") | None, _) => Some(Owner::Cluster),
                    (Some(_), _) => None,
                }
            }
        };
        let fits = matches!(
            (&declared, layer),
            (Some(Owner::Service(_)), Layer::Services)
                | (Some(Owner::ManagedService(_)), Layer::ManagedServices)
                | (Some(Owner::Cluster), _)
        );
        if !fits {
            self.report(
                Code::Oc5008,
                "/owner",
                "the owner contradicts itself or the layer",
            );
            return None;
        }
        declared
    }
}

/// The aggregates that a unit of a layer takes part in.
pub(super) fn default_aggregates(layer: Layer, has_sources: bool, has_units: bool) -> Vec<String> {
    let (sources, fluxcd) = match layer {
        Layer::Services => ("services-sources-aggregate", "services-fluxcd-aggregate"),
        Layer::ManagedServices => (
            "managed-services-sources-aggregate",
            "managed-services-fluxcd-aggregate",
        ),
        Layer::CustomerManaged => return vec!["root-overlay".to_owned()],
        Layer::Cluster => return Vec::new(),
    };
    let mut targets = Vec::new();
    if has_sources || layer == Layer::ManagedServices {
        targets.push(sources.to_owned());
    }
    if has_sources || has_units || layer == Layer::ManagedServices {
        targets.push(fluxcd.to_owned());
    }
    targets
}
