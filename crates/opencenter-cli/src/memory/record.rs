//! One remembered render, as it is stored.

use std::path::PathBuf;

use mainstay_gitops::{Footprint, Plan};
use mainstay_opencenter::finding::{Code, Finding, Severity};
use serde::{Deserialize, Serialize};

use super::{Note, inputs::KeyFile};

/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// One remembered render: nothing had to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    version: u32,
    /// Digest of everything that the render read, besides the tree and the keys.
    pub(super) inputs: String,
    pub(super) keys: Vec<KeyFile>,
    pub(super) repository: PathBuf,
    pub(super) cluster: String,
    /// Digest of how the tree looked.
    pub(super) tree: String,
    pub(super) candidates: Vec<String>,
    warnings: Vec<Told>,
}

/// A finding as it was told; secrets never are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    code: u16,
    is_warning: bool,
    path: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    message: String,
    got: Option<String>,
    help: Option<String>,
}

impl Record {
    pub(super) fn new(note: &Note, tree: &Footprint, plan: &Plan, warnings: &[Finding]) -> Self {
        Self {
            version: VERSION,
            inputs: note.inputs.clone(),
            keys: note.keys.clone(),
            repository: note.repository.clone(),
            cluster: note.overlay.cluster().to_owned(),
            tree: tree.digest().to_owned(),
            candidates: plan.candidates.clone(),
            warnings: warnings.iter().map(Told::new).collect(),
        }
    }

    /// None if it is not a record of ours.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(bytes).ok()?;
        (record.version == VERSION).then_some(record)
    }

    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// The findings that the render came with.
    pub(super) fn warnings(&self) -> Option<Vec<Finding>> {
        self.warnings.iter().map(Told::finding).collect()
    }
}

impl Told {
    fn new(finding: &Finding) -> Self {
        Self {
            code: finding.code.number(),
            is_warning: finding.severity == Severity::Warning,
            path: finding.path.clone(),
            file: finding.file.clone(),
            line: finding.line,
            column: finding.column,
            message: finding.message.clone(),
            got: finding.got.clone(),
            help: finding.help.clone(),
        }
    }

    fn finding(&self) -> Option<Finding> {
        let code = Code::from_number(self.code)?;
        let mut finding = Finding::new(code, self.path.as_str(), self.message.as_str());
        finding.severity = if self.is_warning {
            Severity::Warning
        } else {
            Severity::Info
        };
        finding.file.clone_from(&self.file);
        finding.line = self.line;
        finding.column = self.column;
        finding.got.clone_from(&self.got);
        finding.help.clone_from(&self.help);
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_back_as_they_were() {
        let finding = Finding::new(Code::Oc6009, "opencenter.services", "no service is active")
            .severity(Severity::Info)
            .got("none")
            .help("enable one");
        assert_eq!(Told::new(&finding).finding(), Some(finding));
    }

    #[test]
    fn what_is_not_a_record_is_passed_over() {
        for bytes in ["", "{", "null", "{\"version\":1}", "\u{0}"] {
            assert!(Record::from_bytes(bytes.as_bytes()).is_none(), "{bytes}");
        }
    }
}
