//! What a reconcile has to say about an app.

use std::sync::Arc;

use mainstay_api::clowder::{ClowdApp, ClowdAppStatus, app::AppCounts};
use mainstay_engine::{
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, Report, ReportInput, Waiting},
};
use serde_json::Value;

use super::AppReconciler;
use crate::{
    gates::{self, grants},
    names,
    providers::web::claims,
    settings::Settings,
    status::{
        conditions::{self, DEPLOYMENTS_READY, Findings},
        counts, failures,
    },
    views::{AppPlace, lookup::Lookup, summary::AppSummary, undecodable},
};

/// Status, outcome and events of a reconcile over an app.
pub(super) fn report(settings: &Settings, input: &ReportInput<'_, AppReconciler>) -> Report {
    let said_before = input.root.get("status").cloned().unwrap_or(Value::Null);
    let Some(app) = input.object else {
        return undecodable::report(input, DEPLOYMENTS_READY, ClowdAppStatus::default());
    };
    let (error, outcome, events) = match input.end {
        ReconcileEnd::Waiting(hold) => match held(app, hold) {
            Some(held) => held,
            None => {
                return Report {
                    status: said_before,
                    outcome: waiting(hold.reason),
                    events: Vec::new(),
                };
            }
        },
        ReconcileEnd::Rejected(rejection) => failed(app, rejection.to_string()),
        ReconcileEnd::NotRendered(failure) => failed(app, failure.source.to_string()),
        ReconcileEnd::Committed(changes) => match failures::text("runapp", changes) {
            Some(text) => failed(app, text),
            None => match failures::contested(changes) {
                Some(text) => (Some(text), Outcome::Success, Vec::new()),
                None => (None, Outcome::Success, vec![reconciled(app)]),
            },
        },
    };
    let events = events.into_iter().chain(namesakes(settings, input, app));
    let events = events.chain(held_paths(settings, input, app)).collect();
    Report {
        status: status(input, app, error, outcome == Outcome::Success),
        outcome,
        events,
    }
}

type Said = (Option<String>, Outcome, Vec<Event>);

/// What there is to say while an app waits; `None` if nothing.
fn held(app: &ClowdApp, hold: &Waiting) -> Option<Said> {
    let environment = &app.spec.environment_name;
    let is = |what: &str| format!("Clowder Environment [{environment}] is {what}");
    let message = match hold.reason {
        gates::ENVIRONMENT_MISSING => is("missing"),
        gates::ENVIRONMENT_NOT_RECONCILED => is("not reconciled"),
        gates::ENVIRONMENT_NOT_READY => is("not ready"),
        grants::NOT_GRANTED | grants::NOT_SHARED | grants::NAME_TAKEN => hold.message.clone(),
        _ => return None,
    };
    let event = Event {
        warning: true,
        reason: hold.reason,
        message,
    };
    Some((
        Some(hold.message.clone()),
        waiting(hold.reason),
        vec![event],
    ))
}

/// The watches tell when what it waits for is there.
const fn waiting(reason: &'static str) -> Outcome {
    Outcome::Waiting { reason }
}

fn failed(app: &ClowdApp, error: String) -> Said {
    let event = Event {
        warning: true,
        reason: "FailedReconciliation",
        message: format!("Clowdapp requeued [{}]", names::name(&app.metadata)),
    };
    let outcome = Outcome::Transient {
        reason: "FailedReconciliation",
    };
    (Some(error), outcome, vec![event])
}

fn namesakes(
    settings: &Settings,
    input: &ReportInput<'_, AppReconciler>,
    app: &ClowdApp,
) -> Option<Event> {
    let (environment, name) = (&app.spec.environment_name, names::name(&app.metadata));
    let places = Lookup::new(input.snapshot, settings).places_named(environment, name);
    Some(Event {
        warning: true,
        reason: "ClowdAppNameShared",
        message: shared_name(&places)?,
    })
}

/// What there is to say about paths that are not published: the first of them, and how many there are.
fn held_paths(
    settings: &Settings,
    input: &ReportInput<'_, AppReconciler>,
    app: &ClowdApp,
) -> Option<Event> {
    let lookup = Lookup::new(input.snapshot, settings);
    let environment = lookup.environment(&app.spec.environment_name).ok()??;
    let held = claims::held(lookup, &environment, &AppSummary::of(app));
    let count = held.len();
    let first = held.into_values().next()?;
    let message = match count {
        1 => first,
        count => format!("{first} (the first of {count} paths)"),
    };
    Some(Event {
        warning: true,
        reason: "PathHeld",
        message,
    })
}

/// What there is to say about the apps of one name in one environment, if they are several.
///
/// Parity: they share their endpoints, and who depends on the name gets those of the last. The original does not say so.
pub fn shared_name(named: &[Arc<AppPlace>]) -> Option<String> {
    let [_, .., last] = named else {
        return None;
    };
    let namespaces: Vec<&str> = named.iter().map(|app| app.namespace.as_str()).collect();
    Some(format!(
        "ClowdApp [{}] exists in namespaces [{}] of Clowder Environment [{}]; who depends on it is led to [{}]",
        last.name,
        namespaces.join(", "),
        last.environment,
        last.namespace
    ))
}

fn reconciled(app: &ClowdApp) -> Event {
    Event {
        warning: false,
        reason: "SuccessfulReconciliation",
        message: format!("Clowdapp reconciled [{}]", names::name(&app.metadata)),
    }
}

/// The status. What somebody else keeps changing back is an error to tell of, and everything else succeeded.
fn status(
    input: &ReportInput<'_, AppReconciler>,
    app: &ClowdApp,
    error: Option<String>,
    succeeded: bool,
) -> Value {
    let before = app.status.clone().unwrap_or_default();
    let uid = app.metadata.uid.as_deref().unwrap_or_default();
    let deployments = counts::deployments(input.live, uid);
    let ready = deployments.broken.is_empty();
    let generation = app.metadata.generation;
    let findings = Findings {
        error,
        ready,
        not_ready: "Deployments are not yet ready".to_owned(),
    };
    let status = ClowdAppStatus {
        deployments: if succeeded {
            AppCounts {
                managed_deployments: deployments.managed,
                ready_deployments: deployments.ready,
            }
        } else {
            before.deployments
        },
        ready,
        conditions: conditions::merge(&before.conditions, &findings, generation, input.now),
        generation: if succeeded {
            generation.unwrap_or_default()
        } else {
            before.generation
        },
    };
    serde_json::to_value(status).unwrap_or_default()
}
