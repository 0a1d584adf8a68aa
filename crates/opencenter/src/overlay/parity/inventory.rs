//! The list of differences that are known and accepted, each with its reason.

use std::collections::BTreeMap;

use mainstay_yaml::{Limits, SourceName, from_value_strict, parse_documents};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// Why an inventory cannot be used.
#[derive(Debug, Error)]
pub enum InventoryError {
    /// It is not YAML, or has other fields.
    #[error("could not read the inventory of accepted differences")]
    Yaml(#[from] mainstay_yaml::Error),
    /// It is empty.
    #[error("the inventory of accepted differences is empty")]
    Empty,
    /// A rule has no reason.
    #[error("the rule for `{0}` has no reason")]
    NoReason(String),
}

/// How two files are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareMode {
    /// Both must exist.
    PathOnly,
    /// By content.
    #[default]
    Yaml,
    /// Byte for byte.
    Bytes,
}

/// All accepted differences.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Inventory {
    /// Changes with every change of a rule.
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    defaults: RuleSet,
    #[serde(default)]
    clusters: BTreeMap<String, RuleSet>,
}

/// Accepted differences of one cluster.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RuleSet {
    #[serde(default)]
    aliases: Vec<Alias>,
    #[serde(default)]
    ignore_actual: Vec<Ignored>,
    #[serde(default)]
    ignore_expected: Vec<Ignored>,
    #[serde(default)]
    compare_modes: Vec<ModeRule>,
    #[serde(default)]
    yaml_rules: Vec<YamlRule>,
}

#[derive(Clone, Debug, Deserialize)]
struct Alias {
    actual: String,
    expected: String,
    reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Ignored {
    path: String,
    reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct ModeRule {
    #[serde(alias = "glob")]
    path: String,
    mode: CompareMode,
    reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct YamlRule {
    path: Option<String>,
    kind: Option<String>,
    remove: Vec<String>,
    reason: Option<String>,
}

impl Inventory {
    /// Reads an inventory. A rule without a reason is refused.
    pub fn parse(file: &str, text: &str) -> Result<Self, InventoryError> {
        let documents = parse_documents(text, &SourceName::new(file), &Limits::default())?;
        let document = documents.first().ok_or(InventoryError::Empty)?;
        let inventory: Self = from_value_strict(document)?;
        inventory.defaults.check()?;
        inventory.clusters.values().try_for_each(RuleSet::check)?;
        Ok(inventory)
    }

    /// The rules for a cluster: the defaults, then its own.
    pub fn rules(&self, cluster: &str) -> RuleSet {
        let mut rules = self.defaults.clone();
        if let Some(own) = self.clusters.get(cluster) {
            rules.aliases.extend(own.aliases.iter().cloned());
            rules
                .ignore_actual
                .extend(own.ignore_actual.iter().cloned());
            rules
                .ignore_expected
                .extend(own.ignore_expected.iter().cloned());
            rules
                .compare_modes
                .extend(own.compare_modes.iter().cloned());
            rules.yaml_rules.extend(own.yaml_rules.iter().cloned());
        }
        for alias in &mut rules.aliases {
            alias.actual = alias.actual.replace("<c>", cluster);
            alias.expected = alias.expected.replace("<c>", cluster);
        }
        rules
    }
}

impl RuleSet {
    fn check(&self) -> Result<(), InventoryError> {
        let aliases = self
            .aliases
            .iter()
            .map(|rule| (rule.actual.as_str(), &rule.reason));
        let ignored = self.ignore_actual.iter().chain(&self.ignore_expected);
        let ignored = ignored.map(|rule| (rule.path.as_str(), &rule.reason));
        let modes = self
            .compare_modes
            .iter()
            .map(|rule| (rule.path.as_str(), &rule.reason));
        let yaml = self.yaml_rules.iter().map(|rule| {
            let name = rule.path.as_deref().or(rule.kind.as_deref());
            (name.unwrap_or("every document"), &rule.reason)
        });
        let without = aliases
            .chain(ignored)
            .chain(modes)
            .chain(yaml)
            .find(|(_, reason)| {
                reason
                    .as_deref()
                    .is_none_or(|reason| reason.trim().is_empty())
            });
        match without {
            Some((name, _)) => Err(InventoryError::NoReason(name.to_owned())),
            None => Ok(()),
        }
    }

    pub(super) fn alias(&self, actual: &str) -> Option<&str> {
        self.aliases
            .iter()
            .find(|alias| alias.actual == actual)
            .map(|alias| alias.expected.as_str())
    }

    pub(super) fn ignores_actual(&self, path: &str) -> bool {
        self.ignore_actual
            .iter()
            .any(|rule| path_matches(&rule.path, path))
    }

    pub(super) fn ignores_expected(&self, path: &str) -> bool {
        self.ignore_expected
            .iter()
            .any(|rule| path_matches(&rule.path, path))
    }

    /// An exact path beats a pattern; of patterns the first wins.
    pub(super) fn mode(&self, path: &str) -> CompareMode {
        let exact = self.compare_modes.iter().find(|rule| rule.path == path);
        exact
            .or_else(|| {
                self.compare_modes
                    .iter()
                    .find(|rule| path_matches(&rule.path, path))
            })
            .map_or(CompareMode::default(), |rule| rule.mode)
    }

    pub(super) fn remove_ignored(&self, path: &str, document: &mut Value) {
        for rule in &self.yaml_rules {
            let kind = document.get("kind").and_then(Value::as_str);
            let applies = rule
                .path
                .as_deref()
                .is_none_or(|pattern| path_matches(pattern, path))
                && rule
                    .kind
                    .as_deref()
                    .is_none_or(|wanted| kind == Some(wanted));
            if applies {
                rule.remove
                    .iter()
                    .for_each(|pointer| remove(document, pointer));
            }
        }
    }
}

fn remove(document: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    if let Some(parent) = document.pointer_mut(parent).and_then(Value::as_object_mut) {
        parent.remove(&key);
    }
}

/// Whether a path fits a pattern: `*` stands for anything within a directory, `**` for anything at all.
pub fn path_matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => {
            let Some(rest) = path.strip_prefix(before) else {
                return false;
            };
            let (after, crosses) = match after.strip_prefix('*') {
                Some(after) => (after, true),
                None => (after, false),
            };
            let ends = rest
                .char_indices()
                .map(|(index, _)| index)
                .chain([rest.len()]);
            ends.take_while(|end| {
                crosses || !rest.get(..*end).is_some_and(|part| part.contains('/'))
            })
            .any(|end| {
                rest.get(end..)
                    .is_some_and(|tail| path_matches(after, tail))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_within_a_directory() {
        assert!(path_matches(
            "services/*/helm-values/*.yaml",
            "services/a/helm-values/b.yaml"
        ));
        assert!(!path_matches("services/*.yaml", "services/a/b.yaml"));
        assert!(path_matches("services/**.yaml", "services/a/b.yaml"));
        assert!(!path_matches("a", "ab"));
    }

    #[test]
    fn a_rule_needs_a_reason() {
        let text = "defaults:\n  ignore_actual:\n    - {path: services/a.yaml}\n";
        assert!(
            matches!(Inventory::parse("x", text), Err(InventoryError::NoReason(path)) if path == "services/a.yaml")
        );
    }
}
