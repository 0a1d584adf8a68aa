//! Objects that their types do not fit, which only a laxer definition than ours lets into the store. Nothing is done
//! for them; a condition says which field is wrong and what to do.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use mainstay_engine::{
    conditions::Wanted,
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, Reconciler, Report, ReportInput},
};
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};

use crate::status::conditions;

/// The report of a reconcile over such an object. `own` is the condition of its kind besides the two about the outcome, of
/// which nothing is known; `empty` is the least that its status has to say.
pub fn report<R: Reconciler>(
    input: &ReportInput<'_, R>,
    own: &'static str,
    empty: impl Serialize,
) -> Report {
    let text = match input.end {
        ReconcileEnd::Rejected(rejection) => match &rejection.hint {
            Some(hint) => format!("{rejection}; {hint}"),
            None => rejection.to_string(),
        },
        _ => "the object cannot be read".to_owned(),
    };
    let unknown = [Wanted {
        r#type: own,
        status: "Unknown",
        reason: "NotRead",
        message: text.clone(),
    }];
    let generation = input
        .root
        .pointer("/metadata/generation")
        .and_then(Value::as_i64);
    let merged = conditions::with_outcome(
        &existing(input.root),
        unknown,
        Some(text.clone()),
        generation,
        input.now,
    );
    let mut status = serde_json::to_value(empty).unwrap_or_default();
    if let Some(fields) = status.as_object_mut() {
        let known = input.root.get("status").and_then(Value::as_object);
        fields.extend(known.cloned().unwrap_or_default());
        fields.insert("conditions".to_owned(), json!(merged));
    }
    Report {
        status,
        outcome: Outcome::Terminal {
            reason: "Rejected",
            recheck: None,
        },
        events: vec![Event {
            warning: true,
            reason: "FailedReconciliation",
            message: text,
        }],
    }
}

/// The conditions that are there and can be read.
fn existing(root: &Value) -> Vec<Condition> {
    let conditions = root.pointer("/status/conditions").and_then(Value::as_array);
    let conditions = conditions.into_iter().flatten();
    conditions
        .filter_map(|condition| Condition::deserialize(condition).ok())
        .collect()
}
