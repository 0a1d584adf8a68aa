//! Values from outside of the config: environment variables and files. They are secret until the config says that they
//! are public.

use std::{collections::BTreeSet, fmt, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use super::{
    draft::Draft,
    export::HIDDEN,
    field::Kind,
    lookup,
    path::{self, steps},
    secret::{Secret, is_placeholder},
};
use crate::finding::{Code, Finding};

/// Where the config lists references whose values are public.
pub(crate) const PUBLIC_REFERENCES: &str = "secrets.public_references";

/// Shorter values cannot be told from other text, so they cannot be searched for. In characters.
pub const SHORTEST_HIDDEN: usize = 4;

/// What an environment variable or a file holds.
pub(crate) struct OutsideText {
    /// `env:NAME` or `file:path`.
    pub(crate) reference: String,
    pub(crate) text: Secret,
    /// Whether the config says that it is no secret.
    pub(crate) is_public: bool,
}

/// A value from outside, and a field of the config that holds it.
#[derive(Clone)]
pub struct OutsideValue {
    /// The field.
    pub path: String,
    pub(crate) source: Arc<OutsideText>,
}

impl OutsideValue {
    /// The reference without its dollar and braces: `env:NAME` or `file:path`.
    pub fn reference(&self) -> &str {
        &self.source.reference
    }

    /// The value itself; the caller takes care of where it goes.
    pub fn expose(&self) -> &str {
        self.source.text.expose()
    }

    /// Whether nobody may see the value: it is not declared public, and no stand-in. One of the words of a choice is
    /// in every copy of the documentation.
    pub fn is_hidden(&self) -> bool {
        let is_word = || match lookup::lookup(&self.path).map(|known| known.kind()) {
            Ok(Kind::Choice(words)) => words
                .iter()
                .any(|word| word.eq_ignore_ascii_case(self.expose())),
            _ => false,
        };
        !self.source.is_public && !is_placeholder(self.expose()) && !is_word()
    }

    /// Whether the value is too short to be searched for.
    pub fn is_short(&self) -> bool {
        self.expose().chars().count() < SHORTEST_HIDDEN
    }
}

impl fmt::Debug for OutsideValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OutsideValue")
            .field("path", &self.path)
            .field("reference", &self.source.reference)
            .finish_non_exhaustive()
    }
}

/// The references that the config declares public, without dollar and braces.
pub(crate) fn public_references(draft: &mut Draft) -> BTreeSet<String> {
    let mut public = BTreeSet::new();
    let Some(Value::Array(items)) = path::get(&draft.value, PUBLIC_REFERENCES).cloned() else {
        return public;
    };
    for (index, item) in items.iter().enumerate() {
        let Some(text) = item.as_str() else {
            // The shape check says what is wrong with it.
            continue;
        };
        let reference = text
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(text);
        if reference.starts_with("env:") || reference.starts_with("file:") {
            public.insert(reference.to_owned());
        } else {
            let place = path::item(PUBLIC_REFERENCES, index);
            let finding = Finding::new(Code::Oc2003, place, "this is no reference to the outside")
                .help("write `env:NAME` or `file:path`, as in the reference that is public");
            draft.report(finding);
        }
    }
    public
}

/// Whether a path is one of the declarations, whose text stays as it is.
pub(crate) fn is_declaration(path: &str) -> bool {
    steps(path).is_some_and(|steps| {
        steps
            .iter()
            .map(String::as_str)
            .take(2)
            .eq(PUBLIC_REFERENCES.split('.'))
    })
}

/// Longest piece of a value that is looked for as a whole, in characters.
const PIECE: usize = 64;

/// How many pieces of one value are looked for; no text for people is longer.
const PIECES: usize = 256;

/// Hides values from outside in texts for people.
pub struct Mask {
    /// None if there is too much to hide.
    patterns: Option<AhoCorasick>,
    /// The beginnings of the values: findings cut what they quote.
    beginnings: Vec<String>,
}

impl Mask {
    /// Hides these texts, also in quotes.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut patterns = BTreeSet::new();
        let mut beginnings = Vec::new();
        for text in texts {
            if text.chars().count() < SHORTEST_HIDDEN {
                continue;
            }
            let quoted = Value::from(text).to_string();
            let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
            beginnings.push(escaped.chars().take(8).collect::<String>().to_lowercase());
            patterns.extend(pieces(escaped));
            patterns.extend(pieces(text));
        }
        let patterns = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns);
        Self {
            patterns: patterns.ok(),
            beginnings,
        }
    }

    /// The text without what has to be hidden.
    pub fn hide(&self, text: &str) -> String {
        let Some(patterns) = &self.patterns else {
            return HIDDEN.to_owned();
        };
        let mut out = String::with_capacity(text.len());
        patterns.replace_all_with(text, &mut out, |_, _, out| {
            out.push_str(HIDDEN);
            true
        });
        out
    }

    /// Hides in everything that a finding says.
    pub fn hide_in(&self, finding: &mut Finding) {
        if self.beginnings.is_empty() {
            return;
        }
        let is_exposed = |text: &str| {
            let text = text.to_lowercase();
            self.beginnings
                .iter()
                .any(|beginning| text.contains(beginning.as_str()))
        };
        if finding.got.as_deref().is_some_and(is_exposed) {
            finding.got = None;
        }
        finding.message = self.hide(&finding.message);
        finding.path = self.hide(&finding.path);
        finding.help = finding.help.take().map(|help| self.hide(&help));
    }
}

/// A text in pieces that are long enough to be hidden each on its own.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let chunks = characters.chunks(PIECE).take(PIECES);
    chunks
        .filter(|chunk| chunk.len() >= SHORTEST_HIDDEN)
        .map(|chunk| chunk.iter().collect())
        .collect()
}

impl fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mask").finish_non_exhaustive()
    }
}
