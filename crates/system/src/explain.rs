//! How the resources of a system are, and what they wait for.

use mainstay_engine::{
    health::{self, Health, State},
    key::ObjectKey,
};
use serde_json::Value;

/// How the resources of a system are, and what they wait for.
#[derive(Clone, Copy, Debug)]
pub struct Explain {
    /// Health of a resource.
    pub health: fn(&Value) -> Health,
    /// Another resource that one which is not well waits for, though it does not belong to it.
    pub waits_for: fn(&Value, &Health) -> Option<ObjectKey>,
    /// Whether a condition of a resource of this health speaks of trouble, and says more than its health does.
    pub is_trouble: fn(&Value, &Health) -> bool,
    /// What to do about a resource that is not well.
    pub advice: fn(&Value, &Health) -> Option<String>,
}

impl Explain {
    /// By its conditions, as those of Kubernetes itself.
    pub const BY_CONDITIONS: Self = Self {
        health: by_conditions,
        waits_for: |_, _| None,
        is_trouble: |condition, _| is_not_true(condition),
        advice: |_, _| None,
    };
}

/// Whether a condition is known not to hold.
pub fn is_not_true(condition: &Value) -> bool {
    let status = condition.get("status").and_then(Value::as_str);
    !matches!(status, Some("True" | "Unknown"))
}

/// Health of a custom resource. Its status is the word of an operator: without one nobody has looked yet.
pub fn by_conditions(root: &Value) -> Health {
    if root.get("status").is_none() && root.pointer("/metadata/deletionTimestamp").is_none() {
        return Health {
            state: State::InProgress,
            message: "no operator has looked at it yet".to_owned(),
        };
    }
    // Parity: a failure leaves observedGeneration at the last success; the conditions say what was seen.
    let conditions = root.pointer("/status/conditions").and_then(Value::as_array);
    let seen = conditions
        .into_iter()
        .flatten()
        .filter_map(|condition| condition.get("observedGeneration")?.as_i64())
        .max();
    let mut judged = root.clone();
    if let (Some(seen), Some(status)) = (seen, judged.get_mut("status")) {
        status["observedGeneration"] = Value::from(seen);
    }
    health::assess(&judged)
}
