//! One difference between what is wanted and what is there, fit to be shown.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::key::Kind;

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    /// Path such as `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// Value in the cluster, if we own one there.
    pub from: Option<Value>,
    /// Wanted value; `None` if the field goes.
    pub to: Option<Value>,
}

/// What stands for a secret value.
const HIDDEN: &str = "<hidden>";

impl FieldChange {
    /// Hides values that must not be shown: everything under `data` and `stringData` of a Secret, and what variables
    /// whose names say so are set to.
    #[must_use]
    pub fn redacted(mut self, kind: &Kind) -> Self {
        let secret = kind.group.is_empty() && kind.kind == "Secret";
        let in_data = self.path.starts_with("data") || self.path.starts_with("stringData");
        if secret && in_data {
            let hide = |value: Option<Value>| value.map(|_| Value::from(HIDDEN));
            self.from = hide(self.from);
            self.to = hide(self.to);
        }
        let variable = self
            .path
            .rsplit_once("[name=")
            .and_then(|(_, rest)| rest.split_once("].value"));
        if variable.is_some_and(|(name, _)| is_telling(name)) {
            self.from = self.from.map(|_| Value::from(HIDDEN));
            self.to = self.to.map(|_| Value::from(HIDDEN));
        }
        self.from.iter_mut().for_each(hide_variables);
        self.to.iter_mut().for_each(hide_variables);
        self
    }
}

/// Whether the name of a variable says that its value is nobody's business. The original writes some passwords as
/// literal values.
fn is_telling(name: &str) -> bool {
    const WORDS: [&str; 7] = [
        "PASS",
        "SECRET",
        "TOKEN",
        "CREDENTIAL",
        "ACCESS_KEY",
        "API_KEY",
        "PRIVATE_KEY",
    ];
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Hides the literal values of such variables wherever they are in a value.
fn hide_variables(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str);
            let hides = name.is_some_and(is_telling);
            if hides && let Some(literal @ Value::String(_)) = fields.get_mut("value") {
                *literal = Value::from(HIDDEN);
            }
            fields.values_mut().for_each(hide_variables);
        }
        Value::Array(items) => items.iter_mut().for_each(hide_variables),
        _ => {}
    }
}

impl fmt::Display for FieldChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => {
                write!(formatter, "{}: {} -> {}", self.path, short(from), short(to))
            }
            (None, Some(to)) => write!(formatter, "{}: + {}", self.path, short(to)),
            (Some(from), None) => write!(formatter, "{}: - {}", self.path, short(from)),
            (None, None) => write!(formatter, "{}", self.path),
        }
    }
}

/// One line of at most 120 characters.
fn short(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_secrets_are_hidden_and_those_of_config_maps_are_not() {
        let change = FieldChange {
            path: "data.password".to_owned(),
            from: Some(json!("b2xk")),
            to: Some(json!("bmV3")),
        };
        let hidden = change.clone().redacted(&Kind::new("", "v1", "Secret"));
        assert_eq!(
            hidden.to_string(),
            r#"data.password: "<hidden>" -> "<hidden>""#
        );
        let shown = change.redacted(&Kind::new("", "v1", "ConfigMap"));
        assert_eq!(shown.to_string(), r#"data.password: "b2xk" -> "bmV3""#);
    }

    #[test]
    fn literal_passwords_of_variables_are_hidden_and_other_variables_are_not() {
        let text = |path: &str, to: Value| {
            let path = path.to_owned();
            let change = FieldChange {
                path,
                from: None,
                to: Some(to),
            };
            let redacted = change.redacted(&Kind::new("apps", "v1", "Deployment"));
            redacted.to.unwrap().to_string()
        };
        let of = |name: &str| format!("spec.containers[name=db].env[name={name}].value");
        assert!(!text(&of("POSTGRESQL_ADMIN_PASSWORD"), json!("canary")).contains("canary"));
        assert!(text(&of("POSTGRESQL_DATABASE"), json!("goods")).contains("goods"));
        let env = json!([
            {"name": "POSTGRESQL_PASSWORD", "value": "canary"},
            {"name": "POSTGRESQL_USER", "value": "reader"},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "shown"}}},
        ]);
        let shown = text("spec.containers[name=db].env", env);
        assert!(!shown.contains("canary"), "{shown}");
        assert!(
            shown.contains("reader") && shown.contains("shown"),
            "{shown}"
        );
    }
}
