//! Errors about fields, in the words of Kubernetes.

use std::fmt;

use mainstay_engine::{Kind, snapshot::Answer};

use super::Check;
use crate::{kinds, quote};

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Its value, as it is shown.
    Invalid(String),
    /// It is empty.
    Required,
    /// It has another value than these.
    Unsupported {
        /// The value.
        value: String,
        /// What there is.
        supported: &'static [&'static str],
    },
}

/// A rule that a field breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field: `spec.poolRefs[1]`.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// Details; empty if there are none.
    pub detail: String,
}

impl FieldError {
    /// A text that is wrong.
    pub(super) fn invalid(path: impl Into<String>, value: &str, detail: String) -> Self {
        Self {
            path: path.into(),
            problem: Problem::Invalid(quote::go(value)),
            detail,
        }
    }

    /// A number that is wrong.
    pub(super) fn invalid_number(path: &str, value: i32, detail: &str) -> Self {
        Self {
            path: path.to_owned(),
            problem: Problem::Invalid(value.to_string()),
            detail: detail.to_owned(),
        }
    }

    /// A field that must have a value.
    pub(super) fn required(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            problem: Problem::Required,
            detail: "must not be empty".to_owned(),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, detail, .. } = self;
        match &self.problem {
            Problem::Invalid(value) => {
                write!(formatter, "{path}: Invalid value: {value}: {detail}")
            }
            Problem::Required => write!(formatter, "{path}: Required value: {detail}"),
            Problem::Unsupported { value, supported } => {
                let supported: Vec<String> = supported.iter().map(|word| quote::go(word)).collect();
                let value = quote::go(value);
                let supported = supported.join(", ");
                write!(
                    formatter,
                    "{path}: Unsupported value: {value}: supported values: {supported}"
                )
            }
        }
    }
}

impl Check<'_> {
    /// An object that has to exist.
    pub(super) fn reference(
        &self,
        path: impl Into<String>,
        kind: Kind,
        name: &str,
    ) -> Answer<Option<FieldError>> {
        let shown = kind.kind.to_string();
        let key = kinds::key(kind, self.namespace, name);
        if !name.is_empty() && self.snapshot.exists(&key)? {
            return Ok(None);
        }
        let name_shown = quote::go(name);
        let detail = format!("referenced *v1alpha1.{shown} {name_shown} not found");
        Ok(Some(FieldError::invalid(path, name, detail)))
    }

    /// An object that has to exist if it is named.
    pub(super) fn optional_reference(
        &self,
        path: &str,
        kind: Kind,
        name: &str,
    ) -> Answer<Option<FieldError>> {
        match name {
            "" => Ok(None),
            name => self.reference(path, kind, name),
        }
    }
}
