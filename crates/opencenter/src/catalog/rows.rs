//! The rows of the catalog.

use super::{CatalogEntry, ServiceCategory, ServiceLayer};

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
