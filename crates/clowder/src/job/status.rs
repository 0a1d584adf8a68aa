//! What a reconcile has to say about an invocation.

use std::collections::BTreeMap;

use mainstay_api::clowder::{ClowdJobInvocation, ClowdJobInvocationStatus};
use mainstay_engine::{
    change_set::ChangeSet,
    conditions::Wanted,
    live::LiveView,
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, RelatedEvents, Report, ReportInput, Waiting},
    unit::UnitFailure,
};
use serde_json::Value;

use super::{
    CURRENCY_UNIT, IQE_UNIT, JOBS_UNIT, JobReconciler, naming,
    plain::{self, Obstacle},
    preconditions,
};
use crate::{
    gates::{self, grants},
    kinds, names,
    settings::Settings,
    status::{
        conditions::{self, JOBS_COMPLETE},
        failures,
    },
    views::{facts, lookup::Lookup, undecodable},
};

/// The Job was started and has not ended.
const INVOKED: &str = "Invoked";

type Jobs = BTreeMap<String, String>;
type JobReport<'render> = ReportInput<'render, JobReconciler>;

/// How a reconcile ended, apart from the status.
struct Said {
    error: Option<String>,
    outcome: Outcome,
    events: Vec<Event>,
    /// Jobs that this reconcile found started, for an invocation that did not know of any.
    started: Jobs,
}

/// Status, outcome and events of a reconcile over an invocation.
pub(super) fn report(input: &JobReport<'_>, settings: &Settings) -> Report {
    let said_before = input.root.get("status").cloned().unwrap_or(Value::Null);
    let Some(object) = input.object else {
        return undecodable::report(input, JOBS_COMPLETE, ClowdJobInvocationStatus::default());
    };
    let invocation = &object.invocation;
    let said = match input.end {
        ReconcileEnd::Waiting(hold) => held(input, invocation, hold, settings),
        ReconcileEnd::Rejected(rejection) => failed("Rejected", rejection.to_string(), None),
        ReconcileEnd::NotRendered(failure) if failure.unit == CURRENCY_UNIT => {
            return Report {
                status: said_before,
                outcome: Outcome::Again,
                events: Vec::new(),
            };
        }
        ReconcileEnd::NotRendered(failure) => not_rendered(input, invocation, failure, settings),
        ReconcileEnd::Committed(changes) => committed(invocation, changes),
    };
    let Said {
        error,
        outcome,
        mut events,
        started,
    } = said;
    let status = status(input, invocation, error, started);
    if outcome == Outcome::Success && status.completed {
        events.push(completed(invocation));
    }
    let status = serde_json::to_value(status).unwrap_or_default();
    // Everything is as it was: after a restart that is no news.
    let is_news = outcome != Outcome::Success || status != said_before;
    Report {
        status,
        outcome,
        events: if is_news { events } else { Vec::new() },
    }
}

/// Parity: that an app is not ready, or lacks a job, is told on the app.
pub(super) fn related_events(input: &JobReport<'_>, settings: &Settings) -> Option<RelatedEvents> {
    let invocation = &input.object?.invocation;
    let namespace = names::namespace(&invocation.metadata);
    let name = &invocation.spec.app_name;
    let (reason, message) = match input.end {
        ReconcileEnd::Waiting(hold) if hold.reason == gates::APP_NOT_READY => {
            (hold.reason, format!("ClowdApp [{name}] is not ready"))
        }
        ReconcileEnd::NotRendered(failure) if failure.unit == JOBS_UNIT => {
            let (job, obstacle) = obstacle(input, invocation, failure, settings)?;
            let Obstacle::NotInvocable = obstacle else {
                return None;
            };
            // Parity: the name of the job stands where that of the app should be.
            let message = format!("ClowdApp [{job}] has no job defined for that name");
            ("JobNameMissing", message)
        }
        _ => return None,
    };
    let app = Lookup::new(input.snapshot, settings)
        .app(namespace, name)
        .ok()
        .flatten()?;
    Some(RelatedEvents {
        about: kinds::app_key(namespace, name),
        uid: app.metadata.uid.clone().unwrap_or_default(),
        events: vec![warning(reason, message)],
    })
}

fn warning(reason: &'static str, message: String) -> Event {
    Event {
        warning: true,
        reason,
        message,
    }
}

fn news(reason: &'static str, message: String) -> Event {
    Event {
        warning: false,
        reason,
        message,
    }
}

fn completed(invocation: &ClowdJobInvocation) -> Event {
    let name = names::name(&invocation.metadata);
    news(
        "ClowdJobInvocationComplete",
        format!("ClowdJobInvocation [{name}] has completed all jobs"),
    )
}

/// An obstacle that the watches see go away.
fn waiting(reason: &'static str, error: String, event: Option<Event>) -> Said {
    Said {
        outcome: Outcome::Waiting { reason },
        ..failed(reason, error, event)
    }
}

fn failed(reason: &'static str, error: String, event: Option<Event>) -> Said {
    Said {
        error: Some(error),
        outcome: Outcome::Transient { reason },
        events: event.into_iter().collect(),
        started: Jobs::new(),
    }
}

