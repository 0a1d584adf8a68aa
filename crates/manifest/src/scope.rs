//! Whether objects of a kind live in a namespace, as far as can be told without asking a cluster.

use std::collections::BTreeMap;

use mainstay_engine::kind::Scope;
use serde_json::Value;

use crate::object::Object;

/// Kinds of Kubernetes itself that live in no namespace.
const CLUSTER_SCOPED: &[(&str, &[&str])] = &[
    (
        "",
        &["ComponentStatus", "Namespace", "Node", "PersistentVolume"],
    ),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    (
        "authentication.k8s.io",
        &["SelfSubjectReview", "TokenReview"],
    ),
    (
        "authorization.k8s.io",
        &[
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    (
        "certificates.k8s.io",
        &["CertificateSigningRequest", "ClusterTrustBundle"],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        &["FlowSchema", "PriorityLevelConfiguration"],
    ),
    (
        "networking.k8s.io",
        &["IPAddress", "IngressClass", "ServiceCIDR"],
    ),
    ("node.k8s.io", &["RuntimeClass"]),
    (
        "rbac.authorization.k8s.io",
        &["ClusterRole", "ClusterRoleBinding"],
    ),
    ("resource.k8s.io", &["DeviceClass", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "storage.k8s.io",
        &[
            "CSIDriver",
            "CSINode",
            "StorageClass",
            "VolumeAttachment",
            "VolumeAttributesClass",
        ],
    ),
];

/// Knows the scope of kinds: by definitions in the set, then by what a cluster said, then by the kinds of Kubernetes
/// itself. A kind that nobody knows counts as namespaced.
///
/// ```
/// use mainstay_engine::kind::Scope;
/// use mainstay_manifest::Scopes;
///
/// let scopes = Scopes::default();
/// assert_eq!(scopes.of("rbac.authorization.k8s.io", "ClusterRole"), Scope::Cluster);
/// assert_eq!(scopes.of("example.com", "Anything"), Scope::Namespaced);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    defined: BTreeMap<(String, String), Scope>,
    discovered: BTreeMap<(String, String), Scope>,
}

impl Scopes {
    /// Learns from the definitions among these objects.
    #[must_use]
    pub fn with_definitions<'set>(
        mut self,
        objects: impl IntoIterator<Item = &'set Object>,
    ) -> Self {
        for object in objects.into_iter().filter(|object| object.is_definition()) {
            let text = |pointer: &str| object.value().pointer(pointer).and_then(Value::as_str);
            let (Some(group), Some(kind)) = (text("/spec/group"), text("/spec/names/kind")) else {
                continue;
            };
            let scope = match text("/spec/scope") {
                Some("Cluster") => Scope::Cluster,
                _ => Scope::Namespaced,
            };
            self.defined
                .insert((group.to_owned(), kind.to_owned()), scope);
        }
        self
    }

    /// Learns what a cluster said about a kind.
    #[must_use]
    pub fn with_discovered(mut self, group: &str, kind: &str, scope: Scope) -> Self {
        self.discovered
            .insert((group.to_owned(), kind.to_owned()), scope);
        self
    }

    /// The scope of a kind.
    pub fn of(&self, group: &str, kind: &str) -> Scope {
        let key = (group.to_owned(), kind.to_owned());
        let told = self.defined.get(&key).or_else(|| self.discovered.get(&key));
        told.copied().unwrap_or_else(|| {
            if is_cluster_scoped_built_in(group, kind) {
                Scope::Cluster
            } else {
                Scope::Namespaced
            }
        })
    }

    /// The scope of an object.
    pub fn of_object(&self, object: &Object) -> Scope {
        self.of(object.group(), object.kind_name())
    }
}

/// Whether a kind belongs to Kubernetes itself and lives in no namespace.
pub fn is_cluster_scoped_built_in(group: &str, kind: &str) -> bool {
    let mut rows = CLUSTER_SCOPED.iter();
    rows.any(|(known, kinds)| *known == group && kinds.contains(&kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::object;

    fn definition(kind: &str, scope: &str) -> Object {
        object(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "x"},
            "spec": {"group": "example.com", "names": {"kind": kind}, "scope": scope},
        }))
    }

    #[test]
    fn a_definition_beats_the_cluster_and_the_cluster_beats_the_table() {
        let scopes = Scopes::default()
            .with_discovered("example.com", "Node", Scope::Namespaced)
            .with_discovered("", "Namespace", Scope::Namespaced)
            .with_definitions(&[definition("Node", "Cluster")]);
        assert_eq!(scopes.of("example.com", "Node"), Scope::Cluster);
        assert_eq!(scopes.of("", "Namespace"), Scope::Namespaced);
        assert_eq!(scopes.of("", "Node"), Scope::Cluster);
    }

    #[test]
    fn a_kind_of_another_group_is_not_the_one_of_kubernetes() {
        assert_eq!(
            Scopes::default().of("example.com", "Node"),
            Scope::Namespaced
        );
        assert!(is_cluster_scoped_built_in("storage.k8s.io", "CSINode"));
        assert!(!is_cluster_scoped_built_in(
            "storage.k8s.io",
            "CSIStorageCapacity"
        ));
    }
}
