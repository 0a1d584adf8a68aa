//! The end of a reconcile: what there is to say, and the status that says it.

use std::{fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use mainstay_cluster::{
    error::causes,
    root::RootObject,
    sink::{Sink, StatusError},
};
use mainstay_engine::{
    backoff::Backoff,
    change_set::{Change, ChangeSet, Contest, Failure, ObjectChange},
    commit::Limits,
    key::ObjectKey,
    outcome::Outcome,
    plan::{self, Plan},
    reconciler::{
        DeletionInput, Event, ReconcileEnd, Reconciler, RelatedEvents, Report, ReportInput,
    },
    snapshot::Snapshot,
};
use serde_json::{Map, Value};

use super::{ReconcileResult, Rendered};

/// Tries of a status write before the reconcile counts as failed.
const STATUS_ATTEMPTS: u32 = 6;

/// The second half of a reconcile.
pub(super) struct Conclusion<'reconcile, R: Reconciler> {
    reconciler: &'reconcile R,
    rendered: &'reconcile Rendered<R>,
    snapshot: &'reconcile dyn Snapshot,
    sink: &'reconcile Sink,
    now: &'reconcile Time,
    /// What is told besides the report.
    events: Vec<Event>,
}

impl<'reconcile, R: Reconciler> Conclusion<'reconcile, R> {
    pub(super) fn new(
        reconciler: &'reconcile R,
        rendered: &'reconcile Rendered<R>,
        snapshot: &'reconcile dyn Snapshot,
        sink: &'reconcile Sink,
        now: &'reconcile Time,
    ) -> Self {
        let plan = rendered.result.plan();
        Self {
            reconciler,
            rendered,
            snapshot,
            sink,
            now,
            events: plan.map_or_else(Vec::new, events_of),
        }
    }

    /// The root is looked at again when a definition that its plan goes by changes.
    pub(super) fn concern(&self, root: &ObjectKey) {
        if let Some(plan) = self.rendered.result.plan() {
            self.sink.cache.definitions().concern(root, plan);
        }
    }

    pub(super) async fn conclude(&self, root: RootObject, changes: ChangeSet) -> ReconcileResult {
        let first_failure = changes
            .failures()
            .next()
            .map(|(row, failure)| format!("{}: {failure}", row.key));
        if root.deleting {
            return self.conclude_deletion(root, changes, first_failure).await;
        }
        if finalizer_failed(&root, &changes) {
            let outcome = Outcome::Transient {
                reason: "CommitFailed",
            };
            return ReconcileResult {
                error: first_failure,
                ..ReconcileResult::new(outcome, changes)
            };
        }
        let root = with_new_version(root, &changes);
        let end = ReconcileEnd::Committed(&changes);
        let mut result = self.report(root, end, first_failure).await;
        for (row, contest) in changes.contests() {
            result.events.push(contested(&row.key, contest));
        }
        result.again = changes.contests().map(|(_, contest)| contest.pause).min();
        ReconcileResult { changes, ..result }
    }

    /// The end of a reconcile over a root that is being deleted. Who has let it go has nobody to tell any more.
    async fn conclude_deletion(
        &self,
        root: RootObject,
        changes: ChangeSet,
        error: Option<String>,
    ) -> ReconcileResult {
        let input = DeletionInput {
            root: &root.value,
            snapshot: self.snapshot,
            changes: &changes,
            now: self.now,
        };
        let mut report = self.reconciler.report_deletion(&input);
        let cleanup = self.reconciler.cleanup(&root.value, self.snapshot);
        report.events.splice(0..0, cleanup.events);
        let is_released = |row: &ObjectChange| {
            let achieved = matches!(row.change, Change::Configured(_) | Change::Deleted);
            row.key == root.root.key && achieved
        };
        if changes.rows.iter().any(is_released) {
            report.status = root.value.get("status").cloned().unwrap_or_default();
        }
        let result = ReconcileResult::new(report.outcome.clone(), changes);
        finish(result, root, report, error, self.sink).await
    }

    /// The end of a reconcile that came to no whole plan, but to the beginning of one.
    pub(super) async fn stop(
        &self,
        root: RootObject,
        end: ReconcileEnd<'_>,
        reason: &(dyn fmt::Display + Sync),
    ) -> ReconcileResult {
        let plan = match self.rendered.result.plan() {
            Some(plan) => plan.clone(),
            None => plan::plan_nothing(&root.root, &self.reconciler.lifecycle()),
        };
        let changes = self.sink.commit(Arc::new(plan), Limits::default()).await;
        if spoils_the_end(&changes) {
            return self.conclude(root, changes).await;
        }
        let root = with_new_version(root, &changes);
        let result = self.report(root, end, Some(reason.to_string())).await;
        ReconcileResult { changes, ..result }
    }

