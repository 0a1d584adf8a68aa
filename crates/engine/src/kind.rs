//! What a system declares: its kinds, how it reaches them, and what it may do with them.
//!
//! One table per system feeds the watches, the strict-kind check of the object set and the RBAC
//! manifests, so the three cannot drift apart.

use crate::key::Kind;

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One object per namespace and name.
    Namespaced,
    /// One object per name.
    Cluster,
}

/// What the kind is to the system that declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Users write it; the system has a controller for it.
    Root,
    /// The system renders, watches and owns it.
    Child,
    /// The system only looks at it.
    Reference,
}

/// How much of the objects of a kind is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// Whole objects, of those with matching labels if a selector is given.
    Objects {
        /// Label selector.
        selector: Option<&'static str>,
    },
    /// The metadata of all objects; the content of the few that matter is read when it is needed. For kinds of which
    /// a cluster has many that are not ours.
    Metadata,
}

/// A subresource and the verbs needed on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// Name behind the slash: `status`.
    pub name: &'static str,
    /// Verbs, in alphabetical order.
    pub verbs: &'static [&'static str],
}

/// One row of a system's table of kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredKind {
    /// Group, version and kind.
    pub kind: Kind,
    /// Resource name in URLs and RBAC rules.
    pub plural: &'static str,
    /// Namespaced or not.
    pub scope: Scope,
    /// Root or child.
    pub role: Role,
    /// Verbs on the resource, in alphabetical order.
    pub verbs: &'static [&'static str],
    /// Further permissions on subresources.
    pub subresources: &'static [Subresource],
    /// The kind belongs to another operator and may be absent from a cluster.
    pub optional: bool,
    /// What the watch brings in.
    pub following: Following,
    /// Objects of others are kept as well as ours: roots ask for them by name.
    pub with_foreign: bool,
    /// That an object is not there counts only if a read says so: much depends on it, and its watch may lag behind
    /// others.
    pub confirm_absence: bool,
}

impl DeclaredKind {
    /// A namespaced kind with all verbs; the other methods change what differs.
    pub const fn new(kind: Kind, plural: &'static str, role: Role) -> Self {
        Self {
            kind,
            plural,
            scope: Scope::Namespaced,
            role,
            verbs: ALL_VERBS,
            subresources: &[],
            optional: false,
            following: Following::Objects { selector: None },
            with_foreign: false,
            confirm_absence: false,
        }
    }

    /// Absence is confirmed by a read.
    #[must_use]
    pub const fn confirm_absence(mut self) -> Self {
        self.confirm_absence = true;
        self
    }

    /// Not in a namespace.
    #[must_use]
    pub const fn cluster_scoped(mut self) -> Self {
        self.scope = Scope::Cluster;
        self
    }

    /// With these verbs only.
    #[must_use]
    pub const fn with_verbs(mut self, verbs: &'static [&'static str]) -> Self {
        self.verbs = verbs;
        self
    }

    /// Followed only where the labels match.
    #[must_use]
    pub const fn labelled(mut self, selector: &'static str) -> Self {
        self.following = Following::Objects {
            selector: Some(selector),
        };
        self
    }

    /// Followed by metadata.
    #[must_use]
    pub const fn metadata_only(mut self) -> Self {
        self.following = Following::Metadata;
        self
    }

    /// Kept whoever they belong to. For kinds whose objects another operator reports on, and which are few.
    #[must_use]
    pub const fn with_foreign(mut self) -> Self {
        self.with_foreign = true;
        self
    }

    /// With permissions on subresources.
    #[must_use]
    pub const fn with_subresources(mut self, subresources: &'static [Subresource]) -> Self {
        self.subresources = subresources;
        self
    }

    /// May be absent from a cluster.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// The verbs of a controller that owns what it writes, in alphabetical order. It applies, which is a patch, and for
/// what is not there yet the right to create; nothing is ever updated.
pub const ALL_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "watch"];
/// The verbs on what users write: a finalizer is patched.
pub const ROOT_VERBS: &[&str] = &["get", "list", "patch", "watch"];

/// Finds the row of a kind by group and kind; the version does not matter, a cluster serves one object under all.
pub fn find<'table>(table: &'table [DeclaredKind], kind: &Kind) -> Option<&'table DeclaredKind> {
    table
        .iter()
        .find(|row| row.kind.group == kind.group && row.kind.kind == kind.kind)
}
