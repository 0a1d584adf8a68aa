//! The systems of the suite, and the custom resources that users write: what a file may hold, and how a person names it.

use std::ops::Deref;

use clap::{
    Command,
    builder::{PossibleValuesParser, TypedValueParser},
};
use mainstay_engine::{Kind, kind::DeclaredKind};
use mainstay_system::{CustomResource, System};

/// All systems that have operators, in the order of applying.
pub(crate) static SYSTEMS: &[&System] = &[
    &mainstay_kaoto_operator::SYSTEM,
    &mainstay_clowder_operator::SYSTEM,
];

/// Reads the name of a system.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static System> {
    let names = SYSTEMS.iter().map(|system| system.name);
    PossibleValuesParser::new(names).try_map(|name| {
        let mut all = SYSTEMS.iter().copied();
        all.find(|system| system.name == name).ok_or("no system")
    })
}

/// Adds flags to a command, which keeps its own description.
pub(crate) fn with_flags(command: Command, add: impl FnOnce(Command) -> Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    add(command)
        .about(about)
        .long_about(None)
        .next_help_heading(None)
}

/// Those that a person named; all, if none.
pub(crate) fn chosen(named: &[&'static System]) -> Vec<&'static System> {
    if named.is_empty() {
        SYSTEMS.to_vec()
    } else {
        named.to_vec()
    }
}

/// A custom resource, with its system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnKind {
    pub(crate) system: &'static System,
    pub(crate) row: &'static DeclaredKind,
    resource: &'static CustomResource,
}

impl Deref for OwnKind {
    type Target = CustomResource;

    fn deref(&self) -> &CustomResource {
        self.resource
    }
}

impl OwnKind {
    /// All of them, in the order of applying.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        SYSTEMS.iter().flat_map(|&system| {
            let resources = system.resources.iter();
            resources.filter_map(move |resource| {
                Some(Self {
                    system,
                    row: system.row(&resource.kind)?,
                    resource,
                })
            })
        })
    }

    /// The one of a kind.
    pub(crate) fn find(kind: &Kind) -> Option<Self> {
        Self::all().find(|own| own.row.kind == *kind)
    }

    /// The one that a user means by a kind, plural or short name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        Self::all().find(|own| {
            own.row.kind.kind.to_lowercase() == word
                || own.row.plural == word
                || (own.short == word && !word.is_empty())
        })
    }

    /// Whether a group is one of ours.
    pub(crate) fn is_own_group(group: &str) -> bool {
        Self::all().any(|own| own.row.kind.group == group)
    }

    /// Place in the order of applying.
    pub(crate) fn position(&self) -> usize {
        let same = |own: Self| own.row.kind == self.row.kind;
        Self::all().position(same).unwrap_or_default()
    }
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
    fn the_systems_say_what_their_definitions_say() {
        for system in SYSTEMS {
            let definitions = (system.crds)();
            let own = OwnKind::all().filter(|own| own.system == *system);
            assert_eq!(definitions.len(), own.count(), "{system:?}");
            for (_, definition) in definitions {
                let text =
                    |pointer: &str| definition.pointer(pointer).and_then(|value| value.as_str());
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

    #[test]
    fn no_two_systems_share_a_name_or_a_program() {
        let mut words: Vec<&str> = Vec::new();
        for system in SYSTEMS {
            words.extend(system.operator.program.names);
            let names = system.operator.program.names;
            words.extend((!names.contains(&system.name)).then_some(system.name));
        }
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all, "{words:?}");
    }
}
