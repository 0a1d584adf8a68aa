//! When an object is written, and when it goes.

use mainstay_engine::{Kind, ObjectKey, options::Stops};
use mainstay_manifest::{conventions::is_protected, scope::is_cluster_scoped_built_in};

/// The phases of an installation, each with a condition of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Definitions of kinds.
    Definitions,
    /// What lives in no namespace.
    ClusterScoped,
    /// Everything else that does not run.
    NamespaceScoped,
    /// Deployments.
    Deployments,
    /// `StatefulSets`.
    StatefulSets,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [
        Self::Definitions,
        Self::ClusterScoped,
        Self::NamespaceScoped,
        Self::Deployments,
        Self::StatefulSets,
    ];

    /// Its condition, which is also the unit that its objects come from.
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Definitions => "CrdInstalled",
            Self::ClusterScoped => "ClustersScoped",
            Self::NamespaceScoped => "NamespaceScoped",
            Self::Deployments => "DeploymentsAvailable",
            Self::StatefulSets => "StatefulSetReady",
        }
    }

    /// The last of the steps that belong to it. A failure stops what comes after that.
    const fn last_step(self) -> u16 {
        match self {
            Self::Definitions => 0,
            Self::ClusterScoped => 2,
            Self::NamespaceScoped => 5,
            Self::Deployments => 6,
            Self::StatefulSets => 7,
        }
    }

    /// What an object of the phase stops if it fails: all objects of a phase are tried, and none of the next.
    pub const fn stops(self) -> Stops {
        Stops::After(self.last_step())
    }
}

/// Kinds that stand between clients and the API server: they come late, so that one whose backend does not run yet holds
/// up nothing that the backend needs, and go early.
fn is_in_the_way(kind: &Kind) -> bool {
    matches!(
        (&*kind.group, &*kind.kind),
        ("admissionregistration.k8s.io" | "apiregistration.k8s.io", _)
    )
}

/// The groups of Kubernetes itself. What is of no such group is an instance of a custom resource.
const BUILT_IN: [&str; 21] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

fn is_custom(kind: &Kind) -> bool {
    !BUILT_IN.contains(&&*kind.group)
}

/// The phase of a kind, and the step in which it is written: steps are made one after the other.
pub fn installation(kind: &Kind) -> (Phase, u16) {
    match (&*kind.group, &*kind.kind) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => (Phase::Definitions, 0),
        ("", "Namespace") => (Phase::ClusterScoped, 1),
        ("apps", "Deployment") => (Phase::Deployments, 6),
        ("apps", "StatefulSet") => (Phase::StatefulSets, 7),
        _ if is_in_the_way(kind) => (Phase::NamespaceScoped, 4),
        _ if is_custom(kind) => (Phase::NamespaceScoped, 5),
        // A binding needs the accounts that it names.
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => (Phase::NamespaceScoped, 3),
        (group, kind) if is_cluster_scoped_built_in(group, kind) => (Phase::ClusterScoped, 2),
        _ => (Phase::NamespaceScoped, 3),
    }
}

/// The order in which objects of one step are written.
pub fn rank(kind: &Kind) -> usize {
    const ORDER: [&str; 12] = [
        "PriorityClass",
        "StorageClass",
        "ClusterRole",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ClusterRoleBinding",
        "Secret",
        "ConfigMap",
        "PersistentVolumeClaim",
        "Service",
        "Ingress",
    ];
    const LATE: [&str; 3] = ["DaemonSet", "Job", "CronJob"];
    let position = |names: &[&str]| names.iter().position(|name| *name == kind.kind);
    match (position(&ORDER), position(&LATE)) {
        (Some(position), _) => position,
        (None, Some(position)) => ORDER.len() + 1 + position,
        (None, None) => ORDER.len(),
    }
}

