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
    /// Hides values that must not be shown: everything under `data` and `stringData` of a Secret.
    #[must_use]
    pub fn redacted(mut self, kind: &Kind) -> Self {
        let secret = kind.group.is_empty() && kind.kind == "Secret";
        let in_data = self.path.starts_with("data") || self.path.starts_with("stringData");
        if secret && in_data {
            let hide = |value: Option<Value>| value.map(|_| Value::from(HIDDEN));
            self.from = hide(self.from);
            self.to = hide(self.to);
        }
        self
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
}
