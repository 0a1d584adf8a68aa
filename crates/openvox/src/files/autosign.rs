//! `autosign-policy.yaml`: which requests the authority signs at once.

use mainstay_api::openvox::SigningPolicySpec;

use super::Lines;
use crate::quote;

/// A policy with the values of its attributes.
#[derive(Clone)]
pub struct Policy<'policy> {
    /// Its name.
    pub name: &'policy str,
    /// What it asks for.
    pub spec: &'policy SigningPolicySpec,
    /// Values of its attributes, in order; some come from Secrets.
    pub values: Vec<String>,
}

impl std::fmt::Debug for Policy<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Policy").field(&self.name).finish()
    }
}

/// The file. Without policies it says that there are none, and nothing is signed at once.
pub fn autosign_policy(policies: &[Policy<'_>]) -> String {
    let mut lines = Lines::default();
    lines.line("policies:");
    for policy in policies {
        lines.line(format!("  - name: {}", policy.name));
        if policy.spec.any {
            lines.line("    any: true");
        } else {
            conditions(policy, &mut lines);
        }
    }
    lines.0
}

fn conditions(policy: &Policy<'_>, lines: &mut Lines) {
    let blocks = [
        ("pattern", &policy.spec.pattern),
        ("dnsAltNames", &policy.spec.dns_alt_names),
    ];
    for (name, block) in blocks {
        if let Some(block) = block {
            lines.line(format!("    {name}:"));
            lines.line("      allow:");
            for pattern in &block.allow {
                lines.line(format!("        - {}", quote::go(pattern)));
            }
        }
    }
    if !policy.spec.csr_attributes.is_empty() {
        lines.line("    csrAttributes:");
    }
    for (attribute, value) in policy.spec.csr_attributes.iter().zip(&policy.values) {
        lines.line(format!("      - name: {}", attribute.name));
        lines.line(format!("        value: {}", quote::go(value)));
    }
}
