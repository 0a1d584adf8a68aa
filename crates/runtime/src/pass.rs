//! One walk through the corridor for one root: validate → render → plan → commit → report.

use std::sync::Arc;

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_cluster::{
    error::causes,
    root::RootObject,
    sink::{Sink, StatusError},
};
use mainstay_engine::{
    change_set::{Change, ChangeSet},
    commit::Limits,
    corridor::{Corridor, End, Note, Report},
    live::LiveView,
    outcome::Outcome,
    plan::{self, Plan},
};
use serde_json::Value;

/// What a pass did.
#[derive(Debug)]
pub struct PassResult {
    /// How it ended.
    pub outcome: Outcome,
    /// What became of each object.
    pub changes: ChangeSet,
    /// Whether the status was written.
    pub status_written: bool,
    /// Events to record.
    pub notes: Vec<Note>,
    /// Text of what went wrong, for the log.
    pub error: Option<String>,
}

impl PassResult {
    fn new(outcome: Outcome, changes: ChangeSet) -> Self {
        Self {
            outcome,
            changes,
            status_written: false,
            notes: Vec::new(),
            error: None,
        }
    }
}

/// What the middle of the corridor came to.
#[derive(Debug)]
pub enum Middle {
    /// There is a plan.
    Planned(Plan),
    /// The input was rejected.
    Rejected(mainstay_engine::corridor::Rejection),
    /// A unit failed.
    NotRendered(mainstay_engine::unit::UnitFailure),
}

/// The pure middle: from root and observation to a plan. The command line prints what this returns.
pub fn middle<C: Corridor>(
    corridor: &C,
    root: &RootObject,
    observed: &C::Observed,
    live: &dyn LiveView,
) -> Middle {
    let strategy = corridor.strategy();
    if root.deleting {
        return Middle::Planned(plan::plan_deletion(
            &root.root,
            corridor.declared(),
            live,
            strategy.finalizer,
        ));
    }
    let input = match corridor.validate(&root.value, observed) {
        Ok(input) => input,
        Err(rejection) => return Middle::Rejected(rejection),
    };
    match corridor.render(&input) {
        Ok(set) => Middle::Planned(plan::plan(&root.root, &set, live, &strategy)),
        Err(failure) => Middle::NotRendered(failure),
    }
}

/// Walks the corridor for a root and writes what differs.
pub async fn run<C: Corridor>(
    corridor: &C,
    root: RootObject,
    observed: &C::Observed,
    live: &(dyn LiveView + Sync),
    sink: &Sink,
) -> PassResult {
    let now = Time(Timestamp::now());
    match middle(corridor, &root, observed, live) {
        Middle::Planned(plan) => {
            let changes = sink.commit(Arc::new(plan), Limits::default()).await;
            conclude(corridor, root, changes, sink, &now).await
        }
        Middle::Rejected(rejection) => {
            let report = corridor.report(&root.value, End::Rejected(&rejection), &now);
            let result = PassResult::new(report.outcome.clone(), ChangeSet::default());
            finish(result, root, report, Some(rejection.to_string()), sink).await
        }
        Middle::NotRendered(failure) => {
            let report = corridor.report(&root.value, End::NotRendered(&failure), &now);
            let result = PassResult::new(report.outcome.clone(), ChangeSet::default());
            finish(result, root, report, Some(failure.to_string()), sink).await
        }
    }
}

async fn conclude<C: Corridor>(
    corridor: &C,
    root: RootObject,
    changes: ChangeSet,
    sink: &Sink,
    now: &Time,
) -> PassResult {
    let first_failure = changes
        .failures()
        .next()
        .map(|(row, failure)| format!("{}: {failure}", row.key));
    if root.deleting || finalizer_failed(&root, &changes) {
        let outcome = match first_failure {
            None => Outcome::Success,
            Some(_) => Outcome::Transient {
                reason: "CommitFailed",
            },
        };
        return PassResult {
            error: first_failure,
            ..PassResult::new(outcome, changes)
        };
    }
    let root = with_new_version(root, &changes);
    let report = corridor.report(&root.value, End::Committed(&changes), now);
    let result = PassResult::new(report.outcome.clone(), changes);
    finish(result, root, report, first_failure, sink).await
}

/// Without its finalizer nothing of a root was touched, so there is nothing to report either.
fn finalizer_failed(root: &RootObject, changes: &ChangeSet) -> bool {
    changes.failures().any(|(row, _)| row.key == root.root.key)
}

/// The finalizer write made a new version of the root; the status write is guarded by it.
fn with_new_version(mut root: RootObject, changes: &ChangeSet) -> RootObject {
    let written = changes.rows.iter().find(|row| row.key == root.root.key);
    if let Some(Change::Configured(live)) = written.map(|row| &row.change) {
        root.root
            .resource_version
            .clone_from(&live.resource_version);
    }
    root
}

async fn finish(
    mut result: PassResult,
    root: RootObject,
    report: Report,
    error: Option<String>,
    sink: &Sink,
) -> PassResult {
    result.notes = report.notes;
    result.error = error;
    if *root.value.get("status").unwrap_or(&Value::Null) == report.status {
        return result;
    }
    match sink.write_status(&root, &report.status).await {
        Ok(()) => result.status_written = true,
        Err(StatusError::Conflict(key)) => {
            tracing::info!(object = %key, "Status conflict, the object is looked at again");
            result.outcome = Outcome::Transient {
                reason: "StatusConflict",
            };
        }
        Err(StatusError::Gone(_)) => {}
        Err(error) => {
            result.outcome = Outcome::Transient {
                reason: "StatusFailed",
            };
            result
                .error
                .get_or_insert_with(|| causes(&error).join(": "));
        }
    }
    result
}
