//! What both reports have in common: conditions from what was said before and what is known now.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use mainstay_engine::{
    conditions::{self, Wanted, cut},
    reconciler::Event,
};
use serde_json::Value;

/// Longest message of a condition that lists failures.
const LONGEST_LIST: usize = 4096;
/// Most objects that a message lists.
const MOST_LISTED: usize = 10;

pub(crate) const TRUE: &str = "True";
pub(crate) const FALSE: &str = "False";
pub(crate) const UNKNOWN: &str = "Unknown";
pub(crate) const READY: &str = "Ready";

/// A condition.
pub(crate) fn wanted(
    r#type: &'static str,
    status: &'static str,
    reason: &'static str,
    message: impl Into<String>,
) -> Wanted {
    Wanted {
        r#type,
        status,
        reason,
        message: message.into(),
    }
}

/// Texts in one message, as many as fit.
pub(crate) fn list(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<String> = texts.into_iter().take(MOST_LISTED).collect();
    cut(&texts.join("; "), LONGEST_LIST).to_owned()
}

/// `Ready` by the other conditions: the first that is not true says why.
pub(crate) fn ready(others: &[Wanted]) -> Wanted {
    let with = |status: &'static str| others.iter().find(|one| one.status == status);
    match with(FALSE).or_else(|| with(UNKNOWN)) {
        Some(first) => wanted(READY, first.status, first.reason, first.message.clone()),
        None => wanted(READY, TRUE, READY, ""),
    }
}

/// The conditions of a status with new ones among them.
pub(crate) fn merged(
    before: &[Condition],
    wanted: &[Wanted],
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    conditions::merge(before, wanted, generation, now)
}

pub(crate) fn normal(reason: &'static str, message: impl Into<String>) -> Event {
    Event {
        warning: false,
        reason,
        message: message.into(),
    }
}

pub(crate) fn warning(reason: &'static str, message: impl Into<String>) -> Event {
    Event {
        warning: true,
        ..normal(reason, message)
    }
}

/// A status as JSON; it consists of JSON values only.
pub(crate) fn status(status: &impl serde::Serialize) -> Value {
    serde_json::to_value(status).unwrap_or_default()
}
