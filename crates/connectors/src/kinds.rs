//! The kinds of the system: its own, those that it looks at, and those of bundles, which are known only at run time.

use std::{borrow::Cow, collections::BTreeSet};

use mainstay_engine::{
    Kind,
    kind::{DeclaredKind, KindTable, Role, Scope, Subresource},
};
use mainstay_manifest::Scopes;

use crate::{marks, names};

/// What users write.
pub const CONNECTOR: Kind = Kind::new(names::GROUP, names::VERSION, "Connector");
/// What is installed.
pub const INSTALL_MANIFEST: Kind = Kind::new(names::GROUP, names::VERSION, "InstallManifest");
/// Definitions of kinds.
pub const DEFINITION: Kind = Kind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
/// Autoscalers: what they scale is left as they want it.
pub const AUTOSCALER: Kind = Kind::new("autoscaling", "v2", "HorizontalPodAutoscaler");
/// Deployments.
pub const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");
/// `StatefulSets`.
pub const STATEFUL_SET: Kind = Kind::new("apps", "v1", "StatefulSet");

const SELECTOR: &str = "cpaas.io/managed-by=connectors-operator";

const SUBRESOURCES: &[Subresource] = &[
    Subresource {
        name: "finalizers",
        verbs: &["update"],
    },
    Subresource {
        name: "status",
        verbs: &["patch"],
    },
];

static OWN: &[DeclaredKind] = &[
    DeclaredKind::new(CONNECTOR, "connectors", Role::Root).with_subresources(SUBRESOURCES),
    DeclaredKind::new(INSTALL_MANIFEST, "installmanifests", Role::Root)
        .cluster_scoped()
        .marked(&marks::SET)
        .with_subresources(SUBRESOURCES),
    DeclaredKind::new(AUTOSCALER, "horizontalpodautoscalers", Role::Reference)
        .with_verbs(&["get", "list", "watch"])
        .metadata_only()
        .optional(),
    DeclaredKind::new(DEPLOYMENT, "deployments", Role::Child)
        .labelled(SELECTOR)
        .marked(&marks::INSTALLED),
    DeclaredKind::new(STATEFUL_SET, "statefulsets", Role::Child)
        .labelled(SELECTOR)
        .marked(&marks::INSTALLED),
];

/// The kinds that are known when the program is built.
pub const KINDS: KindTable = KindTable::closed(OWN);

/// The row of a kind that a bundle brings: its metadata are enough, and it may not be served yet.
pub fn installed(kind: Kind, plural: &str, scope: Scope) -> DeclaredKind {
    let mut row = DeclaredKind::new(kind, "", Role::Child)
        .metadata_only()
        .marked(&marks::INSTALLED)
        .optional();
    row.plural = Cow::Owned(plural.to_owned());
    row.scope = scope;
    row
}

/// A table with the kinds of a set. How they are reached in a cluster is not known here, and nobody asks.
pub(crate) fn with(kinds: impl Iterator<Item = Kind>, scopes: &Scopes) -> KindTable {
    let kinds: BTreeSet<Kind> = kinds.collect();
    let unknown = kinds.into_iter().filter(|kind| KINDS.find(kind).is_none());
    let rows = unknown.map(|kind| {
        let scope = scopes.of(&kind.group, &kind.kind);
        installed(kind, "", scope)
    });
    OWN.iter().cloned().chain(rows).collect()
}
