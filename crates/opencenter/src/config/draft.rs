//! A config on its way from text to type: the value as it stands, where things came from, what was found.

use std::sync::Arc;

use mainstay_yaml::Document;
use serde_json::Value;

use super::origin::Origins;
use crate::finding::Finding;

/// A config on its way from text to type.
pub(crate) struct Draft {
    pub(crate) value: Value,
    pub(crate) origins: Origins,
    pub(crate) findings: Vec<Finding>,
}

impl Draft {
    pub(crate) fn new(document: Document) -> Self {
        Self {
            value: document.value.clone(),
            origins: Origins::new(Arc::new(document)),
            findings: Vec::new(),
        }
    }

    /// Adds a finding about a value, with its place.
    pub(crate) fn report(&mut self, finding: Finding) {
        let position = self.origins.position(&finding.path);
        self.push(finding.at(position));
    }

    /// Adds a finding about a key, with its place.
    pub(crate) fn report_at_key(&mut self, finding: Finding) {
        let position = self.origins.key_position(&finding.path);
        self.push(finding.at(position));
    }

    fn push(&mut self, finding: Finding) {
        let file = self.origins.document().source_name().clone();
        self.findings.push(finding.in_file(&file));
    }
}
