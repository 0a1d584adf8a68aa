//! What is searched for: secrets of the config and values from outside, in every form they may take.

use std::{collections::BTreeSet, fmt::Write as _};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use serde_json::Value;

use crate::config::{
    ClusterConfig, Common, ManagedServices, Root, Services,
    field::{Kind, Section},
    is_placeholder, path,
};

/// Shorter texts of the config appear everywhere by chance.
const SHORTEST_OWN: usize = 6;

/// Shortest part of a value that is searched for on its own.
const SHORTEST_PART: usize = 6;

/// How many parts of one value are searched for.
const MOST_PARTS: usize = 500;

/// Longest text that is searched for as a whole.
const LONGEST: usize = 4096;

/// Of a longer text, so many pieces are searched for, each this long.
const PIECES: usize = 64;

/// Secret-classified, but needed in the open: the address of a datastore stands in storage classes.
const NEEDED_IN_THE_OPEN: &[&str] = &["datastoreurl"];

/// How much of a secret a pattern is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// A run of letters and digits. Says something only if the file has fewer of it with another value.
    Part,
}

/// A secret to search for.
pub(super) struct Needle {
    /// The field of the config.
    pub(super) path: String,
    /// The reference it came in by; none if the config itself has it.
    pub(super) reference: Option<String>,
    text: String,
    /// Whether there are files that were made with another value.
    pub(super) is_substituted: bool,
}

/// All secrets of a config that are no stand-ins.
pub(super) fn of(config: &ClusterConfig) -> Vec<Needle> {
    let mut own = Vec::new();
    in_section(Root::SECTION, config.effective(), "", &mut own);
    let comes_from_outside = |path: &str, text: &str| {
        let mut outside = config.hidden_outside();
        outside.any(|value| value.path == path && value.expose() == text)
    };
    own.retain(|(path, text)| {
        text.len() >= SHORTEST_OWN && !is_placeholder(text) && !comes_from_outside(path, text)
    });
    let own = own.into_iter().map(|(path, text)| Needle {
        path,
        reference: None,
        text: text.to_owned(),
        is_substituted: false,
    });
    let outside = config.hidden_outside().map(|value| Needle {
        path: value.path.clone(),
        reference: Some(value.reference().to_owned()),
        text: value.expose().to_owned(),
        is_substituted: false,
    });
    own.chain(outside).collect()
}

/// Whether a config has secrets that are more than stand-ins.
pub fn has_secrets(config: &ClusterConfig) -> bool {
    !of(config).is_empty()
}

impl Needle {
    /// The texts that the secret may appear as.
    pub(super) fn patterns(&self) -> Vec<(Form, String)> {
        let mut whole: BTreeSet<String> = BTreeSet::new();
        let text = &self.text;
        whole.insert(text.clone());
        // The search passes over the case of ASCII letters only.
        if !text.is_ascii() {
            whole.insert(text.to_lowercase());
            whole.insert(text.to_uppercase());
        }
        let quoted = json(text);
        whole.insert(json(&quoted));
        whole.insert(quoted);
        whole.insert(text.replace('\'', "''"));
        let printed = mainstay_yaml::print(&Value::from(text.as_str()));
        whole.insert(printed.trim().trim_matches(['"', '\'']).to_owned());
        whole.insert(STANDARD.encode(text));
        let mut patterns: Vec<(Form, String)> = Vec::new();
        if self.reference.is_some() {
            whole.extend(encodings(text));
            patterns.extend(parts(text).map(|part| (Form::Part, part)));
        }
        let pieces = whole.iter().flat_map(|text| pieces(text));
        patterns.extend(pieces.map(|text| (Form::Whole, text)));
        patterns
    }
}

/// A text as it stands between the quotes of JSON.
fn json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted
        .get(1..quoted.len() - 1)
        .unwrap_or_default()
        .to_owned()
}

/// The encodings that values pass through on their way to where they are used.
fn encodings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for reserved in ["-._~", "-._~/", "-._~ "] {
        let mut encoded = String::new();
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || reserved.as_bytes().contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
        found.push(encoded.replace(' ', "+"));
    }
    let hexadecimal = text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    });
    found.push(hexadecimal);
    // What comes before a value decides how its bits are cut: each of the three ways looks different.
    for before in 0..3_usize {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(text.as_bytes());
        for encoded in [
            STANDARD_NO_PAD.encode(&bytes),
            URL_SAFE_NO_PAD.encode(&bytes),
        ] {
            let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            found.extend(encoded.get(first..end).map(str::to_owned));
        }
    }
    // Fewer characters say nothing.
    found.retain(|encoded| encoded.len() >= SHORTEST_PART);
    found
}

/// The runs of letters and digits of a text that has more than one.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let runs: BTreeSet<&str> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|run| run.len() >= SHORTEST_PART && *run != text.trim())
        .take(MOST_PARTS)
        .collect();
    runs.into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
}

/// A text, or pieces from all over it if it is long.
fn pieces(text: &str) -> Vec<String> {
    if text.len() <= LONGEST {
        return vec![text.to_owned()];
    }
    let characters: Vec<char> = text.chars().collect();
    let step = characters.len() / PIECES;
    let starts = (0..PIECES).map(|piece| piece * step);
    starts
        .filter_map(|start| characters.get(start..start + step.min(PIECES)))
        .map(|piece| piece.iter().collect())
        .collect()
}

fn in_section<'v>(
    section: &'static Section,
    value: &'v Value,
    place: &str,
    found: &mut Vec<(String, &'v str)>,
) {
    for field in section.fields {
        let Some(value) = value.get(field.name) else {
            continue;
        };
        let place = path::child(place, field.name);
        if field.secret {
            if !NEEDED_IN_THE_OPEN.contains(&field.name) {
                all_texts(value, &place, found);
            }
        } else {
            in_kind(field.kind, value, &place, found);
        }
    }
}

fn in_kind<'v>(kind: Kind, value: &'v Value, place: &str, found: &mut Vec<(String, &'v str)>) {
    let settings = match kind {
        Kind::Services => Services::settings_section,
        _ => ManagedServices::settings_section,
    };
    match (kind, value) {
        (Kind::Object(section), value) => in_section(section, value, place, found),
        (Kind::List(item), Value::Array(values)) => {
            for (index, value) in values.iter().enumerate() {
                in_kind(*item, value, &path::item(place, index), found);
            }
        }
        (Kind::Map(item), Value::Object(entries)) => {
            for (key, value) in entries {
                in_kind(*item, value, &path::child(place, key), found);
            }
        }
        (Kind::Services | Kind::ManagedServices, Value::Object(entries)) => {
            for (name, value) in entries {
                let place = path::child(place, name);
                in_section(Common::SECTION, value, &place, found);
                if let Some(section) = settings(name) {
                    in_section(section, value, &place, found);
                }
            }
        }
        _ => {}
    }
}

fn all_texts<'v>(value: &'v Value, place: &str, found: &mut Vec<(String, &'v str)>) {
    match value {
        Value::String(text) => found.push((place.to_owned(), text)),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                all_texts(value, &path::item(place, index), found);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                all_texts(value, &path::child(place, key), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
