//! RBAC rules derived from the table of declared kinds.

use serde::{Deserialize, Serialize};

use crate::kind::DeclaredKind;

/// One rule of a Role or `ClusterRole`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// API groups.
    pub api_groups: Vec<String>,
    /// Resources, or `resource/subresource`.
    pub resources: Vec<String>,
    /// Verbs.
    pub verbs: Vec<String>,
}

impl PolicyRule {
    /// A rule for one resource.
    pub fn new(group: &str, resource: &str, verbs: &[&str]) -> Self {
        Self {
            api_groups: vec![group.to_owned()],
            resources: vec![resource.to_owned()],
            verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
        }
    }
}

/// The rules that exactly cover the declared kinds, sorted by group and resource.
pub fn rules(table: &[DeclaredKind]) -> Vec<PolicyRule> {
    let mut rules: Vec<PolicyRule> = table
        .iter()
        .flat_map(|row| {
            let resource = PolicyRule::new(&row.kind.group, &row.plural, row.verbs);
            let subresources = row.subresources.iter().map(|sub| {
                PolicyRule::new(
                    &row.kind.group,
                    &format!("{}/{}", row.plural, sub.name),
                    sub.verbs,
                )
            });
            std::iter::once(resource).chain(subresources)
        })
        .collect();
    rules.sort_by(|a, b| (&a.api_groups, &a.resources).cmp(&(&b.api_groups, &b.resources)));
    rules
}