    /// Writes the status if it differs.
    async fn report(
        &self,
        root: RootObject,
        end: ReconcileEnd<'_>,
        error: Option<String>,
    ) -> ReconcileResult {
        let (mut report, related_events) = self.words(&root, end);
        report.events.extend(self.events.iter().cloned());
        let result = ReconcileResult {
            related_events,
            ..ReconcileResult::new(report.outcome.clone(), ChangeSet::default())
        };
        finish(result, root, report, error, self.sink).await
    }

    /// What there is to say about the root, and about another object.
    fn words(&self, root: &RootObject, end: ReconcileEnd<'_>) -> (Report, Option<RelatedEvents>) {
        let input = ReportInput {
            root: &root.value,
            object: self.rendered.object.as_ref(),
            input: self.rendered.input.as_ref(),
            snapshot: self.snapshot,
            live: self.snapshot,
            end,
            now: self.now,
        };
        let related = self.reconciler.related_events(&input);
        (self.reconciler.report(&input), related)
    }
}

/// What the render had to tell, and one event for each kind whose installed definition knows less than is written.
fn events_of(plan: &Plan) -> Vec<Event> {
    let kinds = plan.left_out().into_iter();
    let events = kinds.map(|(kind, fields)| {
        let fields: Vec<&str> = fields.into_iter().collect();
        Event {
            warning: true,
            reason: "FieldsLeftOut",
            message: format!(
                "The installed definition of {kind} ({}) does not declare {}, so it was left out; install a newer \
                 definition to have it written",
                kind.api_version(),
                fields.join(", "),
            ),
        }
    });
    plan.events.iter().cloned().chain(events).collect()
}

/// The event about an object that two writers want differently.
fn contested(key: &ObjectKey, contest: &Contest) -> Event {
    Event {
        warning: true,
        reason: "Contested",
        message: format!("{key} {contest}; from now on it is put right once a minute"),
    }
}

/// Whether writes failed before what the reconcile has to report could have come about. Objects of others do not count: they
/// were there all the time.
fn spoils_the_end(changes: &ChangeSet) -> bool {
    changes
        .failures()
        .any(|(_, failure)| !matches!(failure, Failure::Foreign { .. }))
}

/// Without its finalizer nothing of a root was touched, so there is nothing to report either.
fn finalizer_failed(root: &RootObject, changes: &ChangeSet) -> bool {
    changes.failures().any(|(row, _)| row.key == root.root.key)
}

/// What was recorded first is part of the status now; what the report adds is compared with it.
pub(super) fn with_recorded(mut root: RootObject, plan: &Plan, changes: &ChangeSet) -> RootObject {
    let Some(Value::Object(recorded)) = plan.recorded(changes) else {
        return root;
    };
    if let Some(fields) = root.value.as_object_mut() {
        let status = fields.entry("status").or_insert(Value::Null);
        if !status.is_object() {
            *status = Value::Object(Map::new());
        }
        if let Some(status) = status.as_object_mut() {
            status.extend(recorded.clone());
        }
    }
    root
}

/// The writes to the root itself made a new version of it; the status write is guarded by it.
pub(super) fn with_new_version(mut root: RootObject, changes: &ChangeSet) -> RootObject {
    let of_root = changes.rows.iter().filter(|row| row.key == root.root.key);
    let mut written = of_root.filter_map(|row| match &row.change {
        Change::Configured(live) => Some(live),
        _ => None,
    });
    if let Some(live) = written.next_back() {
        root.root
            .resource_version
            .clone_from(&live.resource_version);
    }
    root
}

/// Writes a status; what the network or the server spoils is tried again, as every other write of a reconcile is.
async fn write_status(root: &RootObject, status: &Value, sink: &Sink) -> Result<(), StatusError> {
    for attempt in 1..STATUS_ATTEMPTS {
        match sink.write_status(root, status).await {
            Err(StatusError::Api { .. }) => {}
            ended => return ended,
        }
        tokio::time::sleep(Backoff::SHORT.pause(attempt)).await;
    }
    sink.write_status(root, status).await
}

async fn finish(
    mut result: ReconcileResult,
    root: RootObject,
    report: Report,
    error: Option<String>,
    sink: &Sink,
) -> ReconcileResult {
    result.events = report.events;
    result.error = error;
    if *root.value.get("status").unwrap_or(&Value::Null) == report.status {
        return result;
    }
    match write_status(&root, &report.status, sink).await {
        Ok(()) => result.status_written = true,
        Err(StatusError::Conflict(key)) => {
            tracing::debug!(object = %key, "Status conflict, the object is looked at again");
            result.outcome = Outcome::Conflict;
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
