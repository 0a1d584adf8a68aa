//! Text → [`Descriptor`]: shape, words and conditions. What needs the other descriptors is checked by the registry.

use mainstay_yaml::{
    Document, ErrorKind, Limits, SourceName, from_value_reporting, parse_documents,
};

use crate::finding::{Code, Finding};

use super::condition::{Condition, Operator, RawCondition, expand_shorthand};
use super::raw::{
    RawAdoption, RawDependency, RawDescriptor, RawFile, RawFileDetails, RawFluxUnit,
    RawHealthCheck, RawOwner, RawRoot, RawSource,
};
use super::{
    Adoption, DependencyEntry, Descriptor, FileEntry, FluxUnitEntry, HealthCheck,
    HealthCheckExpression, Include, InlinePatch, Layer, Lifecycle, Origin, Owner, RETRY_INTERVAL,
    ReferenceKind, Role, SourceEntry, SourceKind, TIMEOUT, TargetNamespace, TemplateStore,
};

/// The weight of units that do not care where they stand in aggregates.
pub(super) const DEFAULT_ORDER: i32 = 500;

/// The suffix that marks a template with expressions.
const TEMPLATE_SUFFIX: &str = ".tpl";

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
    let (raw, unknown) = from_value_reporting::<RawDescriptor>(&document)
        .map_err(|error| vec![from_yaml(Code::Oc5001, &error)])?;
    let mut reader = Reader {
        document: &document,
        findings: unknown
            .iter()
            .map(|error| from_yaml(Code::Oc5002, error))
            .collect(),
    };
    let descriptor = reader.descriptor(raw, text.origin, store);
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

    fn condition(&mut self, raw: Option<&RawCondition>, pointer: &str) -> Option<Condition> {
        let raw = raw?;
        let before = self.findings.len();
        let field = match raw.field.as_deref() {
            None | Some("") => {
                self.report(Code::Oc5010, pointer, "the condition has no field");
                ""
            }
            Some(field) if !is_field_path(field) => {
                self.report(
                    Code::Oc5011,
                    &format!("{pointer}/field"),
                    format!("`{field}` is not a dotted path"),
                );
                field
            }
            Some(field) => field,
        };
        let word = raw.operator.as_deref().or(raw.is.as_deref());
        let operator = match word {
            Some("equals") => Operator::Equals,
            Some("exists") => Operator::Exists,
            Some("true") => Operator::True,
            Some("false") => Operator::False,
            other => {
                let message = match other {
                    Some(other) => format!("there is no operator `{other}`"),
                    None => "the condition has no operator".to_owned(),
                };
                self.report(Code::Oc5013, &format!("{pointer}/operator"), message);
                return None;
            }
        };
        match (operator, raw.value.as_deref()) {
            (Operator::Equals, None | Some("")) => {
                self.report(Code::Oc5014, pointer, "`equals` needs a value");
            }
            (Operator::Exists | Operator::True | Operator::False, Some(_)) => self.report(
                Code::Oc5015,
                &format!("{pointer}/value"),
                format!("`{}` takes no value", operator.as_str()),
            ),
            _ => {}
        }
        (self.findings.len() == before).then(|| Condition {
            field: expand_shorthand(field),
            operator,
            value: raw.value.clone(),
        })
    }

    fn source(&mut self, raw: RawSource, pointer: &str) -> Option<SourceEntry> {
        let Some(name) = raw.name.filter(|name| is_dns_subdomain(name)) else {
            self.report(
                Code::Oc5019,
                pointer,
                "the source has no DNS name as its name",
            );
            return None;
        };
        let kind = match (raw.source.as_deref(), &raw.url) {
            (Some("explicit"), _) | (None, Some(_)) => SourceKind::Explicit,
            (Some("base-repo") | None, _) => SourceKind::BaseRepository,
            (Some("cluster-repo"), _) => SourceKind::ClusterRepository,
            (Some("customer-repo"), _) => SourceKind::CustomerRepository,
            (Some(other), _) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/source"),
                    format!("there is no kind of source `{other}`"),
                );
                return None;
            }
        };
        let reference = match (raw.ref_type.as_deref(), raw.ref_value) {
            (None, None) => None,
            (kind, Some(value)) => Some((self.reference_kind(kind, pointer)?, value)),
            (Some(_), None) => {
                self.report(Code::Oc5001, pointer, "`ref_type` needs `ref_value`");
                None
            }
        };
        Some(SourceEntry {
            file: raw.file.unwrap_or_else(|| format!("{name}.yaml")),
            name,
            kind,
            url: raw.url,
            reference,
            interval: raw.interval.unwrap_or_else(|| "15m".to_owned()),
            secret_name: raw.secret_name,
            override_from: raw.override_from,
            include: raw
                .include
                .into_iter()
                .map(|include| Include {
                    repository: include.repository,
                    from_path: include.from_path,
                    to_path: include.to_path,
                })
                .collect(),
            shared: raw.shared,
            when: self.condition(raw.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    fn reference_kind(&mut self, word: Option<&str>, pointer: &str) -> Option<ReferenceKind> {
        match word {
            Some("branch") | None => Some(ReferenceKind::Branch),
            Some("tag") => Some(ReferenceKind::Tag),
            Some("semver") => Some(ReferenceKind::Semver),
            Some("commit") => Some(ReferenceKind::Commit),
            Some(other) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/ref_type"),
                    format!("there is no kind of reference `{other}`"),
                );
                None
            }
        }
    }

    fn flux_unit(&mut self, raw: RawFluxUnit, pointer: &str) -> Option<FluxUnitEntry> {
        let (Some(name), Some(path)) = (raw.name, raw.path) else {
            self.report(Code::Oc5018, pointer, "a flux unit needs `name` and `path`");
            return None;
        };
        if !is_dns_subdomain(&name) {
            self.report(
                Code::Oc5019,
                &format!("{pointer}/name"),
                format!("`{name}` is not a DNS name"),
            );
        }
        let role = match raw.role.as_deref() {
            Some("base") => Role::Base,
            Some("override") => Role::Override,
            Some("single") => Role::Single,
            Some("namespace") => Role::Namespace,
            Some("stage") | None => Role::Stage,
            Some("sources") => Role::Sources,
            Some(other) => {
                self.report(
                    Code::Oc5001,
                    &format!("{pointer}/role"),
                    format!("there is no role `{other}`"),
                );
                return None;
            }
        };
        let by_role = |default: &str| (role != Role::Sources).then(|| default.to_owned());
        let depends_on = raw
            .depends_on
            .map(|entries| self.dependencies(entries, &format!("{pointer}/depends_on")));
        Some(FluxUnitEntry {
            name,
            role,
            file: raw.file,
            source_ref: raw.source_ref,
            path,
            namespace: match raw.namespace.as_deref() {
                None => TargetNamespace::ByRole,
                Some("-") => TargetNamespace::Suppressed,
                Some("owner") => TargetNamespace::OfOwner,
                Some(name) => TargetNamespace::Named(name.to_owned()),
            },
            depends_on,
            interval: raw.interval,
            retry_interval: raw.retry_interval.or_else(|| by_role(RETRY_INTERVAL)),
            timeout: raw.timeout.or_else(|| by_role(TIMEOUT)),
            prune: raw.prune,
            wait: raw.wait.unwrap_or(true),
            force: self.adoption(raw.force, &format!("{pointer}/force")),
            suspend: self.adoption(raw.suspend, &format!("{pointer}/suspend")),
            decryption: raw.sops_decryption,
            health_checks: raw
                .health_checks
                .map(|checks| checks.into_iter().map(health_check).collect()),
            health_check_expressions: raw
                .health_check_exprs
                .into_iter()
                .map(|expression| HealthCheckExpression {
                    api_version: expression.api_version,
                    kind: expression.kind,
                    current: expression.current,
                    failed: expression.failed,
                    in_progress: expression.in_progress,
                })
                .collect(),
            patches: raw
                .patches
                .into_iter()
                .map(|patch| InlinePatch {
                    target: patch.target,
                    patch: patch.patch,
                })
                .collect(),
            part_of: raw.part_of,
            managed_by: raw.managed_by.unwrap_or_else(|| "opencenter".to_owned()),
            when: self.condition(raw.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    fn adoption(&mut self, raw: Option<RawAdoption>, pointer: &str) -> Adoption {
        match raw {
            None => Adoption::Follows,
            Some(RawAdoption::Pinned(flag)) => Adoption::Pinned(flag),
            Some(RawAdoption::Word(word)) => {
                if word != "adoption" {
                    self.report(Code::Oc5001, pointer, "write true, false or `adoption`");
                }
                Adoption::Follows
            }
        }
    }

    fn dependencies(&mut self, entries: Vec<RawDependency>, pointer: &str) -> Vec<DependencyEntry> {
        let mut dependencies = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            dependencies.push(match entry {
                RawDependency::Name(name) => DependencyEntry {
                    name,
                    when_enabled: None,
                    when: None,
                },
                RawDependency::Detailed {
                    name,
                    when_enabled,
                    when,
                } => DependencyEntry {
                    name,
                    when_enabled,
                    when: self.condition(when.as_ref(), &format!("{pointer}/{index}/when")),
                },
            });
        }
        dependencies
    }

    fn files(&mut self, raw: Vec<RawFile>, root: Option<&str>, pointer: &str) -> Vec<FileEntry> {
        raw.into_iter()
            .enumerate()
            .filter_map(|(index, file)| self.file(file, root, &format!("{pointer}/{index}")))
            .collect()
    }

    fn file(&mut self, raw: RawFile, root: Option<&str>, pointer: &str) -> Option<FileEntry> {
        let details = match raw {
            RawFile::Name(name) => RawFileDetails {
                name: Some(name),
                ..RawFileDetails::default()
            },
            RawFile::Detailed(details) => details,
        };
        let Some(name) = details.name.or(details.template) else {
            self.report(Code::Oc5018, pointer, "a file needs `name`");
            return None;
        };
        let plain = name.strip_suffix(TEMPLATE_SUFFIX).unwrap_or(&name);
        let output = match (details.output, root) {
            (Some(output), _) => output,
            (None, Some(root)) => format!("{root}/{plain}"),
            (None, None) => {
                self.report(
                    Code::Oc5024,
                    pointer,
                    "files need `render.overlay.root` or `output`",
                );
                return None;
            }
        };
        for path in [plain, &output] {
            if !is_safe_relative(path) {
                self.report(
                    Code::Oc5024,
                    pointer,
                    format!("`{path}` leaves its directory"),
                );
                return None;
            }
        }
        Some(FileEntry {
            template: plain.to_owned(),
            output,
            render: details
                .render
                .unwrap_or_else(|| name.ends_with(TEMPLATE_SUFFIX)),
            sensitive: details.sensitive,
            resource: details.resource,
            patch: details.patch,
            when: self.condition(details.when.as_ref(), &format!("{pointer}/when")),
        })
    }

    /// Writes `roots` out: every template below a directory, minus the excluded ones.
    fn roots(&mut self, raw: Vec<RawRoot>, layer: Layer, store: &TemplateStore) -> Vec<FileEntry> {
        let mut files = Vec::new();
        for (index, root) in raw.into_iter().enumerate() {
            let pointer = format!("/roots/{index}");
            let when = self.condition(root.when.as_ref(), &format!("{pointer}/when"));
            let path = root.path.trim_matches('/').to_owned();
            let output = root
                .output
                .unwrap_or_else(|| path.clone())
                .trim_matches('/')
                .to_owned();
            if !is_safe_relative(&path) || !is_safe_relative(&output) || !in_layer(&output, layer) {
                self.report(
                    Code::Oc5024,
                    &pointer,
                    format!("`{output}` leaves its layer"),
                );
                continue;
            }
            for name in store.user_templates_below(&path) {
                let plain = name.strip_suffix(TEMPLATE_SUFFIX).unwrap_or(name);
                if root
                    .excludes
                    .iter()
                    .any(|excluded| excluded == name || excluded == plain)
                {
                    continue;
                }
                files.push(FileEntry {
                    render: name.ends_with(TEMPLATE_SUFFIX),
                    when: when.clone(),
                    output: format!("{output}/{plain}"),
                    ..FileEntry::new(&path, plain)
                });
            }
        }
        files
    }
}

fn health_check(raw: RawHealthCheck) -> HealthCheck {
    HealthCheck {
        api_version: raw
            .api_version
            .unwrap_or_else(|| "helm.toolkit.fluxcd.io/v2".to_owned()),
        kind: raw.kind.unwrap_or_else(|| "HelmRelease".to_owned()),
        name: raw.name,
        namespace: raw.namespace,
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

fn is_unit_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends_well = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// Whether a name can be the name of a Kubernetes object.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && !name.is_empty() && name.split('.').all(is_unit_name)
}

fn is_field_path(field: &str) -> bool {
    !field.is_empty()
        && field.split('.').all(|segment| {
            !segment.is_empty()
                && segment
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        })
}

/// Whether a path stays below the directory that it is joined to.
pub(crate) fn is_safe_relative(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\\', '\0', '\n'])
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

/// Whether an output path belongs to a layer.
pub(super) fn in_layer(output: &str, layer: Layer) -> bool {
    match layer {
        Layer::Cluster => !output.starts_with("flux-system/"),
        layer => output
            .strip_prefix(layer.directory())
            .is_some_and(|rest| rest.starts_with('/')),
    }
}
