//! Every custom resource of the suite, in one table: how users name it, and how its files are read.

use mainstay_api::{
    clowder::{ClowdApp, ClowdAppRef, ClowdEnvironment, ClowdJobInvocation},
    kaoto::Kaoto,
};
use mainstay_engine::{
    Kind,
    kind::{DeclaredKind, Role},
};
use mainstay_yaml::{Document, Error, from_value_strict};
use serde::de::DeserializeOwned;

use crate::args::System;

/// One custom resource.
#[derive(Debug)]
pub(crate) struct OwnKind {
    pub(crate) system: System,
    pub(crate) row: DeclaredKind,
    /// Short name, as kubectl knows it.
    pub(crate) short: &'static str,
    read: fn(&Document) -> Result<(), Error>,
}

const CLOWDER: System = System::Clowder;

/// The table, in the order in which objects of the kinds have to be applied: what others look at comes first.
static OWN_KINDS: [OwnKind; 5] = [
    OwnKind {
        system: System::Kaoto,
        row: DeclaredKind::new(
            mainstay_kaoto::kinds::KAOTO,
            mainstay_kaoto::names::PLURAL,
            Role::Root,
        ),
        short: "kd",
        read: read::<Kaoto>,
    },
    OwnKind {
        system: CLOWDER,
        row: DeclaredKind::new(
            mainstay_clowder::kinds::CLOWD_APP_REF,
            "clowdapprefs",
            Role::Reference,
        ),
        short: "",
        read: read::<ClowdAppRef>,
    },
    OwnKind {
        system: CLOWDER,
        row: DeclaredKind::new(
            mainstay_clowder::kinds::CLOWD_ENVIRONMENT,
            "clowdenvironments",
            Role::Root,
        )
        .cluster_scoped(),
        short: "env",
        read: read::<ClowdEnvironment>,
    },
    OwnKind {
        system: CLOWDER,
        row: DeclaredKind::new(mainstay_clowder::kinds::CLOWD_APP, "clowdapps", Role::Root),
        short: "app",
        read: read::<ClowdApp>,
    },
    OwnKind {
        system: CLOWDER,
        row: DeclaredKind::new(
            mainstay_clowder::kinds::CLOWD_JOB_INVOCATION,
            "clowdjobinvocations",
            Role::Root,
        ),
        short: "cji",
        read: read::<ClowdJobInvocation>,
    },
];

impl OwnKind {
    /// The row of a kind.
    pub(crate) fn find(kind: &Kind) -> Option<&'static Self> {
        OWN_KINDS.iter().find(|own| own.row.kind == *kind)
    }

    /// The row that a user means by a kind, plural or short name.
    pub(crate) fn named(word: &str) -> Option<&'static Self> {
        let word = word.to_lowercase();
        OWN_KINDS.iter().find(|own| {
            own.row.kind.kind.to_lowercase() == word
                || own.row.plural == word
                || (own.short == word && !word.is_empty())
        })
    }

    /// All rows.
    pub(crate) fn all() -> &'static [Self] {
        &OWN_KINDS
    }

    /// Whether a group is one of ours.
    pub(crate) fn is_own_group(group: &str) -> bool {
        OWN_KINDS.iter().any(|own| own.row.kind.group == group)
    }

    /// Place in the order of applying.
    pub(crate) fn position(&self) -> usize {
        let same = |own: &Self| own.row.kind == self.row.kind;
        OWN_KINDS.iter().position(same).unwrap_or_default()
    }

    /// The strict reading finds what the API server would silently drop.
    pub(crate) fn check(&self, document: &Document) -> Result<(), Error> {
        // The type carries its own identity and does not know these two as fields.
        let mut document = document.clone();
        if let Some(fields) = document.value.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        (self.read)(&document)
    }
}

fn read<T: DeserializeOwned>(document: &Document) -> Result<(), Error> {
    from_value_strict::<T>(document).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_name_kinds_as_they_do_for_kubectl() {
        let kind = |word| OwnKind::named(word).map(|own| own.row.kind.kind.to_string());
        for (word, expected) in [
            ("kd", "Kaoto"),
            ("kaotoes", "Kaoto"),
            ("env", "ClowdEnvironment"),
            ("ClowdApp", "ClowdApp"),
            ("app", "ClowdApp"),
            ("cji", "ClowdJobInvocation"),
        ] {
            assert_eq!(kind(word).as_deref(), Some(expected));
        }
        assert_eq!((kind("pod"), kind("")), (None, None));
    }

    #[test]
    fn the_table_says_what_the_definitions_say() {
        let definitions = mainstay_api::crds();
        assert_eq!(definitions.len(), OWN_KINDS.len());
        for (_, definition) in definitions {
            let text = |pointer: &str| definition.pointer(pointer).and_then(|value| value.as_str());
            let own = OwnKind::named(text("/spec/names/kind").unwrap()).unwrap();
            assert_eq!(text("/spec/group"), Some(own.row.kind.group.as_ref()));
            assert_eq!(text("/spec/names/plural"), Some(&*own.row.plural));
            let scope = format!("{:?}", own.row.scope);
            assert_eq!(text("/spec/scope"), Some(scope.as_str()));
            let short = text("/spec/names/shortNames/0").unwrap_or_default();
            assert_eq!(short, own.short);
        }
    }
}
