//! Report: what the reconcile has to say on the object itself.

use std::{fmt, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use mainstay_api::kaoto::KaotoStatus;
use mainstay_engine::{
    change_set::{Change, ChangeSet, Contest, Failure, ObjectChange},
    conditions::{self as merging, Wanted},
    live::LiveObject,
    outcome::Outcome,
    plan::ENGINE_UNIT,
    reconciler::{ReconcileEnd, Rejection, Report},
};
use serde_json::Value;

use crate::{
    endpoint,
    names::{conditions, phases, reasons},
    units,
    validate::KaotoInput,
};

/// When to look again at an object of somebody else that stands in our way: its removal goes unnoticed.
const FOREIGN_RECHECK: Duration = Duration::from_mins(5);

/// Words for [`Outcome`]; stable, because metrics carry them.
mod outcomes {
    pub(super) const REJECTED: &str = "Rejected";
    pub(super) const NOT_RENDERED: &str = "NotRendered";
    pub(super) const FOREIGN_OBJECT: &str = "ForeignObject";
    pub(super) const NOT_APPLIED: &str = "NotApplied";
}

/// What a reconcile found out, before it is merged with what the object said before.
struct Findings {
    wanted: Vec<Wanted>,
    /// `None` leaves the endpoint as it was.
    endpoint: Option<String>,
    outcome: Outcome,
}

/// Status, outcome and events of a reconcile. Parity: there are no events.
pub fn report(
    root: &Value,
    input: Option<&KaotoInput>,
    end: ReconcileEnd<'_>,
    now: &Time,
) -> Report {
    let findings = match end {
        ReconcileEnd::Rejected(rejection) => rejected(rejection),
        // Nothing holds a `Kaoto` up: it refers to nothing.
        ReconcileEnd::Waiting(hold) => stopped(hold.to_string(), outcomes::NOT_RENDERED),
        ReconcileEnd::NotRendered(failure) => stopped(failure.to_string(), outcomes::NOT_RENDERED),
        ReconcileEnd::Committed(changes) if finalizer_was_contended(changes) => {
            // The object changed meanwhile, or the API could not be reached: nothing is known that is worth telling.
            return said(said_before(root), transient());
        }
        ReconcileEnd::Committed(changes) => match input {
            Some(input) => committed(input, changes),
            // Nothing is committed for what could not be read.
            None => return said(said_before(root), transient()),
        },
    };
    let outcome = findings.outcome.clone();
    said(merge(root, findings, now), outcome)
}

fn said(status: Value, outcome: Outcome) -> Report {
    Report {
        status,
        outcome,
        events: Vec::new(),
    }
}

fn rejected(rejection: &Rejection) -> Findings {
    let text = match &rejection.hint {
        Some(hint) => format!("{rejection}; {hint}"),
        None => rejection.to_string(),
    };
    let mut findings = stopped(text.clone(), outcomes::REJECTED);
    if rejection.path.starts_with("spec.ingress") {
        findings.wanted.push(failure(conditions::INGRESS, text));
    }
    findings
}

/// Nothing was applied, and nothing will be until the input changes.
fn stopped(text: String, reason: &'static str) -> Findings {
    Findings {
        wanted: vec![failure(conditions::RECONCILE, text)],
        endpoint: None,
        outcome: Outcome::Terminal {
            reason,
            recheck: None,
        },
    }
}

fn committed(input: &KaotoInput, changes: &ChangeSet) -> Findings {
    let exposure_unit = units::exposure_unit(input.cluster_type);
    let exposed = if input.exposure.is_some() {
        success(conditions::INGRESS, "True", reasons::DEPLOYED)
    } else {
        success(conditions::INGRESS, "False", reasons::NOT_REQUIRED)
    };
    let rows = [
        (
            units::SERVICE,
            success(conditions::SERVICE, "True", reasons::DEPLOYED),
        ),
        (exposure_unit, exposed),
        (
            units::DEPLOYMENT,
            success(conditions::DEPLOYMENT, "True", reasons::DEPLOYED),
        ),
    ];
    let judged = rows.into_iter().filter_map(|(unit, success)| {
        let row = changes.of_unit(unit).next()?;
        judge(row, success)
    });
    let failures = changes.failures().map(|(row, failure)| text(row, failure));
    let contests = changes.contests().map(|(row, contest)| text(row, contest));
    let texts: Vec<String> = failures.chain(contests).collect();
    let overall = if texts.is_empty() {
        success(conditions::RECONCILE, "True", reasons::RECONCILED)
    } else {
        failure(conditions::RECONCILE, texts.join("; "))
    };
    let exposure = changes
        .of_unit(exposure_unit)
        .next()
        .map(|row| Fate::of(&row.change));
    Findings {
        wanted: judged.chain([overall]).collect(),
        endpoint: match exposure {
            Some(Fate::Achieved(live)) => Some(endpoint::endpoint(input, live)),
            Some(Fate::Failed(_) | Fate::Contested(_) | Fate::NotAttempted) | None => None,
        },
        outcome: outcome(changes),
    }
}

/// The condition of one object; `None` if it was not attempted and the last word stands.
fn judge(row: &ObjectChange, success: Wanted) -> Option<Wanted> {
    match Fate::of(&row.change) {
        Fate::Achieved(_) => Some(success),
        Fate::Failed(cause) => Some(failure(success.r#type, text(row, cause))),
        Fate::Contested(contest) => Some(failure(success.r#type, text(row, contest))),
        Fate::NotAttempted => None,
    }
}

/// What became of the wish behind a row.
enum Fate<'row> {
    /// It is fulfilled; the live object, unless the wish was that there is none.
    Achieved(Option<&'row LiveObject>),
    Failed(&'row Failure),
    /// Somebody else wants it differently, and has the last word for now.
    Contested(&'row Contest),
    NotAttempted,
}

impl<'row> Fate<'row> {
    fn of(change: &'row Change) -> Self {
        match change {
            Change::Created(live) | Change::Configured(live) => Self::Achieved(Some(live)),
            Change::Unchanged(live) => Self::Achieved(live.as_deref()),
            Change::Contested(contest) => Self::Contested(contest),
            Change::Deleted | Change::Deleting => Self::Achieved(None),
            Change::Failed(failure) => Self::Failed(failure),
            Change::Skipped => Self::NotAttempted,
        }
    }
}

/// Adding the finalizer failed for a reason that the next reconcile is likely to overcome.
fn finalizer_was_contended(changes: &ChangeSet) -> bool {
    changes
        .of_unit(ENGINE_UNIT)
        .any(|row| matches!(row.change, Change::Failed(Failure::Transient { .. })))
}

fn outcome(changes: &ChangeSet) -> Outcome {
    let mut failures = changes.failures().map(|(_, failure)| failure).peekable();
    if failures.peek().is_none() {
        return Outcome::Success;
    }
    if failures.all(|failure| matches!(failure, Failure::Foreign { .. })) {
        return Outcome::Terminal {
            reason: outcomes::FOREIGN_OBJECT,
            recheck: Some(FOREIGN_RECHECK),
        };
    }
    transient()
}

/// Parity: everything that the API server did not accept is tried again, also what it refused.
const fn transient() -> Outcome {
    Outcome::Transient {
        reason: outcomes::NOT_APPLIED,
    }
}

fn text(row: &ObjectChange, cause: &dyn fmt::Display) -> String {
    format!("{}: {cause}", row.key)
}

fn success(r#type: &'static str, status: &'static str, reason: &'static str) -> Wanted {
    Wanted {
        r#type,
        status,
        reason,
        message: reason.to_owned(),
    }
}

const fn failure(r#type: &'static str, message: String) -> Wanted {
    Wanted {
        r#type,
        status: "False",
        reason: reasons::FAILURE,
        message,
    }
}

/// The complete status: what was said before, overlaid with what was found out.
fn merge(root: &Value, findings: Findings, now: &Time) -> Value {
    let text = |pointer: &str| {
        root.pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let number = |pointer: &str| root.pointer(pointer).and_then(Value::as_i64);
    let generation = number("/metadata/generation");
    // Another try would not help against somebody who changes an object back, so that is no failure; nor is it success.
    let ready = findings
        .wanted
        .iter()
        .any(|wanted| wanted.r#type == conditions::RECONCILE && wanted.status == "True");
    let status = KaotoStatus {
        phase: if ready { phases::READY } else { phases::ERROR }.to_owned(),
        conditions: merging::merge(&existing(root), &findings.wanted, generation, now),
        // Parity: the generation of the last success stays through failures.
        observed_generation: if ready {
            generation
        } else {
            number("/status/observedGeneration")
        },
        endpoint: findings.endpoint.or_else(|| text("/status/endpoint")),
    };
    serde_json::to_value(status).unwrap_or_else(|_| said_before(root))
}

/// The status that the object carries, untouched; null if it carries none.
fn said_before(root: &Value) -> Value {
    root.get("status").cloned().unwrap_or_default()
}

/// The conditions that the object carries; one that nobody can read is dropped.
fn existing(root: &Value) -> Vec<Condition> {
    let conditions = root.pointer("/status/conditions").and_then(Value::as_array);
    let readable = conditions
        .into_iter()
        .flatten()
        .filter_map(|condition| serde_json::from_value(condition.clone()).ok());
    readable.collect()
}

#[cfg(test)]
mod tests;
