//! A failure on the way from value to type, before its place in the text is known.

use std::{borrow::Cow, fmt};

use serde::de;

use crate::error::{ErrorKind, quoted, shortened};
use crate::suggest::closest;

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    pub(super) fn as_pointer_step(&self) -> Cow<'_, str> {
        match self {
            Self::Key(key) => Cow::Borrowed(key),
            Self::Index(index) => Cow::Owned(index.to_string()),
        }
    }
}

/// What went wrong; the path is filled in by the containers that the error passes on its way up.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) path: Vec<Step>,
    /// The key is wrong, not its value.
    pub(super) at_key: bool,
}

impl Failure {
    fn new(kind: ErrorKind, message: String) -> Self {
        Self {
            kind,
            message,
            hint: None,
            path: Vec::new(),
            at_key: false,
        }
    }

    /// A field that the type does not have; the last step of the path is the field.
    pub(super) fn unknown_field(path: Vec<Step>, accepted: &[&str]) -> Self {
        let name = path.last().map(Step::as_pointer_step).unwrap_or_default();
        let mut failure = Self::new(
            ErrorKind::UnknownField,
            format!("unknown field {}", quoted(&name)),
        );
        failure.hint = hint(&name, accepted);
        failure.at_key = true;
        failure.path = path;
        failure
    }

    /// The same failure, seen from the container that holds the value.
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }

    /// The same failure, but about the key of the value.
    pub(super) fn at_key(mut self, key: &str) -> Self {
        self.at_key = true;
        self.inside(Step::Key(key.to_owned()))
    }
}

/// The nearest accepted name, or all of them if they are few.
fn hint(name: &str, accepted: &[&str]) -> Option<String> {
    if let Some(close) = closest(name, accepted) {
        return Some(format!("did you mean `{close}`?"));
    }
    let list: Vec<_> = accepted.iter().map(|name| format!("`{name}`")).collect();
    (1..=12)
        .contains(&list.len())
        .then(|| format!("accepted: {}", list.join(", ")))
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let one_line = message.to_string().replace(['\n', '\r'], " ");
        Self::new(ErrorKind::Type, shortened(&one_line))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let mut failure = Self::new(
            ErrorKind::UnknownField,
            format!("unknown field {}", quoted(field)),
        );
        failure.hint = hint(field, expected);
        failure
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let mut failure = Self::new(
            ErrorKind::Type,
            format!("unknown variant {}", quoted(variant)),
        );
        failure.hint = hint(variant, expected);
        failure
    }
}

/// The path as people write it: `spec.items[2].name`, unusual keys in brackets.
pub(super) fn display_path(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(index) => out.extend(["[", &index.to_string(), "]"]),
            Step::Key(key) if is_simple(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Step::Key(key) => out.extend(["[", &quoted(key), "]"]),
        }
    }
    out
}

fn is_simple(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}