/// The group in which an object goes; each is waited for before the next. `None` for what is never deleted.
pub fn removal(key: &ObjectKey) -> Option<u16> {
    let kind = &key.kind;
    if is_protected(&kind.group, &kind.kind) {
        return None;
    }
    Some(match (&*kind.group, &*kind.kind) {
        _ if is_custom(kind) => 0,
        _ if is_in_the_way(kind) => 1,
        ("apps" | "batch", _) | ("", "Pod") => 2,
        ("rbac.authorization.k8s.io", _) => 4,
        _ if key.namespace.is_empty() => 5,
        _ => 3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(api_version: &str, kind: &str) -> Kind {
        Kind::from_parts(api_version, kind)
    }

    #[test]
    fn each_kind_has_its_phase() {
        let table = [
            (
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                Phase::Definitions,
                0,
            ),
            ("v1", "Namespace", Phase::ClusterScoped, 1),
            (
                "scheduling.k8s.io/v1",
                "PriorityClass",
                Phase::ClusterScoped,
                2,
            ),
            (
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                Phase::ClusterScoped,
                2,
            ),
            (
                "rbac.authorization.k8s.io/v1",
                "ClusterRoleBinding",
                Phase::NamespaceScoped,
                3,
            ),
            ("v1", "ServiceAccount", Phase::NamespaceScoped, 3),
            ("v1", "Service", Phase::NamespaceScoped, 3),
            ("batch/v1", "Job", Phase::NamespaceScoped, 3),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                Phase::NamespaceScoped,
                4,
            ),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingAdmissionPolicy",
                Phase::NamespaceScoped,
                4,
            ),
            (
                "apiregistration.k8s.io/v1",
                "APIService",
                Phase::NamespaceScoped,
                4,
            ),
            ("shop.example.com/v1", "Till", Phase::NamespaceScoped, 5),
            (
                "gateway.networking.k8s.io/v1",
                "GatewayClass",
                Phase::NamespaceScoped,
                5,
            ),
            ("apps/v1", "Deployment", Phase::Deployments, 6),
            ("apps/v1", "StatefulSet", Phase::StatefulSets, 7),
        ];
        for (version, name, phase, step) in table {
            assert_eq!(installation(&kind(version, name)), (phase, step), "{name}");
        }
    }

    #[test]
    fn accounts_come_before_what_binds_them_and_jobs_come_last() {
        let ranks = [
            "ServiceAccount",
            "Role",
            "RoleBinding",
            "ClusterRoleBinding",
            "Secret",
            "ConfigMap",
            "PersistentVolumeClaim",
            "Service",
            "LimitRange",
            "DaemonSet",
            "Job",
            "CronJob",
        ];
        let ranks = ranks.map(|name| rank(&kind("v1", name)));
        assert!(ranks.is_sorted_by(|one, next| one < next), "{ranks:?}");
    }

    #[test]
    fn custom_resources_go_first_and_what_cannot_be_got_back_stays() {
        let group = |version: &str, name: &str, namespace: &str| {
            removal(&ObjectKey::new(kind(version, name), namespace, "a"))
        };
        assert_eq!(group("shop.example.com/v1", "Till", "n"), Some(0));
        assert_eq!(group("shop.example.com/v1", "Chain", ""), Some(0));
        assert_eq!(
            group("apiregistration.k8s.io/v1", "APIService", ""),
            Some(1)
        );
        for name in ["StatefulSet", "Deployment", "DaemonSet"] {
            assert_eq!(group("apps/v1", name, "n"), Some(2));
        }
        assert_eq!(group("v1", "Pod", "n"), Some(2));
        assert_eq!(group("v1", "ConfigMap", "n"), Some(3));
        assert_eq!(
            group("rbac.authorization.k8s.io/v1", "RoleBinding", "n"),
            Some(4)
        );
        assert_eq!(
            group("rbac.authorization.k8s.io/v1", "ClusterRole", ""),
            Some(4)
        );
        assert_eq!(group("scheduling.k8s.io/v1", "PriorityClass", ""), Some(5));
        assert_eq!(group("v1", "Namespace", ""), None);
        assert_eq!(group("v1", "PersistentVolumeClaim", "n"), None);
        assert_eq!(
            group("apiextensions.k8s.io/v1", "CustomResourceDefinition", ""),
            None
        );
    }
}
