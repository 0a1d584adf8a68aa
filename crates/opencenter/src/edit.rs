//! Changes to a config file as pure functions: text and request in, new text or findings out.
//!
//! Comments and order stay. Legacy keys are rewritten on the way. A change that would bring a new error into the file
//! is refused; errors that were there before are not in the way.

use std::collections::BTreeSet;

use mainstay_yaml::{Dialect, Editor, SourceName};
use serde_json::Value;

use crate::{
    config::{ClusterConfig, LoadOptions, Loaded, Surroundings, load, path},
    finding::{Code, Finding, Severity},
};

mod legacy;
mod service;
mod value;

pub use service::{DisableRequest, EnableRequest, disable, enable};
pub use value::{Assignment, Given};

/// A config file that is to be changed.
#[derive(Clone, Copy)]
pub struct File<'input> {
    /// The text of the file.
    pub text: &'input str,
    /// The name of the file in findings.
    pub source: &'input SourceName,
    /// Where references of the config lead.
    pub surroundings: &'input dyn Surroundings,
    /// The time for `metadata.updated_at` (RFC 3339); none leaves it alone.
    pub now: Option<&'input str>,
}

impl std::fmt::Debug for File<'_> {
    /// Without the text, which holds secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("File").field(self.source).finish()
    }
}

/// What a change did to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The service is new in the config.
    Enabled,
    /// The service was there, switched off.
    ReEnabled,
    /// The service was enabled and got new settings.
    Updated,
    /// The service was switched off.
    Disabled,
    /// Fields were set.
    Set,
}

impl Action {
    /// The word for JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::ReEnabled => "re-enabled",
            Self::Updated => "updated",
            Self::Disabled => "disabled",
            Self::Set => "set",
        }
    }
}

/// A changed config file.
#[derive(Clone, PartialEq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// What was done.
    pub action: Action,
    /// The paths whose values changed, sorted.
    pub changed_fields: Vec<String>,
    /// Services that were enabled as well, because this one needs them.
    pub enabled_dependencies: Vec<String>,
    /// Services that were disabled as well, because they need this one.
    pub disabled_dependants: Vec<String>,
    /// Warnings about the new text.
    pub findings: Vec<Finding>,
}

impl std::fmt::Debug for Edited {
    /// Without the text, which holds secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Edited")
            .field("action", &self.action)
            .field("changed_fields", &self.changed_fields)
            .finish_non_exhaustive()
    }
}

/// Sets fields of any section. With `strict`, any error in the result refuses the change, also an old one.
pub fn set(
    file: &File<'_>,
    assignments: &[Assignment],
    strict: bool,
) -> Result<Edited, Vec<Finding>> {
    let mut session = Session::start(file)?;
    for assignment in assignments {
        session.assign(assignment)?;
    }
    session.finish(Action::Set, strict)
}

/// A change in progress.
struct Session<'input> {
    file: File<'input>,
    before: Loaded,
    editor: Editor,
    changed: BTreeSet<String>,
}

impl<'input> Session<'input> {
    /// Reads the file; a locked one is not opened.
    fn start(file: &File<'input>) -> Result<Self, Vec<Finding>> {
        let before = load_text(file, file.text);
        let Some(config) = &before.config else {
            return Err(before.findings);
        };
        let meta = &config.opencenter.meta;
        if meta.locked {
            let reason = if meta.lock_reason.is_empty() {
                "no reason is given"
            } else {
                &meta.lock_reason
            };
            let path = "opencenter.meta.locked";
            let finding = Finding::new(
                Code::Oc1003,
                path,
                format!("the cluster is locked: {reason}"),
            );
            return Err(vec![
                finding
                    .in_file(file.source)
                    .at(config.origins().position(path)),
            ]);
        }
        let editor = Editor::new(Dialect::Core, file.text).map_err(|error| {
            vec![Finding::new(Code::Oc1101, "", error.to_string()).in_file(file.source)]
        })?;
        let mut session = Self {
            file: *file,
            before,
            editor,
            changed: BTreeSet::new(),
        };
        legacy::rewrite(&mut session)?;
        Ok(session)
    }

    /// The config before the change.
    fn config(&self) -> Result<&ClusterConfig, Vec<Finding>> {
        self.before
            .config
            .as_ref()
            .ok_or_else(|| self.before.findings.clone())
    }

    /// Sets a value by its path.
    fn set_value(&mut self, path: &str, value: &Value) -> Result<(), Vec<Finding>> {
        let steps = path::steps(path).unwrap_or_default();
        let keys: Vec<&str> = steps.iter().map(String::as_str).collect();
        match self.editor.set(&keys, value) {
            Ok(true) => {
                self.changed.insert(path.to_owned());
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(error) => Err(self.refuse(Code::Oc1103, path, error.to_string())),
        }
    }

    fn refuse(&self, code: Code, path: &str, message: impl Into<String>) -> Vec<Finding> {
        vec![Finding::new(code, path, message).in_file(self.file.source)]
    }

    /// Checks the result and hands it over.
    fn finish(mut self, action: Action, strict: bool) -> Result<Edited, Vec<Finding>> {
        if !self.changed.is_empty()
            && let Some(now) = self.file.now
        {
            self.set_value("metadata.updated_at", &Value::from(now))?;
            self.changed.remove("metadata.updated_at");
        }
        let after = load_text(&self.file, self.editor.text());
        let known: BTreeSet<_> = self.before.findings.iter().map(identity).collect();
        let (errors, warnings): (Vec<_>, Vec<_>) = after
            .findings
            .into_iter()
            .partition(|finding| finding.severity == Severity::Error);
        let fresh: Vec<_> = errors
            .into_iter()
            .filter(|finding| strict || !known.contains(&identity(finding)))
            .collect();
        if !fresh.is_empty() {
            return Err(fresh);
        }
        Ok(Edited {
            text: self.editor.into_text(),
            action,
            changed_fields: self.changed.into_iter().collect(),
            enabled_dependencies: Vec::new(),
            disabled_dependants: Vec::new(),
            findings: warnings,
        })
    }
}

/// What makes two findings the same although lines moved.
fn identity(finding: &Finding) -> (Code, String, String) {
    (finding.code, finding.path.clone(), finding.message.clone())
}

fn load_text(file: &File<'_>, text: &str) -> Loaded {
    load(
        text.as_bytes(),
        file.source,
        file.surroundings,
        &LoadOptions::default(),
    )
}

#[cfg(test)]
mod tests;
