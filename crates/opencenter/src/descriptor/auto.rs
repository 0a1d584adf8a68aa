//! Descriptors for services that nobody describes, made from the rendering fields of their block.

use crate::{
    catalog,
    config::{Common, StageOrder},
    finding::{Code, Finding},
    service,
};

use super::{
    Adoption, DependencyEntry, Descriptor, FileEntry, FluxUnitEntry, HealthCheck, Layer, Lifecycle,
    Origin, Owner, RETRY_INTERVAL, Role, SourceEntry, SourceKind, TIMEOUT, TargetNamespace,
    load::{DEFAULT_ORDER, default_aggregates},
};

/// Whether a name stands for something that is never rendered as a service of its own.
pub(crate) fn is_reserved(service: &str) -> bool {
    catalog::find_service(service).is_some_and(|entry| !entry.is_rendered())
}

/// What is wrong with the rendering fields of an active service without a descriptor.
pub(crate) fn check(service: &str, common: &Common) -> Vec<Finding> {
    if !common.is_active() {
        return Vec::new();
    }
    let unknown = |field: &str, name: Option<&String>, is_known: fn(&str) -> bool| {
        let name = name.filter(|name| !name.is_empty() && !is_known(name))?;
        Some(Finding::new(
            Code::Oc6011,
            format!("opencenter.services.{service}.{field}"),
            format!("there is no renderer `{name}`"),
        ))
    };
    let values = common.override_values_renderer.as_ref();
    let files = common.overlay_files_renderer.as_ref();
    [
        unknown(
            "override_values_renderer",
            values,
            service::is_values_renderer,
        ),
        unknown("overlay_files_renderer", files, service::is_files_renderer),
        namespace_provider(service, common),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// An override that comes before its base needs a namespace that only the base would create.
fn namespace_provider(service: &str, common: &Common) -> Option<Finding> {
    let dependencies = common.override_depends_on.iter().flatten();
    let is_provided = common.namespace_stage
        || common.namespace.is_none()
        || dependencies
            .into_iter()
            .any(|name| name.ends_with("-namespace"));
    let is_first = common.stage_order == StageOrder::OverrideFirst
        && !common.single_stage
        && !common.base_only;
    (is_first && !is_provided).then(|| {
        Finding::new(
            Code::Oc2005,
            format!("opencenter.services.{service}.namespace_stage"),
            "an override that comes first needs a unit that creates its namespace",
        )
        .help("set `namespace_stage: true`, or let `override_depends_on` name a namespace unit")
    })
}

/// The descriptor of a service block.
pub fn describe(service: &str, common: &Common) -> Descriptor {
    let shape = Shape::of(service, common);
    let sources = shape.sources();
    let flux_units = shape.flux_units();
    let has_overlay = !common.base_only;
    let root = format!("services/{service}");
    Descriptor {
        name: format!("auto-service-{service}"),
        category: "custom".to_owned(),
        layer: Layer::Services,
        owner: Owner::Service(service.to_owned()),
        lifecycle: Lifecycle::Rendered,
        origin: Origin::Auto,
        dependencies: Vec::new(),
        soft_dependencies: Vec::new(),
        renderer: None,
        enabled_when: None,
        aggregate_targets: default_aggregates(Layer::Services, !sources.is_empty(), true),
        order: DEFAULT_ORDER,
        sources,
        flux_units,
        flux_file: format!("{service}.yaml"),
        files: if has_overlay {
            shape.files(&root)
        } else {
            Vec::new()
        },
        root: has_overlay.then_some(root),
    }
}

/// The block of a service, with the names that follow from it.
struct Shape<'b> {
    service: &'b str,
    common: &'b Common,
    prefix: &'b str,
    own_source: String,
}

impl<'b> Shape<'b> {
    fn of(service: &'b str, common: &'b Common) -> Self {
        Self {
            service,
            common,
            prefix: common.kustomization_name.as_deref().unwrap_or(service),
            own_source: format!("opencenter-{service}"),
        }
    }

    fn source_name(&self) -> &str {
        self.common
            .source_name
            .as_deref()
            .unwrap_or(&self.own_source)
    }

    fn sources(&self) -> Vec<SourceEntry> {
        if self.common.single_stage || self.source_name() != self.own_source {
            return Vec::new();
        }
        vec![SourceEntry {
            name: self.own_source.clone(),
            file: format!("{}.yaml", self.own_source),
            kind: SourceKind::BaseRepository,
            url: None,
            reference: None,
            interval: "15m".to_owned(),
            secret_name: None,
            override_from: None,
            include: Vec::new(),
            shared: false,
            when: None,
        }]
    }

    /// A shared source puts the product that it belongs to in front of the service.
    fn base_path(&self) -> String {
        let service = self.service;
        let source = self.source_name();
        let path = if source == self.own_source {
            format!("applications/base/services/{service}")
        } else {
            let shared = source.strip_prefix("opencenter-").unwrap_or(source);
            format!("applications/base/services/{shared}/{service}")
        };
        match self.common.edition {
            Some(edition) => format!("{path}/{edition}"),
            None => path,
        }
    }

    fn flux_units(&self) -> Vec<FluxUnitEntry> {
        let (common, prefix) = (self.common, self.prefix);
        if common.single_stage {
            return vec![self.unit(self.service.to_owned(), Role::Single, None)];
        }
        let is_override_first = common.stage_order == StageOrder::OverrideFirst;
        let namespace_unit = common
            .namespace_stage
            .then(|| format!("{prefix}-namespace"));
        let mut before_base = vec!["sources".to_owned()];
        before_base.extend(namespace_unit.clone());
        let before_override = match (&common.override_depends_on, is_override_first) {
            (Some(declared), _) => declared.clone(),
            (None, true) => before_base.clone(),
            (None, false) => vec![format!("{prefix}-base")],
        };
        if is_override_first {
            before_base.push(format!("{prefix}-override"));
        }
        let base = self.unit(format!("{prefix}-base"), Role::Base, Some(before_base));
        let mut units: Vec<FluxUnitEntry> = namespace_unit
            .map(|name| FluxUnitEntry {
                file: Some(format!("{}-namespace.yaml", self.service)),
                path: format!("services/{}/namespace", self.service),
                interval: Some("60m".to_owned()),
                timeout: Some("5m".to_owned()),
                prune: Some(false),
                ..self.unit(name, Role::Namespace, None)
            })
            .into_iter()
            .collect();
        if common.base_only {
            units.push(base);
            return units;
        }
        let second = self.unit(
            format!("{prefix}-override"),
            Role::Override,
            Some(before_override),
        );
        units.extend(if is_override_first {
            [second, base]
        } else {
            [base, second]
        });
        units
    }

    fn unit(&self, name: String, role: Role, depends_on: Option<Vec<String>>) -> FluxUnitEntry {
        let is_base = role == Role::Base;
        let has_namespace = self.common.namespace.is_some();
        let release = self
            .common
            .helm_release_name
            .as_deref()
            .unwrap_or(self.service);
        let check = HealthCheck {
            api_version: "helm.toolkit.fluxcd.io/v2".to_owned(),
            kind: "HelmRelease".to_owned(),
            name: release.to_owned(),
            namespace: None,
        };
        let checks = if is_base && has_namespace {
            vec![check]
        } else {
            Vec::new()
        };
        FluxUnitEntry {
            name,
            role,
            file: None,
            source_ref: is_base.then(|| self.source_name().to_owned()),
            path: if is_base {
                self.base_path()
            } else {
                format!("services/{}", self.service)
            },
            namespace: TargetNamespace::ByRole,
            depends_on: depends_on
                .map(|names| names.into_iter().map(DependencyEntry::always).collect()),
            interval: None,
            retry_interval: Some(RETRY_INTERVAL.to_owned()),
            timeout: Some(TIMEOUT.to_owned()),
            prune: None,
            wait: true,
            force: Adoption::Follows,
            suspend: Adoption::Follows,
            decryption: None,
            health_checks: Some(checks),
            health_check_expressions: Vec::new(),
            patches: Vec::new(),
            part_of: None,
            managed_by: "opencenter".to_owned(),
            when: None,
        }
    }

    fn files(&self, root: &str) -> Vec<FileEntry> {
        let mut names = vec!["kustomization.yaml"];
        if self.common.has_override_values {
            names.push(service::VALUES);
        }
        if let Some(renderer) = self
            .common
            .overlay_files_renderer
            .as_deref()
            .and_then(service::renderer)
        {
            let files = renderer.templates.iter().map(|template| template.name);
            let own = files.filter(|name| !names.contains(name) && *name != service::VALUES);
            names = names.iter().copied().chain(own).collect();
        }
        if self.common.namespace_stage {
            names.retain(|name| !name.starts_with("namespace/"));
            names.extend(["namespace/kustomization.yaml", "namespace/namespace.yaml"]);
        }
        names
            .into_iter()
            .map(|name| FileEntry::new(root, name))
            .collect()
    }
}

impl DependencyEntry {
    /// A dependency without conditions.
    pub(crate) fn always(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            when_enabled: None,
            when: None,
        }
    }
}
