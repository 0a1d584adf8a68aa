//! The same config with other values from outside: what changes with them depends on them.
//!
//! A text that stands in a file may come from outside, or stand there anyway. Rendering twice tells the two apart, and
//! also shows what became of a value that was changed on its way, such as an address that was taken apart.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ClusterConfig, LoadOptions, Purpose, draft::Draft, load::finish, outside::OutsideValue,
    reference::Surroundings,
};
use crate::finding::{Finding, Severity};

/// How often a config is tried with fewer substitutes.
const ATTEMPTS: usize = 4;

/// A config with other values from outside.
#[derive(Debug)]
pub(crate) struct Substituted {
    pub(crate) config: ClusterConfig,
    /// The references whose values are others.
    pub(crate) references: BTreeSet<String>,
}

impl ClusterConfig {
    /// The same config with another value for every hidden one from outside. Values that have no substitute which is
    /// valid in their place stay; none if that is true of all.
    pub(crate) fn substituted(&self) -> Option<Substituted> {
        let hidden = self.hidden_outside().map(OutsideValue::reference);
        self.substitute(hidden.map(str::to_owned).collect())
    }

    /// The same config with other values for some references.
    pub(crate) fn substitute(&self, mut references: BTreeSet<String>) -> Option<Substituted> {
        let visible = self.origins.outside().iter();
        for value in visible.filter(|value| !value.is_hidden()) {
            references.remove(value.reference());
        }
        let options = LoadOptions {
            purpose: Purpose::Render,
            allow_missing_secrets: true,
            allowed_hosts: Vec::new(),
        };
        for _ in 0..ATTEMPTS {
            if references.is_empty() {
                return None;
            }
            let surroundings = Substitutes::new(self.origins.outside(), &references);
            let draft = Draft::new(self.origins.document().clone());
            let loaded = finish(draft, &surroundings, &options);
            let is_error = |finding: &&Finding| finding.severity == Severity::Error;
            let errors: Vec<&Finding> = loaded.findings.iter().filter(is_error).collect();
            if errors.is_empty() {
                let config = loaded.config?;
                return Some(Substituted { config, references });
            }
            let before = references.len();
            for value in self.origins.outside() {
                if errors
                    .iter()
                    .any(|error| is_about(&error.path, &value.path))
                {
                    references.remove(value.reference());
                }
            }
            if references.len() == before {
                return None;
            }
        }
        None
    }

    /// The values from outside that nobody may see.
    pub(crate) fn hidden_outside(&self) -> impl Iterator<Item = &OutsideValue> {
        self.origins
            .outside()
            .iter()
            .filter(|value| value.is_hidden())
    }
}

/// Whether a finding at one path is about a value at the other, or about something that holds it.
fn is_about(finding: &str, value: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    !finding.is_empty() && (holds(finding, value) || holds(value, finding))
}

struct Substitutes {
    by_reference: BTreeMap<String, String>,
}

impl Substitutes {
    fn new(outside: &[OutsideValue], references: &BTreeSet<String>) -> Self {
        let entry = |value: &OutsideValue| {
            let text = if references.contains(value.reference()) {
                substitute(value.expose())
            } else {
                value.expose().to_owned()
            };
            (value.reference().to_owned(), text)
        };
        Self {
            by_reference: outside.iter().map(entry).collect(),
        }
    }
}

impl Surroundings for Substitutes {
    fn variable(&self, name: &str) -> Option<String> {
        self.by_reference.get(&format!("env:{name}")).cloned()
    }

    fn file(&self, path: &str) -> Result<String, String> {
        self.by_reference
            .get(&format!("file:{path}"))
            .cloned()
            .ok_or_else(|| "the file was not read before".to_owned())
    }
}

/// A text of the same form: every letter and digit is another one, all else stays. So does the scheme of an address.
fn substitute(text: &str) -> String {
    let (scheme, rest) = match text.find("://") {
        Some(end) => text.split_at(end),
        None => ("", text),
    };
    let other = |character: char| match character {
        'z' => 'a',
        'Z' => 'A',
        '9' => '1',
        'a'..='y' | 'A'..='Y' | '0'..='8' => {
            char::from_u32(u32::from(character) + 1).unwrap_or('x')
        }
        other => other,
    };
    scheme.chars().chain(rest.chars().map(other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitute_has_the_form_of_the_value_and_none_of_its_letters() {
        for (text, expected) in [
            ("hunter2", "ivoufs3"),
            (
                "https://git.example.org/a.git",
                "https://hju.fybnqmf.psh/b.hju",
            ),
            ("Zz9-08\n", "Aa1-19\n"),
        ] {
            assert_eq!(substitute(text), expected);
        }
    }
}