fn held(
    input: &JobReport<'_>,
    invocation: &ClowdJobInvocation,
    hold: &Waiting,
    settings: &Settings,
) -> Said {
    let name = &invocation.spec.app_name;
    let message = match hold.reason {
        gates::APP_MISSING => Some(format!(
            "ClowdApp [{name}] is missing; Job cannot be invoked"
        )),
        gates::IMAGE_TAG_MISMATCH => preconditions::expected_tag(invocation).map(|tag| {
            format!("ClowdApp [{name}] does not yet have expected image tag [{tag}]; requeueing")
        }),
        gates::ENVIRONMENT_MISSING => {
            let namespace = names::namespace(&invocation.metadata);
            Lookup::new(input.snapshot, settings)
                .app(namespace, name)
                .ok()
                .flatten()
                .map(|app| {
                    let environment = &app.spec.environment_name;
                    format!("ClowdEnv [{environment}] is missing; Job cannot be invoked")
                })
        }
        grants::NOT_GRANTED | grants::NOT_SHARED | grants::NAME_TAKEN => Some(hold.message.clone()),
        _ => None,
    };
    let event = message.map(|message| warning(hold.reason, message));
    waiting(hold.reason, hold.message.clone(), event)
}

fn not_rendered(
    input: &JobReport<'_>,
    invocation: &ClowdJobInvocation,
    failure: &UnitFailure,
    settings: &Settings,
) -> Said {
    let event = if failure.unit == IQE_UNIT {
        let job = naming::tests_name(invocation);
        let message = format!("Job [{job}] failed to invoke");
        Some(warning("IQEJobFailure", message))
    } else {
        let obstacle = obstacle(input, invocation, failure, settings);
        obstacle.and_then(|(job, obstacle)| match obstacle {
            Obstacle::NotBuilt => {
                let message = format!("Job [{job}] could not be invoked");
                Some(warning("JobNotInvoked", message))
            }
            Obstacle::NotInvocable => None,
        })
    };
    waiting("JobNotInvoked", failure.source.to_string(), event)
}

/// Which job the failure of the unit is about.
fn obstacle(
    input: &JobReport<'_>,
    invocation: &ClowdJobInvocation,
    failure: &UnitFailure,
    settings: &Settings,
) -> Option<(String, Obstacle)> {
    let launch = input.input?.0.as_ref()?;
    let stage = launch.stage(invocation, settings, input.snapshot);
    let words = failure.source.to_string();
    plain::obstacle(&stage, &words).map(|(job, obstacle)| (job.to_owned(), obstacle))
}

fn committed(invocation: &ClowdJobInvocation, changes: &ChangeSet) -> Said {
    if let Some(text) = failures::text("job", changes) {
        return failed("FailedReconciliation", text, None);
    }
    let mut said = Said {
        error: None,
        outcome: Outcome::Success,
        events: Vec::new(),
        started: Jobs::new(),
    };
    if invocation.spec.disabled && !is_completed(invocation) {
        let name = names::name(&invocation.metadata);
        said.events.push(news(
            "ClowdJobInvocationDisabled",
            format!("ClowdJobInvocation [{name}] is disabled; no jobs will run"),
        ));
    }
    for row in &changes.rows {
        if row.key.kind != kinds::JOB {
            continue;
        }
        let job = &row.key.name;
        let reason = if row.unit == IQE_UNIT {
            "IQEJobInvoked"
        } else {
            "ClowdJobInvoked"
        };
        let message = format!("Job [{job}] was invoked successfully");
        said.events.push(news(reason, message));
        said.started.insert(job.clone(), INVOKED.to_owned());
    }
    said
}

fn is_completed(invocation: &ClowdJobInvocation) -> bool {
    invocation
        .status
        .as_ref()
        .is_some_and(|status| status.completed)
}

fn status(
    input: &JobReport<'_>,
    invocation: &ClowdJobInvocation,
    error: Option<String>,
    started: Jobs,
) -> ClowdJobInvocationStatus {
    let before = invocation.status.clone().unwrap_or_default();
    let uid = invocation.metadata.uid.as_deref().unwrap_or_default();
    // A list of an older version says that all was started, and nothing about what came of it.
    let known = if before.jobs.is_empty() {
        before.job_map
    } else {
        Jobs::new()
    };
    let job_map = with_ends(known.into_iter().chain(started).collect(), input.live, uid);
    let ended = job_map.values().filter(|state| *state != INVOKED).count();
    let tests = usize::from(input.object.is_some_and(|object| object.wants_tests));
    let required = invocation.spec.jobs.len() + tests;
    // What has come to its end stays there, even if somebody cleans up.
    let completed = before.completed || invocation.spec.disabled || ended >= required;
    let own = Wanted {
        r#type: JOBS_COMPLETE,
        status: conditions::truth(completed),
        reason: if completed {
            "JobsComplete"
        } else {
            "JobsIncomplete"
        },
        message: match &error {
            _ if completed => "All ClowdJob invocations complete".to_owned(),
            Some(error) => error.clone(),
            None => "Some Jobs are still incomplete".to_owned(),
        },
    };
    let generation = invocation.metadata.generation;
    ClowdJobInvocationStatus {
        completed,
        jobs: before.jobs,
        job_map,
        conditions: conditions::with_outcome(
            &before.conditions,
            [own],
            error,
            generation,
            input.now,
        ),
    }
}

/// The states of Jobs with what their Jobs say now. One that is gone keeps what it last said.
fn with_ends(mut jobs: Jobs, live: &dyn LiveView, uid: &str) -> Jobs {
    for object in live.owned_by(uid) {
        if object.key.kind == kinds::JOB
            && let Some(end) = facts::job_end(&object)
            && let Some(state) = jobs.get_mut(&object.key.name)
        {
            end.clone_into(state);
        }
    }
    jobs
}
