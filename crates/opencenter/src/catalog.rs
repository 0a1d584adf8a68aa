//! The service catalog: one row for each service with the facts that config, descriptors and documents share.

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

/// A row without dependencies, secrets or Helm release; the table overrides what differs.
const ROW: CatalogEntry = CatalogEntry {
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
};

/// All services, sorted by name.
pub const CATALOG: &[CatalogEntry] = &[
    CatalogEntry {
        name: "alert-proxy",
        description: "Forwards alerts to the provider of the platform",
        category: ServiceCategory::Monitoring,
        layer: ServiceLayer::ManagedServices,
        namespace: Some("rackspace"),
        goes_with: &["kube-prometheus-stack"],
        secret_block: Some("alert_proxy"),
        helm_release: Some(("alert-proxy", "rackspace")),
        values_secret: Some("alert-proxy-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "calico",
        description: "Network of the pods",
        category: ServiceCategory::Networking,
        enabled_at_init: true,
        namespace: Some("calico-system"),
        helm_release: Some(("calico", "tigera-operator")),
        ..ROW
    },
    CatalogEntry {
        name: "cert-manager",
        description: "Certificates from ACME servers and from an internal CA",
        category: ServiceCategory::Security,
        enabled_at_init: true,
        namespace: Some("cert-manager"),
        secret_block: Some("cert_manager"),
        helm_release: Some(("cert-manager", "cert-manager")),
        values_secret: Some("cert-manager-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "cilium",
        description: "Network of the pods; configured as the network plugin only",
        category: ServiceCategory::Networking,
        layer: ServiceLayer::ConfigOnly,
        ..ROW
    },
    CatalogEntry {
        name: "etcd-backup",
        description: "Snapshots of etcd, copied to an S3 store",
        category: ServiceCategory::Storage,
        enabled_at_init: true,
        namespace: Some("kube-system"),
        secret_block: Some("global.aws.application"),
        ..ROW
    },
    CatalogEntry {
        name: "external-snapshotter",
        description: "Snapshots of volumes",
        category: ServiceCategory::Storage,
        enabled_at_init: true,
        namespace: Some("external-snapshotter"),
        ..ROW
    },
    CatalogEntry {
        name: "fluxcd",
        description: "Flux itself; stands for the aggregate of Flux units",
        category: ServiceCategory::Gitops,
        layer: ServiceLayer::Structural,
        enabled_at_init: true,
        namespace: Some("flux-system"),
        ..ROW
    },
    CatalogEntry {
        name: "gateway",
        description: "The shared gateway with a listener for each web interface",
        category: ServiceCategory::Networking,
        enabled_at_init: true,
        namespace: Some("gateway"),
        requires: &["gateway-api"],
        ..ROW
    },
    CatalogEntry {
        name: "gateway-api",
        description: "Envoy Gateway, which carries out the Gateway API",
        category: ServiceCategory::Networking,
        enabled_at_init: true,
        namespace: Some("envoy-gateway-system"),
        helm_release: Some(("envoy-gateway-api", "envoy-gateway-system")),
        values_secret: Some("envoy-gateway-api-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "harbor",
        description: "Registry for images",
        category: ServiceCategory::Storage,
        namespace: Some("harbor"),
        requires: &["cert-manager"],
        secret_block: Some("harbor"),
        helm_release: Some(("harbor", "harbor")),
        values_secret: Some("harbor-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "headlamp",
        description: "Dashboard of the cluster",
        category: ServiceCategory::Core,
        enabled_at_init: true,
        namespace: Some("headlamp"),
        secret_block: Some("headlamp"),
        helm_release: Some(("headlamp", "headlamp")),
        values_secret: Some("headlamp-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "kafka-cluster",
        description: "Kafka, run by Strimzi",
        category: ServiceCategory::Custom,
        namespace: Some("kafka-system"),
        helm_release: Some(("strimzi-kafka-operator", "kafka-system")),
        ..ROW
    },
    CatalogEntry {
        name: "keycloak",
        description: "Sign-in for users and services",
        category: ServiceCategory::Security,
        enabled_at_init: true,
        namespace: Some("keycloak"),
        requires: &[
            "cert-manager",
            "olm",
            "postgres-operator",
            "gateway-api",
            "gateway",
            "rbac-manager",
        ],
        secret_block: Some("keycloak"),
        ..ROW
    },
    CatalogEntry {
        name: "kube-ovn",
        description: "Network of the pods; configured as the network plugin only",
        category: ServiceCategory::Networking,
        layer: ServiceLayer::ConfigOnly,
        ..ROW
    },
    CatalogEntry {
        name: "kube-prometheus-stack",
        description: "Metrics, alerts and Grafana",
        category: ServiceCategory::Monitoring,
        enabled_at_init: true,
        namespace: Some("observability"),
        secret_block: Some("grafana"),
        helm_release: Some(("kube-prometheus-stack", "observability")),
        values_secret: Some("kube-prometheus-stack-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "kyverno",
        description: "Policies and a default set of rules",
        category: ServiceCategory::Security,
        enabled_at_init: true,
        namespace: Some("kyverno"),
        helm_release: Some(("kyverno", "kyverno")),
        ..ROW
    },
    CatalogEntry {
        name: "loki",
        description: "Logs",
        category: ServiceCategory::Logging,
        enabled_at_init: true,
        namespace: Some("observability"),
        goes_with: &["kube-prometheus-stack"],
        secret_block: Some("loki"),
        helm_release: Some(("loki", "observability")),
        values_secret: Some("loki-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "longhorn",
        description: "Replicated volumes on the nodes' disks",
        category: ServiceCategory::Storage,
        namespace: Some("longhorn-system"),
        helm_release: Some(("longhorn", "longhorn-system")),
        values_secret: Some("longhorn-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "metallb",
        description: "Addresses for load balancers without a cloud",
        category: ServiceCategory::Networking,
        namespace: Some("metallb-system"),
        helm_release: Some(("metallb", "metallb-system")),
        values_secret: Some("metallb-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "mimir",
        description: "Metrics for the long term",
        category: ServiceCategory::Monitoring,
        namespace: Some("observability"),
        goes_with: &["kafka-cluster"],
        secret_block: Some("global.aws.application"),
        helm_release: Some(("mimir", "observability")),
        values_secret: Some("mimir-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "olm",
        description: "Operators and their versions (Operator Lifecycle Manager)",
        category: ServiceCategory::Core,
        enabled_at_init: true,
        namespace: Some("olm"),
        ..ROW
    },
    CatalogEntry {
        name: "openstack-ccm",
        description: "Load balancers and nodes on OpenStack",
        category: ServiceCategory::Core,
        enabled_at_init: true,
        namespace: Some("openstack-ccm"),
        helm_release: Some(("openstack-cloud-controller-manager", "openstack-ccm")),
        values_secret: Some("openstack-ccm-values-override"),
        override_first: true,
        namespace_stage: true,
        ..ROW
    },
    CatalogEntry {
        name: "openstack-csi",
        description: "Volumes on OpenStack",
        category: ServiceCategory::Storage,
        enabled_at_init: true,
        namespace: Some("openstack-csi"),
        goes_with: &["openstack-ccm"],
        helm_release: Some(("openstack-cinder-csi", "openstack-csi")),
        values_secret: Some("openstack-csi-values-override"),
        override_first: true,
        namespace_stage: true,
        ..ROW
    },
    CatalogEntry {
        name: "opentelemetry-kube-stack",
        description: "Collectors of telemetry",
        category: ServiceCategory::Monitoring,
        namespace: Some("observability"),
        goes_with: &["loki", "tempo"],
        helm_release: Some(("opentelemetry-kube-stack", "observability")),
        values_secret: Some("opentelemetry-kube-stack-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "postgres-operator",
        description: "PostgreSQL databases",
        category: ServiceCategory::Storage,
        enabled_at_init: true,
        namespace: Some("postgres-operator"),
        helm_release: Some(("postgres-operator", "postgres-operator")),
        values_secret: Some("postgres-operator-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "rbac-manager",
        description: "Bindings of roles to users and groups",
        category: ServiceCategory::Security,
        enabled_at_init: true,
        namespace: Some("rbac-system"),
        helm_release: Some(("rbac-manager", "rbac-system")),
        ..ROW
    },
    CatalogEntry {
        name: "sealed-secrets",
        description: "Encrypted Secrets in Git",
        category: ServiceCategory::Security,
        namespace: Some("sealed-secrets"),
        helm_release: Some(("sealed-secrets", "sealed-secrets")),
        values_secret: Some("sealed-secrets-values-override"),
        ..ROW
    },
    CatalogEntry {
        name: "sources",
        description: "The Git sources; stands for their aggregate",
        category: ServiceCategory::Gitops,
        layer: ServiceLayer::Structural,
        enabled_at_init: true,
        namespace: Some("flux-system"),
        ..ROW
    },
    CatalogEntry {
        name: "tempo",
        description: "Traces",
        category: ServiceCategory::Logging,
        enabled_at_init: true,
        namespace: Some("observability"),
        secret_block: Some("tempo"),
        helm_release: Some(("tempo", "observability")),
        values_secret: Some("tempo-values-override"),
        override_first: true,
        ..ROW
    },
    CatalogEntry {
        name: "velero",
        description: "Backups of the cluster",
        category: ServiceCategory::Storage,
        enabled_at_init: true,
        namespace: Some("velero"),
        goes_with: &["external-snapshotter"],
        secret_block: Some("velero"),
        helm_release: Some(("velero", "velero")),
        values_secret: Some("velero-values-override"),
        override_first: true,
        namespace_stage: true,
        ..ROW
    },
    CatalogEntry {
        name: "vsphere-csi",
        description: "Volumes on vSphere",
        category: ServiceCategory::Storage,
        namespace: Some("vmware-system-csi"),
        secret_block: Some("vsphere_csi"),
        helm_release: Some(("vsphere-csi", "vmware-system-csi")),
        values_secret: Some("vsphere-csi-values-override"),
        override_first: true,
        namespace_stage: true,
        ..ROW
    },
    CatalogEntry {
        name: "weave-gitops",
        description: "Dashboard of Flux",
        category: ServiceCategory::Gitops,
        namespace: Some("flux-system"),
        requires: &["fluxcd"],
        secret_block: Some("weave_gitops"),
        helm_release: Some(("weave-gitops", "flux-system")),
        values_secret: Some("weave-gitops-values-override"),
        ..ROW
    },
];

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
