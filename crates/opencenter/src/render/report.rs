//! Why each file is there, and why others are not. Holds no content, so no secrets.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    descriptor::{Lifecycle, Registry},
    finding::Finding,
    overlay::{ActionKind, Decision, OverlayTree},
};

use super::plan::Plan;

/// One descriptor and what was decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescriptorReport {
    /// The descriptor.
    pub name: String,
    /// Whether it is rendered.
    pub enabled: bool,
    /// The field that decided, in words.
    pub reason: String,
    /// The service that it belongs to; `cluster` if to none.
    pub owner: String,
    /// The branch of the tree.
    pub layer: &'static str,
}

/// One file of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionReport {
    /// The descriptor.
    pub owner: String,
    /// The path.
    pub output: String,
    /// What kind of file it is.
    pub kind: ActionKind,
    /// Whether the file is written in this run.
    pub rendered: bool,
    /// Whether it must be encrypted.
    pub sensitive: bool,
    /// What let it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Decision>,
}

/// One file that stayed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedReport {
    /// The descriptor.
    pub owner: String,
    /// The path that it would have.
    pub output: String,
    /// What kept it out.
    pub condition: Decision,
}

/// The diagnostics of a render.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The cluster.
    pub cluster: String,
    /// One decision for each descriptor.
    pub descriptors: Vec<DescriptorReport>,
    /// The files.
    pub actions: Vec<ActionReport>,
    /// Files that a condition kept out.
    pub skipped: Vec<SkippedReport>,
    /// Templates without a descriptor; always empty, because such a registry is refused.
    pub undeclared: Vec<String>,
    /// What is worth knowing: code, path and message.
    pub warnings: Vec<WarningReport>,
}

/// A warning without its place in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningReport {
    /// The code.
    pub code: String,
    /// The YAML path.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Report {
    pub(super) fn new(
        tree: &OverlayTree,
        plan: &Plan<'_>,
        mut skipped: Vec<SkippedReport>,
        registry: &Registry,
    ) -> Self {
        skipped.sort_by(|left, right| left.output.cmp(&right.output));
        let descriptors = plan.units().iter().map(|unit| {
            let descriptor = &unit.descriptor;
            let is_bootstrap = registry
                .get(&descriptor.name)
                .is_some_and(|known| known.lifecycle == Lifecycle::Bootstrap);
            DescriptorReport {
                name: descriptor.name.clone(),
                enabled: unit.is_active,
                reason: if is_bootstrap {
                    "written by flux bootstrap".to_owned()
                } else {
                    unit.decision.to_string()
                },
                owner: descriptor.owner.service().unwrap_or("cluster").to_owned(),
                layer: descriptor.layer.as_str(),
            }
        });
        let actions = tree.files.iter().map(|(path, file)| ActionReport {
            owner: file.owner.clone(),
            output: path.clone(),
            kind: file.kind,
            rendered: true,
            sensitive: file.sensitivity.is_some(),
            condition: file.condition.clone(),
        });
        Self {
            cluster: tree.cluster.clone(),
            descriptors: descriptors.collect(),
            actions: actions.collect(),
            skipped,
            undeclared: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn set_warnings(&mut self, findings: &[Finding]) {
        let warnings = findings.iter().map(|finding| WarningReport {
            code: finding.code.to_string(),
            path: finding.path.clone(),
            message: finding.message.clone(),
        });
        self.warnings = warnings.collect();
    }

    /// The report for people: what would be written and what not; with `explain` also why, and the same of units.
    pub fn to_text(&self, explain: bool) -> String {
        // Writing to a String cannot fail.
        let mut out = String::new();
        for unit in self.descriptors.iter().filter(|_| explain) {
            let state = if unit.enabled { "on" } else { "off" };
            let _ = writeln!(out, "unit {} is {state}: {}", unit.name, unit.reason);
        }
        for action in &self.actions {
            let secret = if action.sensitive { " [secret]" } else { "" };
            let _ = write!(out, "+ {} ({}){secret}", action.output, action.owner);
            match &action.condition {
                Some(condition) => {
                    let _ = write!(out, ": {condition}");
                }
                None if explain => out.push_str(": always part of its unit"),
                None => {}
            }
            out.push('\n');
        }
        for skipped in &self.skipped {
            let SkippedReport {
                owner,
                output,
                condition,
            } = skipped;
            let _ = writeln!(out, "- {output} ({owner}): {condition}");
        }
        out
    }
}
