//! The content of built-in files, one module per service of the catalog.
//!
//! A service is a table of templates: for each file name a function from the config to ordered values. Values are
//! typed to the last moment, so there is nothing to escape and no marker to leak. Which files there are, and where
//! they go, is the descriptor's business; a template may only say that the config leaves it nothing to write.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all templates have one signature, also those that cannot fail"
)]

mod alert_proxy;
mod calico;
mod cert_manager;
mod etcd_backup;
mod gateway;
mod harbor;
mod headlamp;
mod kafka_cluster;
mod keycloak;
mod kube_prometheus_stack;
mod kyverno;
mod longhorn;
mod manifest;
mod metallb;
mod namespace_stage;
mod object_storage;
mod observability;
mod olm;
mod openstack;
mod opentelemetry;
mod plain_values;
mod podmonitor;
mod velero;
mod vsphere_csi;
mod weave_gitops;

use mainstay_yaml::Node;

use crate::{
    overlay::{Decision, Sensitivity},
    render::{Context, Failure},
};

pub(crate) use gateway::{Listener, listeners};
pub(crate) use manifest::encoded_secret;
pub(crate) use namespace_stage::kustomization as stage_kustomization;

/// What a template made of the config.
pub(crate) enum Built {
    /// Documents, printed in the house style.
    Documents(Vec<Node>),
    /// Text of the user, written as it is.
    Text(String),
    /// Nothing, because of this.
    Skipped(Decision),
}

impl Built {
    /// One document.
    pub(crate) fn one(node: Node) -> Self {
        Self::Documents(vec![node])
    }

    /// A values file without values.
    pub(crate) fn empty_values() -> Self {
        Self::Text("---\n...\n".to_owned())
    }
}

/// The outcome of a template.
pub(crate) type BuildResult = Result<Built, Failure>;

/// The files of a unit that exist already when its kustomizations are built.
#[derive(Debug)]
pub(crate) struct Emitted<'e> {
    /// Paths relative to the unit's directory, in declared order.
    pub(crate) names: &'e [String],
}

impl Emitted<'_> {
    /// Whether a file was written.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|emitted| emitted == name)
    }

    /// The files directly below a directory, without it, in declared order.
    pub(crate) fn below<'s>(&'s self, directory: &'s str) -> impl Iterator<Item = &'s str> {
        self.names
            .iter()
            .filter_map(move |name| name.strip_prefix(directory)?.strip_prefix('/'))
    }
}

/// One built-in file.
pub(crate) struct Template {
    /// The path relative to the unit's directory.
    pub(crate) name: &'static str,
    /// What of it must be encrypted.
    pub(crate) sensitivity: Option<Sensitivity>,
    /// Makes the content.
    pub(crate) build: fn(&Context<'_>, &Emitted<'_>) -> BuildResult,
}

impl Template {
    /// A file without secrets.
    pub(crate) const fn plain(
        name: &'static str,
        build: fn(&Context<'_>, &Emitted<'_>) -> BuildResult,
    ) -> Self {
        Self {
            name,
            sensitivity: None,
            build,
        }
    }

    /// A manifest with secret fields.
    pub(crate) const fn secret(
        name: &'static str,
        build: fn(&Context<'_>, &Emitted<'_>) -> BuildResult,
    ) -> Self {
        Self {
            name,
            sensitivity: Some(Sensitivity::Fields),
            build,
        }
    }

    /// A values file with secrets.
    pub(crate) const fn secret_values(
        name: &'static str,
        build: fn(&Context<'_>, &Emitted<'_>) -> BuildResult,
    ) -> Self {
        Self {
            name,
            sensitivity: Some(Sensitivity::WholeFile),
            build,
        }
    }
}

/// A file whose name depends on the config.
pub(crate) struct ExtraFile {
    /// The path relative to the unit's directory.
    pub(crate) name: String,
    /// The content.
    pub(crate) documents: Vec<Node>,
    /// What of it must be encrypted.
    pub(crate) sensitivity: Option<Sensitivity>,
    /// What let it in.
    pub(crate) condition: Option<Decision>,
}

/// Makes files whose names depend on the config.
type ExtraFiles = fn(&Context<'_>) -> Result<Vec<ExtraFile>, Failure>;

/// Decides about the unit itself (`None`) or one of its Flux units where one predicate is not enough.
type Gate = fn(&Context<'_>, Option<&str>) -> Option<Decision>;

/// Everything that code knows about one unit.
pub(crate) struct UnitRenderer {
    /// The descriptor.
    pub(crate) unit: &'static str,
    /// Its built-in files.
    pub(crate) templates: &'static [Template],
    /// Files whose names depend on the config.
    pub(crate) extra: Option<ExtraFiles>,
    /// Conditions beyond those of the descriptor.
    pub(crate) gate: Option<Gate>,
}

impl UnitRenderer {
    /// A unit with nothing but templates.
    pub(crate) const fn new(unit: &'static str, templates: &'static [Template]) -> Self {
        Self {
            unit,
            templates,
            extra: None,
            gate: None,
        }
    }

    /// The template of a file.
    pub(crate) fn template(&self, name: &str) -> Option<&'static Template> {
        self.templates.iter().find(|template| template.name == name)
    }
}

/// The name of a service's values file.
pub(crate) const VALUES: &str = "helm-values/override-values.yaml";

/// All units that have code, in the order of their names.
pub(crate) const RENDERERS: &[&UnitRenderer] = &[
    &alert_proxy::RENDERER,
    &calico::RENDERER,
    &cert_manager::RENDERER,
    &etcd_backup::RENDERER,
    &gateway::RENDERER,
    &plain_values::GATEWAY_API,
    &harbor::RENDERER,
    &headlamp::RENDERER,
    &kafka_cluster::RENDERER,
    &keycloak::RENDERER,
    &kube_prometheus_stack::RENDERER,
    &kyverno::RENDERER,
    &object_storage::LOKI,
    &longhorn::RENDERER,
    &metallb::RENDERER,
    &object_storage::MIMIR,
    &observability::RENDERER,
    &olm::RENDERER,
    &openstack::CCM,
    &openstack::CSI,
    &opentelemetry::RENDERER,
    &plain_values::POSTGRES_OPERATOR,
    &plain_values::SEALED_SECRETS,
    &podmonitor::RENDERER,
    &object_storage::TEMPO,
    &velero::RENDERER,
    &vsphere_csi::RENDERER,
    &weave_gitops::RENDERER,
];

/// The code of a unit, if it has any.
pub(crate) fn renderer(unit: &str) -> Option<&'static UnitRenderer> {
    RENDERERS
        .iter()
        .copied()
        .find(|renderer| renderer.unit == unit)
}

/// The named values renderers that a service block may ask for.
pub(crate) const VALUES_RENDERERS: &[&str] = &[
    "openstack-ccm",
    "openstack-csi",
    "vsphere-csi",
    "velero",
    "loki",
    "tempo",
    "mimir",
    "opentelemetry-kube-stack",
    "headlamp",
    "harbor",
    "kube-prometheus-stack",
];

/// The named file renderers that a service block may ask for.
pub(crate) const FILE_RENDERERS: &[&str] = &[
    "gateway",
    "longhorn",
    "metallb",
    "kube-prometheus-stack",
    "cert-manager",
    "vsphere-csi",
    "velero",
];

/// The namespace that a service block asks to have before its other units.
pub(crate) fn stage_namespace(name: &str) -> Built {
    namespace_stage::namespace(name, namespace_stage::PodSecurity::PrivilegedWithWarnings)
}
