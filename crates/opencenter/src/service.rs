//! The catalog, one module per service: its facts, settings, checks, descriptor, and the content of its files.
//!
//! A service is a table of templates: for each file name a function from the config to ordered values. Values are
//! typed to the last moment, so there is nothing to escape and no marker to leak. Which files there are, and where
//! they go, is the descriptor's business; a template may only say that the config leaves it nothing to write.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all templates have one signature, also those that cannot fail"
)]

/// The catalog, for whoever asks: hands every service, as its module and its name, to a macro.
///
/// This is the one list of services. Everything else about a service is in its module: [`CatalogEntry`] has a field for
/// whatever the rest of the crate wants to know.
macro_rules! service_list {
    ($receiver:ident) => {
        $receiver! {
            Services(Kind::Services) {
                #[doc = "Platform services."]
                calico "calico";
                cert_manager "cert-manager";
                cilium "cilium";
                etcd_backup "etcd-backup";
                external_snapshotter "external-snapshotter";
                fluxcd "fluxcd";
                gateway "gateway";
                gateway_api "gateway-api";
                harbor "harbor";
                headlamp "headlamp";
                kafka_cluster "kafka-cluster";
                keycloak "keycloak";
                kube_ovn "kube-ovn";
                kube_prometheus_stack "kube-prometheus-stack";
                kyverno "kyverno";
                loki "loki";
                longhorn "longhorn";
                metallb "metallb";
                mimir "mimir";
                olm "olm";
                openstack_ccm "openstack-ccm";
                openstack_csi "openstack-csi";
                opentelemetry_kube_stack "opentelemetry-kube-stack";
                postgres_operator "postgres-operator";
                rbac_manager "rbac-manager";
                sealed_secrets "sealed-secrets";
                sources "sources";
                tempo "tempo";
                velero "velero";
                vsphere_csi "vsphere-csi";
                weave_gitops "weave-gitops";
            }
            ManagedServices(Kind::ManagedServices) {
                #[doc = "Services that are managed by the provider of the platform."]
                alert_proxy "alert-proxy";
            }
        }
    };
}
pub(crate) use service_list;

/// The text of a descriptor, from the folder of its service.
macro_rules! descriptor {
    ($folder:literal, $name:literal) => {
        Some((
            concat!("descriptors/", $name, ".yaml"),
            include_str!(concat!($folder, "/descriptor.yaml")),
        ))
    };
}

pub(crate) mod alert_proxy;
pub(crate) mod calico;
pub(crate) mod cert_manager;
pub(crate) mod cilium;
pub(crate) mod etcd_backup;
pub(crate) mod external_snapshotter;
pub(crate) mod fluxcd;
pub(crate) mod gateway;
pub(crate) mod gateway_api;
pub(crate) mod harbor;
pub(crate) mod headlamp;
pub(crate) mod kafka_cluster;
pub(crate) mod keycloak;
pub(crate) mod kube_ovn;
pub(crate) mod kube_prometheus_stack;
pub(crate) mod kyverno;
pub(crate) mod loki;
pub(crate) mod longhorn;
mod manifest;
pub(crate) mod metallb;
pub(crate) mod mimir;
mod namespace_stage;
mod object_storage;
mod observability;
pub(crate) mod olm;
pub(crate) mod openstack_ccm;
pub(crate) mod openstack_csi;
pub(crate) mod opentelemetry_kube_stack;
mod podmonitor;
pub(crate) mod postgres_operator;
pub(crate) mod rbac_manager;
pub(crate) mod sealed_secrets;
pub(crate) mod sources;
pub(crate) mod tempo;
pub(crate) mod velero;
pub(crate) mod vsphere_csi;
pub(crate) mod weave_gitops;

use mainstay_yaml::Node;

use crate::{
    catalog::{self, CATALOG},
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
#[derive(Debug)]
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
#[derive(Debug)]
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

/// Units that have code and belong to no service.
const OTHER_RENDERERS: [&UnitRenderer; 2] = [&observability::RENDERER, &podmonitor::RENDERER];

/// All units that have code.
pub(crate) fn renderers() -> impl Iterator<Item = &'static UnitRenderer> {
    let of_services = CATALOG.iter().filter_map(|entry| entry.renderer);
    of_services.chain(OTHER_RENDERERS)
}

/// The code of a unit, if it has any.
pub(crate) fn renderer(unit: &str) -> Option<&'static UnitRenderer> {
    renderers().find(|renderer| renderer.unit == unit)
}

/// Whether a service block may ask for this values renderer.
pub(crate) fn is_values_renderer(name: &str) -> bool {
    catalog::find(name).is_some_and(|entry| entry.values_renderer)
}

/// Whether a service block may ask for this renderer of further files.
pub(crate) fn is_files_renderer(name: &str) -> bool {
    catalog::find(name).is_some_and(|entry| entry.files_renderer)
}

/// The namespace that a service block asks to have before its other units.
pub(crate) fn stage_namespace(name: &str) -> Built {
    namespace_stage::namespace(name, namespace_stage::PodSecurity::PrivilegedWithWarnings)
}
