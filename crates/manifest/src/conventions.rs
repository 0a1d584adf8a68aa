//! Names that bundles and installed objects carry: labels, annotations, kinds.

/// Annotation with a hash: of a set on the object that records it, of one object on that object.
pub const HASH_ANNOTATION: &str = "cpaas.io/last-applied-hash";
/// Label with the release version.
pub const RELEASE_VERSION_LABEL: &str = "cpaas.io/release-version";
/// Label with the name of the Connector.
pub const CONNECTOR_NAME_LABEL: &str = "cpaas.io/connector-name";
/// Label with the namespace of the Connector.
pub const CONNECTOR_NAMESPACE_LABEL: &str = "cpaas.io/connector-namespace";
/// Label with the type of a set.
pub const INSTALL_TYPE_LABEL: &str = "cpaas.io/install-type";
/// Label on sets and on everything that is installed from them.
pub const MANAGED_BY_LABEL: &str = "cpaas.io/managed-by";
/// Value of [`MANAGED_BY_LABEL`], and the field manager of installed objects.
pub const MANAGER: &str = "connectors-operator";
/// Annotation on installed objects: the set that they belong to.
pub const INSTALL_MANIFEST_ANNOTATION: &str = "cpaas.io/install-manifest";
/// Annotation that keeps an object out of namespace injection.
pub const PRESERVE_NAMESPACE_ANNOTATION: &str = "cpaas.io/preserve-namespace";
/// Annotation that keeps an object out of the cluster.
pub const IGNORE_INSTALL_ANNOTATION: &str = "connectors.operator.cpaas.io/ignore-install";
/// Annotation on what an apply has created.
pub const ORIGIN_ANNOTATION: &str = "cpaas.io/manifest-origin";
/// Value of [`ORIGIN_ANNOTATION`].
pub const ORIGIN_CREATED: &str = "created";
/// Annotation with the object as it was applied last, shared with `kubectl apply`.
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// API group of Connector and `InstallManifest`.
pub const OWN_GROUP: &str = "operator.connectors.alauda.io";

/// Labels and annotations that users must not set on everything: the operator writes them.
pub const RESERVED_KEYS: &[&str] = &[
    HASH_ANNOTATION,
    RELEASE_VERSION_LABEL,
    CONNECTOR_NAME_LABEL,
    CONNECTOR_NAMESPACE_LABEL,
    INSTALL_TYPE_LABEL,
    MANAGED_BY_LABEL,
    INSTALL_MANIFEST_ANNOTATION,
    PRESERVE_NAMESPACE_ANNOTATION,
    IGNORE_INSTALL_ANNOTATION,
];

/// Whether objects of a kind are never owned and never deleted: they hold what users cannot get back.
pub fn is_protected(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("", "Namespace" | "PersistentVolumeClaim")
    )
}
