//! Defaults that the API server writes *inside* atomic fields.
//!
//! Outside atomic fields a defaulted value belongs to nobody and is not among the fields we own. An
//! atomic field is owned whole, so what the server adds inside must be told apart from what we wrote
//! earlier and no longer want.

use serde_json::Value;

/// Field that holds the object, defaulted field, text of the default.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("fieldRef", "apiVersion", "v1"),
    ("resourceFieldRef", "divisor", "0"),
];

/// Whether `value` in `field` of an object held by `holder` is what the server fills in by itself.
pub fn is_default(holder: &str, field: &str, value: &Value) -> bool {
    DEFAULTS
        .iter()
        .any(|&(h, f, default)| h == holder && f == field && value.as_str() == Some(default))
}
