//! One predicate over the effective config; there are no combinators on purpose.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::overlay::Decision;

/// How a field is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Its text equals a value.
    Equals,
    /// It is there and not the empty value of its type.
    Exists,
    /// It is the boolean true.
    True,
    /// It is the boolean false.
    False,
}

impl Operator {
    /// The word in descriptors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::Exists => "exists",
            Self::True => "true",
            Self::False => "false",
        }
    }
}

/// A predicate that passed its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The full dotted path from the root of the config.
    pub field: String,
    /// How it is asked.
    pub operator: Operator,
    /// What it is compared with, for [`Operator::Equals`].
    pub value: Option<String>,
}

impl Condition {
    /// The predicate "this field is true".
    pub fn is_true(field: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            operator: Operator::True,
            value: None,
        }
    }

    /// Answers for a config. An absent field and a field of the wrong type answer no.
    pub fn holds(&self, config: &Value) -> bool {
        let found = lookup(config, &self.field);
        match self.operator {
            Operator::Equals => found
                .and_then(scalar_text)
                .is_some_and(|text| Some(&text) == self.value.as_ref()),
            Operator::Exists => found.is_some_and(|value| !is_empty(value)),
            Operator::True => found == Some(&Value::Bool(true)),
            Operator::False => found == Some(&Value::Bool(false)),
        }
    }

    /// The answer together with the question.
    pub fn decide(&self, config: &Value) -> Decision {
        Decision {
            field: self.field.clone(),
            operator: self.operator.as_str(),
            value: self.value.clone(),
            result: self.holds(config),
        }
    }
}

/// Finds a value by its dotted path. Map keys may hold hyphens, but no dots.
pub(crate) fn lookup<'v>(config: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(config, |value, step| value.as_object()?.get(step))
}

/// The text of a scalar: numbers in shortest form, booleans as words.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

/// Writes the short forms out: `services.x` for `opencenter.services.x`, `managed-service.x` likewise.
pub(crate) fn expand_shorthand(field: &str) -> String {
    let managed = field
        .strip_prefix("managed-service.")
        .or_else(|| field.strip_prefix("opencenter.managed-service."));
    match managed {
        Some(rest) => format!("opencenter.managed_services.{rest}"),
        None if field.starts_with("services.") || field.starts_with("managed_services.") => {
            format!("opencenter.{field}")
        }
        None => field.to_owned(),
    }
}

/// A condition as it stands in a file; every part may be missing or wrong.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct RawCondition {
    pub(crate) field: Option<String>,
    #[serde(default, deserialize_with = "word")]
    pub(crate) operator: Option<String>,
    #[serde(default, deserialize_with = "word")]
    pub(crate) value: Option<String>,
    #[serde(default, deserialize_with = "word")]
    pub(crate) is: Option<String>,
}

/// Accepts any scalar, because YAML makes a boolean of an unquoted `operator: true`.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => scalar_text(&value)
            .map(Some)
            .ok_or_else(|| serde::de::Error::custom("expected one word")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn condition(operator: Operator, field: &str, value: Option<&str>) -> Condition {
        Condition {
            field: field.to_owned(),
            operator,
            value: value.map(str::to_owned),
        }
    }

    #[test]
    fn equals_compares_the_text_of_scalars() {
        let config = json!({"a": {"n": 3, "b": true, "s": "x", "l": [1]}});
        for (field, value) in [("a.n", "3"), ("a.b", "true"), ("a.s", "x")] {
            assert!(condition(Operator::Equals, field, Some(value)).holds(&config));
            assert!(!condition(Operator::Equals, field, Some("other")).holds(&config));
        }
        assert!(!condition(Operator::Equals, "a.l", Some("1")).holds(&config));
        assert!(!condition(Operator::Equals, "a.none", Some("")).holds(&config));
    }

    #[test]
    fn exists_refuses_the_empty_value_of_every_type() {
        let config = json!({"s": "", "n": 0, "b": false, "l": [], "m": {}, "z": null, "full": [1]});
        for field in ["s", "n", "b", "l", "m", "z", "none"] {
            assert!(
                !condition(Operator::Exists, field, None).holds(&config),
                "{field}"
            );
        }
        assert!(condition(Operator::Exists, "full", None).holds(&config));
    }

    #[test]
    fn true_and_false_want_booleans() {
        let config = json!({"t": true, "f": false, "word": "true"});
        assert!(condition(Operator::True, "t", None).holds(&config));
        assert!(!condition(Operator::True, "word", None).holds(&config));
        assert!(condition(Operator::False, "f", None).holds(&config));
        assert!(!condition(Operator::False, "none", None).holds(&config));
    }

    #[test]
    fn short_forms_are_written_out() {
        assert_eq!(expand_shorthand("services.x.y"), "opencenter.services.x.y");
        assert_eq!(
            expand_shorthand("managed-service.x.y"),
            "opencenter.managed_services.x.y"
        );
        assert_eq!(
            expand_shorthand("opencenter.meta.env"),
            "opencenter.meta.env"
        );
    }
}
