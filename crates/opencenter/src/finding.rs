//! Findings: what is wrong with an input, where, and what to do about it.
//!
//! Every step of openCenter reports in this one form. A finding names its [`Code`], the YAML path, the place in the
//! file, the offending value unless it is secret, and a way out.

use std::fmt::Write as _;

use mainstay_yaml::{Position, SourceName};
use serde::Serialize;
use serde_json::{Value, json};

mod code;

pub use code::Code;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is written while this stands.
    Error,
    /// The result may not be what was meant.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word in front of the code in text output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// The part of the system that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The shape of the config file.
    Schema,
    /// Choices that do not fit the infrastructure provider.
    Provider,
    /// Repositories, Git access and overlay units.
    Gitops,
    /// Settings of services and the dependencies between them.
    Services,
    /// Secret values.
    Secrets,
    /// Overlay unit descriptors.
    Descriptor,
    /// Planning, rendering and commands that change the config.
    Render,
    /// The tree on disk.
    Tree,
}

impl Category {
    /// The word in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Provider => "provider",
            Self::Gitops => "gitops",
            Self::Services => "services",
            Self::Secrets => "secrets",
            Self::Descriptor => "descriptor",
            Self::Render => "render",
            Self::Tree => "tree",
        }
    }
}

/// One thing that is wrong, or worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// How bad it is; usually the code's own severity.
    pub severity: Severity,
    /// What it is about.
    pub category: Category,
    /// The YAML path, such as `opencenter.services.loki.storage_type`; empty for a file as a whole.
    pub path: String,
    /// The file, as the user named it.
    pub file: Option<String>,
    /// The line, starting at one.
    pub line: Option<u32>,
    /// The column in characters, starting at one.
    pub column: Option<u32>,
    /// What is wrong, without path and place.
    pub message: String,
    /// The offending value as text output shows it; never a secret.
    #[serde(skip)]
    pub got: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Finding {
    /// A finding with the severity, category and general advice of its code.
    pub fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            category: code.category(),
            path: path.into(),
            file: None,
            line: None,
            column: None,
            message: message.into(),
            got: None,
            help: Some(code.remedy().to_owned()),
        }
    }

    /// Says in which file it is.
    #[must_use]
    pub fn in_file(mut self, file: &SourceName) -> Self {
        self.file = Some(file.as_str().to_owned());
        self
    }

    /// Says where in the file it is.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.line = Some(position.line);
        self.column = Some(position.column);
        self
    }

    /// Shows the offending value. Never call this with a secret.
    #[must_use]
    pub fn got(mut self, value: impl Into<String>) -> Self {
        self.got = Some(value.into());
        self
    }

    /// Replaces the general advice of the code by something more precise.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Overrides the severity of the code.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The form for people: code and message, then place, path, value and advice, each on its own line.
    ///
    /// Ends without a newline.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "{}[{}]: {}",
            self.severity.as_str(),
            self.code,
            self.message
        );
        // Writing to a String cannot fail.
        if let Some(file) = &self.file {
            let _ = write!(out, "\n  --> {file}");
            if let (Some(line), Some(column)) = (self.line, self.column) {
                let _ = write!(out, ":{line}:{column}");
            }
        }
        if !self.path.is_empty() {
            let _ = write!(out, "\n   at {}", self.path);
        }
        if let Some(got) = &self.got {
            let _ = write!(out, "\n  got: {got}");
        }
        if let Some(help) = &self.help {
            let _ = write!(out, "\n  help: {help}");
        }
        out
    }
}

/// Sorts findings by file, line and code, so that output is the same every time.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|left, right| sort_key(left).cmp(&sort_key(right)));
}

/// Everything that orders a finding; path and message only make the order total.
fn sort_key(finding: &Finding) -> impl Ord + '_ {
    (
        finding.file.as_deref(),
        finding.line,
        finding.code,
        finding.column,
        finding.path.as_str(),
        finding.message.as_str(),
    )
}

/// Whether one of the findings forbids going on.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.severity == Severity::Error)
}

/// The JSON report: `ok`, `errors`, `warnings` (with the informational ones) and a `summary` with the counts.
pub fn to_json(findings: &[Finding]) -> Value {
    let mut sorted = findings.to_vec();
    sort(&mut sorted);
    let (errors, warnings): (Vec<_>, Vec<_>) = sorted
        .into_iter()
        .partition(|finding| finding.severity == Severity::Error);
    json!({
        "ok": errors.is_empty(),
        "summary": {"errors": errors.len(), "warnings": warnings.len()},
        "errors": errors,
        "warnings": warnings,
    })
}

/// The text report: every finding in order, a blank line between two; empty if there are none.
pub fn to_text(findings: &[Finding]) -> String {
    let mut sorted = findings.to_vec();
    sort(&mut sorted);
    let texts: Vec<_> = sorted.iter().map(Finding::to_text).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests;
