//! The differences that are wanted, each with its reason.

use std::{cell::Cell, collections::BTreeMap, error::Error};

use mainstay_opencenter::overlay::parity::{Difference, path_matches};
use mainstay_yaml::{Limits, SourceName, parse_documents};
use serde::Deserialize;

/// One reason and what it explains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    reason: String,
    #[serde(default)]
    cases: Vec<String>,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    unexpected: Vec<String>,
    #[serde(default)]
    fields: BTreeMap<String, Vec<String>>,
    #[serde(skip)]
    is_used: Cell<bool>,
}

/// All reasons.
#[derive(Debug)]
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    /// The rules beside this file.
    pub(crate) fn built_in() -> Result<Self, Box<dyn Error>> {
        let text = include_str!("expected.yaml");
        let source = SourceName::new("expected.yaml");
        let document = parse_documents(text, &source, &Limits::default())?
            .into_iter()
            .next()
            .ok_or("expected.yaml is empty")?;
        Ok(Self(serde_json::from_value(document.value)?))
    }

    /// What no rule explains, a line each.
    pub(crate) fn unexplained(&self, case: &str, difference: &Difference) -> Vec<String> {
        match difference {
            Difference::Missing { path } if self.explains(case, |rule| &rule.missing, path) => {
                Vec::new()
            }
            Difference::Unexpected { path }
                if self.explains(case, |rule| &rule.unexpected, path) =>
            {
                Vec::new()
            }
            Difference::Content { path, fields, .. } => fields
                .iter()
                .filter(|field| !self.explains_field(case, path, &field.pointer))
                .map(|field| {
                    let shown = |value: &Option<serde_json::Value>| {
                        value.as_ref().map_or("-".to_owned(), ToString::to_string)
                    };
                    let (before, after) = (shown(&field.before), shown(&field.after));
                    format!("{path}\t{}\t{before}\t{after}", field.pointer)
                })
                .collect(),
            other => vec![format!("{other:?}")],
        }
    }

    /// The reasons that nothing needed.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.0.iter().filter(|rule| !rule.is_used.get());
        unused.map(|rule| rule.reason.as_str())
    }

    /// Remembers that a rule was needed.
    fn note(rule: Option<&Rule>) -> bool {
        rule.inspect(|rule| rule.is_used.set(true)).is_some()
    }

    fn of_case(&self, case: &str) -> impl Iterator<Item = &Rule> {
        self.0.iter().filter(move |rule| {
            rule.cases.is_empty() || rule.cases.iter().any(|known| known == case)
        })
    }

    fn explains(&self, case: &str, patterns: fn(&Rule) -> &[String], path: &str) -> bool {
        let fits = |rule: &&Rule| {
            patterns(rule)
                .iter()
                .any(|pattern| path_matches(pattern, path))
        };
        Self::note(self.of_case(case).find(fits))
    }

    fn explains_field(&self, case: &str, path: &str, field: &str) -> bool {
        let fits = |rule: &&Rule| {
            rule.fields.iter().any(|(file, fields)| {
                path_matches(file, path)
                    && fields.iter().any(|pattern| path_matches(pattern, field))
            })
        };
        Self::note(self.of_case(case).find(fits))
    }
}
