//! Comparison of a rendered tree with an expected one, up to differences that mean nothing.
//!
//! Canonical forms exist for comparing only; they never reach the output.

mod canonical;
mod inventory;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

pub use inventory::{CompareMode, Inventory, InventoryError, RuleSet, path_matches};

use super::{
    Contents,
    semantic::{FieldChange, field_changes},
};

/// One way in which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Difference {
    /// Expected, but not rendered.
    Missing {
        /// The expected path.
        path: String,
    },
    /// Rendered, but not expected.
    Unexpected {
        /// The rendered path.
        path: String,
    },
    /// Two rendered files stand for one expected file.
    Collision {
        /// The expected path.
        path: String,
    },
    /// The content differs.
    Content {
        /// The expected path.
        path: String,
        /// The number of the document, starting at zero.
        document: usize,
        /// The fields; `before` is what was expected. Secrets are hidden.
        fields: Vec<FieldChange>,
    },
    /// The file cannot be read as YAML.
    Unreadable {
        /// The path.
        path: String,
    },
}

/// Paths that the renderer owns; nothing else is compared.
fn is_owned(path: &str) -> bool {
    path == "kustomization.yaml"
        || path == ".sops.yaml"
        || ["services/", "managed-services/", "customer-managed/"]
            .iter()
            .any(|directory| path.starts_with(directory))
}

/// Compares a rendered tree with an expected one. All differences are reported, not only the first.
///
/// A path that one side may lack is compared all the same where both sides have it.
pub fn compare(
    cluster: &str,
    actual: &Contents,
    expected: &Contents,
    inventory: &Inventory,
) -> Vec<Difference> {
    let rules = inventory.rules(cluster);
    let mut differences = Vec::new();
    let mut mapped: BTreeMap<&str, &[u8]> = BTreeMap::new();
    for (path, bytes) in actual.iter().filter(|(path, _)| is_owned(path)) {
        if rules.ignores_actual(path) && !expected.contains_key(path) {
            continue;
        }
        let target = rules
            .alias(path)
            .filter(|target| expected.contains_key(*target))
            .unwrap_or(path);
        if mapped.insert(target, bytes).is_some() {
            differences.push(Difference::Collision {
                path: target.to_owned(),
            });
        }
    }
    let wanted: BTreeMap<&str, &[u8]> = expected
        .iter()
        .filter(|(path, _)| is_owned(path))
        .filter(|(path, _)| mapped.contains_key(path.as_str()) || !rules.ignores_expected(path))
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    let paths: BTreeSet<&str> = mapped.keys().chain(wanted.keys()).copied().collect();
    for path in paths {
        match (mapped.get(path), wanted.get(path)) {
            (None, Some(_)) => differences.push(Difference::Missing {
                path: path.to_owned(),
            }),
            (Some(_), None) => differences.push(Difference::Unexpected {
                path: path.to_owned(),
            }),
            (Some(actual), Some(expected)) => {
                differences.extend(compare_file(path, actual, expected, &rules));
            }
            (None, None) => {}
        }
    }
    differences
}

fn compare_file(path: &str, actual: &[u8], expected: &[u8], rules: &RuleSet) -> Vec<Difference> {
    match rules.mode(path) {
        CompareMode::PathOnly => return Vec::new(),
        CompareMode::Bytes if actual == expected => return Vec::new(),
        CompareMode::Bytes => {
            return vec![Difference::Content {
                path: path.to_owned(),
                document: 0,
                fields: Vec::new(),
            }];
        }
        CompareMode::Yaml => {}
    }
    let unreadable = || {
        vec![Difference::Unreadable {
            path: path.to_owned(),
        }]
    };
    let Some(actual) = canonical::documents(path, actual, rules) else {
        return unreadable();
    };
    let Some(expected) = canonical::documents(path, expected, rules) else {
        return unreadable();
    };
    pairs(expected, actual)
        .into_iter()
        .enumerate()
        .filter_map(|(document, (mut left, mut right))| {
            canonical::match_encryption(&mut left, &mut right);
            let hide = canonical::is_secret(path, left.as_ref())
                || canonical::is_secret(path, right.as_ref());
            let mut fields = field_changes(left.as_ref(), right.as_ref());
            if hide {
                fields.iter_mut().for_each(FieldChange::hide);
            }
            (!fields.is_empty()).then(|| Difference::Content {
                path: path.to_owned(),
                document,
                fields,
            })
        })
        .collect()
}

/// Documents that belong together: those with one identity, and the rest in their order.
fn pairs(
    expected: Vec<(String, Value)>,
    actual: Vec<(String, Value)>,
) -> Vec<(Option<Value>, Option<Value>)> {
    let mut rest: Vec<Option<(String, Value)>> = actual.into_iter().map(Some).collect();
    let mut pairs: Vec<(Option<Value>, Option<Value>)> = Vec::new();
    for (identity, value) in expected {
        let partner = rest
            .iter_mut()
            .find(|candidate| {
                candidate
                    .as_ref()
                    .is_some_and(|(known, _)| *known == identity)
            })
            .and_then(Option::take);
        pairs.push((Some(value), partner.map(|(_, value)| value)));
    }
    pairs.extend(
        rest.into_iter()
            .flatten()
            .map(|(_, value)| (None, Some(value))),
    );
    pairs
}

#[cfg(test)]
mod tests;
