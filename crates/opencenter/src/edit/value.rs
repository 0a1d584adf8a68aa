//! Values as they come from a command line: text, read by the type of the field.

use mainstay_yaml::closest;
use serde_json::Value;

use super::Session;
use crate::{
    config::{
        field::Kind,
        lookup::{Known, lookup},
    },
    finding::{Code, Finding},
};

/// A text and how it was given.
#[derive(Clone, PartialEq, Eq)]
pub enum Given {
    /// On the command line, where everybody can read it.
    Argument(String),
    /// From a file or standard input.
    Private(String),
}

impl std::fmt::Debug for Given {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("***")
    }
}

impl Given {
    fn text(&self) -> &str {
        match self {
            Self::Argument(text) | Self::Private(text) => text,
        }
    }
}

/// A path and the value it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The path, such as `opencenter.meta.region`.
    pub path: String,
    /// The value as it was given.
    pub value: Given,
}

impl Session<'_> {
    /// Sets a field from text.
    pub(super) fn assign(&mut self, assignment: &Assignment) -> Result<(), Vec<Finding>> {
        let path = assignment.path.as_str();
        let known = lookup(path).map_err(|unknown| {
            let message = format!("`{}` is unknown", unknown.step);
            let finding = Finding::new(Code::Oc1102, path, message).in_file(self.file.source);
            vec![match closest(&unknown.step, &unknown.accepted) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            }]
        })?;
        if known.is_secret() && matches!(assignment.value, Given::Argument(_)) {
            let message = "a secret must not be given on the command line";
            return Err(self.refuse(Code::Oc6013, path, message));
        }
        if path.contains('[') {
            let message = "items of lists cannot be set one by one";
            let finding = Finding::new(Code::Oc1103, path, message).in_file(self.file.source);
            return Err(vec![finding.help("set the whole list as JSON")]);
        }
        let value = read(&known, assignment.value.text()).map_err(|expected| {
            let finding = Finding::new(Code::Oc1103, path, format!("expected {expected}"));
            vec![finding.in_file(self.file.source)]
        })?;
        self.set_value(path, &value)
    }
}

/// Reads a text as the type wants it, or says what was expected. Words and formats are checked when the result is loaded.
fn read(known: &Known, text: &str) -> Result<Value, &'static str> {
    let json =
        |is_right: fn(&Value) -> bool| serde_json::from_str::<Value>(text).ok().filter(is_right);
    match known.kind() {
        Kind::Text | Kind::Choice(_) => Ok(text.into()),
        Kind::Boolean => match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err("true or false"),
        },
        Kind::Integer => text
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| "a whole number"),
        Kind::List(item) => match json(Value::is_array) {
            Some(list) => Ok(list),
            // One word is a list of one.
            None if matches!(item, Kind::Text) && !text.starts_with('[') => Ok(vec![text].into()),
            None => Err("a list as JSON"),
        },
        Kind::Object(_) | Kind::Map(_) | Kind::Services | Kind::ManagedServices | Kind::Opaque => {
            json(Value::is_object).ok_or("a mapping as JSON")
        }
        Kind::Any => Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
    }
}
