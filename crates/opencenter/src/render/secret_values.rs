//! Every secret text of a config, for the check that none of them ends up in the open.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::config::{
    ClusterConfig, Common, ManagedServices, Root, Services,
    field::{Kind, Section},
    is_placeholder,
};

/// Shorter texts appear everywhere by chance.
const SHORTEST: usize = 6;

/// Secret-classified, but needed in the open: the address of a datastore stands in storage classes.
const NEEDED_IN_THE_OPEN: &[&str] = &["datastoreurl"];

/// The secret texts of a config that are long enough to be found and no placeholders; sorted, each once.
pub fn secret_values(config: &ClusterConfig) -> Vec<&str> {
    let mut found = Vec::new();
    in_section(Root::SECTION, config.effective(), &mut found);
    found.retain(|text| text.len() >= SHORTEST && !is_placeholder(text));
    found.sort_unstable();
    found.dedup();
    found
}

/// Finds the secrets of a config in bytes, plain and encoded.
#[derive(Debug)]
pub struct SecretSearch {
    /// None if there is no secret to find.
    patterns: Option<AhoCorasick>,
}

impl SecretSearch {
    /// The search for all secrets of a config; none if they are too large to search for.
    pub fn new(config: &ClusterConfig) -> Option<Self> {
        let secrets = secret_values(config);
        if secrets.is_empty() {
            return Some(Self { patterns: None });
        }
        let encoded: Vec<String> = secrets
            .iter()
            .map(|secret| STANDARD.encode(secret))
            .collect();
        let patterns = secrets
            .iter()
            .copied()
            .chain(encoded.iter().map(String::as_str));
        // The patterns are searched for once, so a table that is quick to make beats one that is quick to use.
        AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns)
            .ok()
            .map(|patterns| Self {
                patterns: Some(patterns),
            })
    }

    /// Whether a secret stands in these bytes.
    pub fn finds_any(&self, bytes: &[u8]) -> bool {
        self.patterns
            .as_ref()
            .is_some_and(|patterns| patterns.is_match(bytes))
    }
}

fn in_section<'v>(section: &'static Section, value: &'v Value, found: &mut Vec<&'v str>) {
    for field in section.fields {
        let Some(value) = value.get(field.name) else {
            continue;
        };
        if field.secret {
            if !NEEDED_IN_THE_OPEN.contains(&field.name) {
                all_texts(value, found);
            }
        } else {
            in_kind(field.kind, value, found);
        }
    }
}

fn in_kind<'v>(kind: Kind, value: &'v Value, found: &mut Vec<&'v str>) {
    match (kind, value) {
        (Kind::Object(section), value) => in_section(section, value, found),
        (Kind::List(item), Value::Array(values)) => {
            for value in values {
                in_kind(*item, value, found);
            }
        }
        (Kind::Map(item), Value::Object(entries)) => {
            for value in entries.values() {
                in_kind(*item, value, found);
            }
        }
        (Kind::Services, Value::Object(entries)) => {
            for (name, value) in entries {
                in_section(Common::SECTION, value, found);
                if let Some(section) = Services::settings_section(name) {
                    in_section(section, value, found);
                }
            }
        }
        (Kind::ManagedServices, Value::Object(entries)) => {
            for (name, value) in entries {
                in_section(Common::SECTION, value, found);
                if let Some(section) = ManagedServices::settings_section(name) {
                    in_section(section, value, found);
                }
            }
        }
        _ => {}
    }
}

fn all_texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| all_texts(value, found)),
        Value::Object(entries) => entries.values().for_each(|value| all_texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
