//! The search for secrets of a config in what was rendered: plain, in quotes, encoded, wrapped and indented.

mod needle;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::config::{ClusterConfig, SHORTEST_HIDDEN};
use needle::{Form, Needle};

pub use needle::has_secrets;

/// A text of fewer bytes is searched for as a word, because it is part of others by chance.
const SHORTEST: usize = 6;

/// A secret that was found where it must not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exposure {
    /// The field of the config that holds the secret.
    pub path: String,
    /// The reference it came in by, such as `env:NAME`; none if the config itself has it.
    pub reference: Option<String>,
}

/// Finds the secrets of a config in bytes.
pub struct SecretSearch {
    needles: Vec<Needle>,
    /// Searched for in text without its blanks: how it was indented and wrapped makes no difference.
    texts: Patterns,
    /// Searched for as words.
    words: Patterns,
    /// The files as they are with other values from outside.
    substitutes: Option<BTreeMap<String, Vec<u8>>>,
}

impl fmt::Debug for SecretSearch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SecretSearch")
            .field("needles", &self.needles.len())
            .finish_non_exhaustive()
    }
}

/// Patterns and the needles that each stands for.
struct Patterns {
    /// None if there is nothing to find.
    automaton: Option<AhoCorasick>,
    owners: Vec<Vec<(usize, Form)>>,
}

impl SecretSearch {
    /// The search for all secrets of a config; none if they are too large to search for.
    pub fn new(config: &ClusterConfig) -> Option<Self> {
        let needles = needle::of(config);
        let mut texts: BTreeMap<Vec<u8>, Vec<(usize, Form)>> = BTreeMap::new();
        let mut words: BTreeMap<Vec<u8>, Vec<(usize, Form)>> = BTreeMap::new();
        for (index, needle) in needles.iter().enumerate() {
            for (form, pattern) in needle.patterns() {
                let squeezed = squeeze(pattern.as_bytes());
                if squeezed.len() >= SHORTEST {
                    texts.entry(squeezed).or_default().push((index, form));
                } else if form == Form::Whole && pattern.trim().chars().count() >= SHORTEST_HIDDEN {
                    let word = pattern.trim().as_bytes().to_vec();
                    words.entry(word).or_default().push((index, form));
                }
            }
        }
        Some(Self {
            texts: Patterns::new(texts)?,
            words: Patterns::new(words)?,
            needles,
            substitutes: None,
        })
    }

    /// Whether a value from outside is among the secrets.
    pub fn has_outside(&self) -> bool {
        self.needles.iter().any(|needle| needle.reference.is_some())
    }

    /// Takes the files that are rendered with other values for some references. What these hold as well does not come
    /// from there.
    pub(super) fn compare_with(
        &mut self,
        files: BTreeMap<String, Vec<u8>>,
        references: &BTreeSet<String>,
    ) {
        for needle in &mut self.needles {
            needle.is_substituted = needle
                .reference
                .as_ref()
                .is_some_and(|reference| references.contains(reference));
        }
        self.substitutes = Some(files);
    }

    /// The secrets in the content and the name of a file.
    pub fn exposures(&self, path: &str, bytes: &[u8]) -> Vec<Exposure> {
        let mut found = self.count(bytes);
        add(&mut found, self.count(path.as_bytes()));
        if found.is_empty() {
            return Vec::new();
        }
        let same_file = self
            .substitutes
            .as_ref()
            .and_then(|files| files.get_key_value(path));
        let innocent = same_file.map(|(path, bytes)| {
            let mut counts = self.count(bytes);
            add(&mut counts, self.count(path.as_bytes()));
            counts
        });
        let exposed = found.into_iter().filter(|((needle, form), count)| {
            let is_substituted = self
                .needles
                .get(*needle)
                .is_some_and(|needle| needle.is_substituted);
            match &innocent {
                Some(innocent) if is_substituted => innocent
                    .get(&(*needle, *form))
                    .is_none_or(|few| few < count),
                _ => *form == Form::Whole,
            }
        });
        let needles: BTreeSet<usize> = exposed.map(|((needle, _), _)| needle).collect();
        let mut exposures: Vec<Exposure> = needles
            .into_iter()
            .filter_map(|needle| self.needles.get(needle))
            .map(|needle| Exposure {
                path: needle.path.clone(),
                reference: needle.reference.clone(),
            })
            .collect();
        exposures.sort();
        exposures.dedup();
        exposures
    }

    /// Whether a file is another one with other values from outside.
    pub(super) fn is_dependent(&self, path: &str, bytes: &[u8]) -> bool {
        self.substitutes
            .as_ref()
            .is_some_and(|files| files.get(path).is_none_or(|other| other != bytes))
    }

    /// How often each needle is found, by form.
    fn count(&self, bytes: &[u8]) -> BTreeMap<(usize, Form), usize> {
        let mut counts = BTreeMap::new();
        let mut count = |owners: &[(usize, Form)]| {
            for owner in owners {
                *counts.entry(*owner).or_insert(0) += 1;
            }
        };
        if let Some(automaton) = &self.texts.automaton {
            let squeezed = squeeze(bytes);
            for found in automaton.find_overlapping_iter(&squeezed) {
                count(self.texts.owners(found.pattern().as_usize()));
            }
        }
        if let Some(automaton) = &self.words.automaton {
            for found in automaton.find_overlapping_iter(bytes) {
                let before = found.start().checked_sub(1).and_then(|at| bytes.get(at));
                let after = bytes.get(found.end());
                if !before.is_some_and(u8::is_ascii_alphanumeric)
                    && !after.is_some_and(u8::is_ascii_alphanumeric)
                {
                    count(self.words.owners(found.pattern().as_usize()));
                }
            }
        }
        counts
    }
}

impl Patterns {
    fn new(patterns: BTreeMap<Vec<u8>, Vec<(usize, Form)>>) -> Option<Self> {
        let (texts, owners): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        if texts.is_empty() {
            return Some(Self {
                automaton: None,
                owners,
            });
        }
        // The patterns are searched for once, so a table that is quick to make beats one that is quick to use.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(texts)
            .ok()?;
        Some(Self {
            automaton: Some(automaton),
            owners,
        })
    }

    fn owners(&self, pattern: usize) -> &[(usize, Form)] {
        self.owners.get(pattern).map_or(&[], Vec::as_slice)
    }
}

fn add(counts: &mut BTreeMap<(usize, Form), usize>, others: BTreeMap<(usize, Form), usize>) {
    for (key, count) in others {
        *counts.entry(key).or_insert(0) += count;
    }
}

fn squeeze(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect()
}
