//! What a system declares: its kinds, how it reaches them, and what it may do with them.
//!
//! One table per system feeds the watches, the strict-kind check of the object set and the RBAC
//! manifests, so the three cannot drift apart.

use std::{borrow::Cow, ops::Deref, sync::Arc};

use crate::{
    key::{Kind, ObjectKey},
    live::Owner,
    mark::{Mark, Marked},
};

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
    /// a cluster has many that are not ours. Of a kind with a mark only what carries its label, and no content: the mark
    /// tells all.
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
    pub plural: Cow<'static, str>,
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
    /// The mark that objects of the kind may carry.
    pub mark: Option<&'static Mark>,
}

impl DeclaredKind {
    /// A namespaced kind with all verbs; the other methods change what differs.
    pub const fn new(kind: Kind, plural: &'static str, role: Role) -> Self {
        Self {
            kind,
            plural: Cow::Borrowed(plural),
            scope: Scope::Namespaced,
            role,
            verbs: ALL_VERBS,
            subresources: &[],
            optional: false,
            following: Following::Objects { selector: None },
            with_foreign: false,
            confirm_absence: false,
            mark: None,
        }
    }

    /// Told by a mark.
    #[must_use]
    pub const fn marked(mut self, mark: &'static Mark) -> Self {
        self.mark = Some(mark);
        self
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

/// The kinds of a system, as a value: one that is known when the program is built, or one that is put together at run
/// time. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KindTable(Rows);

#[derive(Clone, Debug)]
enum Rows {
    Closed(&'static [DeclaredKind]),
    Open(Arc<[DeclaredKind]>),
}

impl KindTable {
    /// A table of kinds that are known when the program is built.
    pub const fn closed(rows: &'static [DeclaredKind]) -> Self {
        Self(Rows::Closed(rows))
    }

    /// Finds the row of a kind by group and kind; the version does not matter, a cluster serves one object under all.
    pub fn find(&self, kind: &Kind) -> Option<&DeclaredKind> {
        let is_it = |row: &&DeclaredKind| row.kind.is_like(kind);
        self.iter().find(is_it)
    }

    /// The root that an owner reference of an object in a namespace names, if it is one of this system.
    pub fn root_of(&self, owner: &Owner, namespace: &str) -> Option<ObjectKey> {
        let row = self.iter().find(|row| {
            row.role == Role::Root && row.kind.kind == owner.kind && row.kind.group == owner.group
        })?;
        let namespace = match row.scope {
            Scope::Namespaced => namespace,
            Scope::Cluster => "",
        };
        let name = owner.name.as_str();
        Some(ObjectKey::new(row.kind.clone(), namespace, name))
    }

    /// The roots that a mark may name. It does not say of which kind they are, but whether they live in a namespace.
    pub fn roots_of(&self, mark: &Mark, marked: &Marked) -> impl Iterator<Item = ObjectKey> {
        let scope = match mark.namespace {
            Some(_) => Scope::Namespaced,
            None => Scope::Cluster,
        };
        let roots = self.iter();
        let roots = roots.filter(move |row| row.role == Role::Root && row.scope == scope);
        let (namespace, name) = marked.root.split_once('/').unwrap_or(("", &marked.root));
        roots.map(move |row| ObjectKey::new(row.kind.clone(), namespace, name))
    }
}

impl FromIterator<DeclaredKind> for KindTable {
    fn from_iter<I: IntoIterator<Item = DeclaredKind>>(rows: I) -> Self {
        Self(Rows::Open(rows.into_iter().collect()))
    }
}

impl Default for KindTable {
    fn default() -> Self {
        Self::closed(&[])
    }
}

impl Deref for KindTable {
    type Target = [DeclaredKind];

    fn deref(&self) -> &[DeclaredKind] {
        match &self.0 {
            Rows::Closed(rows) => rows,
            Rows::Open(rows) => rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ROWS: &[DeclaredKind] = &[
        DeclaredKind::new(
            Kind::new("ours.io", "v1", "Certificate"),
            "certificates",
            Role::Root,
        ),
        DeclaredKind::new(Kind::new("ours.io", "v1", "Estate"), "estates", Role::Root)
            .cluster_scoped(),
        DeclaredKind::new(Kind::new("", "v1", "Secret"), "secrets", Role::Child),
    ];
    const ROOTS: KindTable = KindTable::closed(ROWS);

    fn owner(group: &str, kind: &str) -> Owner {
        Owner {
            group: group.to_owned(),
            kind: kind.to_owned(),
            name: "it".to_owned(),
            uid: "1".to_owned(),
            controller: true,
        }
    }

    #[test]
    fn a_kind_of_the_same_name_in_another_group_is_no_root() {
        let found = |group, kind| {
            let key = ROOTS.root_of(&owner(group, kind), "shop");
            key.map(|key| key.path())
        };
        assert_eq!(found("ours.io", "Certificate").as_deref(), Some("shop/it"));
        assert_eq!(found("ours.io", "Estate").as_deref(), Some("it"));
        assert_eq!(found("cert-manager.io", "Certificate"), None);
        assert_eq!(found("", "Secret"), None, "a child is no root");
    }

    #[test]
    fn a_table_that_is_put_together_at_run_time_is_one_like_any_other() {
        let rows = ROWS.iter().filter(|row| row.role == Role::Child);
        let table: KindTable = rows.cloned().collect();
        assert!(table.find(&Kind::new("", "v2", "Secret")).is_some());
        assert!(table.find(&Kind::new("ours.io", "v1", "Estate")).is_none());
    }
}
