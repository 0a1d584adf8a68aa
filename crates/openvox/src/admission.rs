//! What may be stored: the rules of the webhooks. Whoever renders, plans or applies without a webhook asks here too.
//!
//! Each kind has a function over its typed object; references are looked up in a
//! [`Snapshot`]. An object on its way out breaks no rule: whoever takes its finalizer
//! off must not be refused, or it would stay for ever.

mod field;
mod hostname;
mod kinds;
mod url;

use std::collections::BTreeSet;

use mainstay_engine::snapshot::{Answer, Snapshot};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::field::{FieldError, Problem};
use crate::names;

/// What is to be said about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Rules that it breaks, in the order of the original.
    pub errors: Vec<FieldError>,
    /// What it may do, but should not.
    pub warnings: Vec<String>,
}

impl Verdict {
    /// What a refusal says; `None` if the object may be stored. Errors that read the same are told once.
    pub fn refusal(&self) -> Option<String> {
        let mut told = BTreeSet::new();
        let texts = self.errors.iter().map(ToString::to_string);
        let texts: Vec<String> = texts.filter(|text| told.insert(text.clone())).collect();
        match texts.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(format!("[{}]", several.join(", "))),
        }
    }
}

/// The rules of a kind.
type Rules = fn(&Value, &Check<'_>) -> Answer<Verdict>;

/// The kinds that have rules.
const RULES: [(&str, Rules); 9] = [
    ("Server", |object, check| {
        typed(object, check, kinds::server)
    }),
    ("Certificate", |object, check| {
        typed(object, check, kinds::certificate)
    }),
    ("Config", |object, check| {
        typed(object, check, kinds::config)
    }),
    ("SigningPolicy", |object, check| {
        typed(object, check, kinds::signing_policy)
    }),
    ("ReportProcessor", |object, check| {
        typed(object, check, kinds::report_processor)
    }),
    ("NodeClassifier", |object, check| {
        typed(object, check, kinds::node_classifier)
    }),
    ("CertificateAuthority", |object, check| {
        typed(object, check, kinds::certificate_authority)
    }),
    ("Pool", |object, check| typed(object, check, kinds::pool)),
    ("Database", |object, check| {
        typed(object, check, kinds::database)
    }),
];

/// Judges an object of any kind of the system; others may always be stored.
pub fn judge(object: &Value, snapshot: &dyn Snapshot) -> Answer<Verdict> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let group = text("/apiVersion").and_then(|version| version.split_once('/'));
    let is_ours = group.is_some_and(|(group, _)| group == names::GROUP);
    let is_leaving = text("/metadata/deletionTimestamp").is_some();
    let kind = text("/kind").unwrap_or_default();
    let rules = RULES.iter().find(|(ruled, _)| *ruled == kind);
    match rules {
        Some((_, rules)) if is_ours && !is_leaving => {
            let namespace = text("/metadata/namespace").unwrap_or_default();
            rules(
                object,
                &Check {
                    snapshot,
                    namespace,
                },
            )
        }
        _ => Ok(Verdict::default()),
    }
}

/// Path of the webhook of a kind, where it listens.
pub fn path(kind: &str) -> String {
    let group = names::GROUP.replace('.', "-");
    format!(
        "/validate-{group}-{}-{}",
        names::VERSION,
        kind.to_lowercase()
    )
}

/// What rules can ask.
struct Check<'check> {
    snapshot: &'check dyn Snapshot,
    namespace: &'check str,
}

/// An object that cannot be decoded was let in by another definition; its reconcile says what is wrong with it.
fn typed<T: DeserializeOwned>(
    object: &Value,
    check: &Check<'_>,
    rules: fn(&T, &Check<'_>) -> Answer<Verdict>,
) -> Answer<Verdict> {
    match T::deserialize(object) {
        Ok(object) => rules(&object, check),
        Err(_) => Ok(Verdict::default()),
    }
}

#[cfg(test)]
mod tests;
