//! The descriptors that are compiled in, one file each below `descriptors/`.

use serde_json::{Map, Value};

/// The same descriptors, parsed: every command begins with them, and to parse their texts again would take longer than
/// to render a cluster. A test keeps them equal.
const PARSED: &str = include_str!("../../descriptors.json");

/// The values of the built-in descriptors by file.
pub(super) fn parsed() -> Map<String, Value> {
    serde_json::from_str(PARSED).unwrap_or_default()
}

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        /// File and text of every built-in descriptor.
        pub(super) const TEXTS: &[(&str, &str)] = &[$((
            concat!("descriptors/", $name, ".yaml"),
            include_str!(concat!("../../descriptors/", $name, ".yaml")),
        )),*];
    };
}

texts! {
    "alert-proxy",
    "calico",
    "cert-manager",
    "customer-managed-overlay",
    "etcd-backup",
    "external-snapshotter",
    "flux-system",
    "gateway-api",
    "gateway",
    "harbor",
    "headlamp",
    "kafka-cluster",
    "keycloak",
    "kube-prometheus-stack",
    "kyverno",
    "loki",
    "longhorn",
    "managed-services-fluxcd-aggregate",
    "managed-services-sources-aggregate",
    "metallb",
    "mimir",
    "observability-shared",
    "olm",
    "openstack-ccm",
    "openstack-csi",
    "opentelemetry-kube-stack",
    "postgres-operator",
    "rbac-manager",
    "root-overlay",
    "sealed-secrets",
    "services-fluxcd-aggregate",
    "services-sources-aggregate",
    "tempo",
    "velero",
    "vsphere-csi",
    "weave-gitops",
}
