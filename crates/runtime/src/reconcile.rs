//! One walk through the reconciler for one root: validate → render → plan → commit → report.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp,
};
use mainstay_cluster::{
    cache::Cache,
    error::causes,
    root::RootObject,
    sink::{Sink, StatusError},
};
use mainstay_engine::{
    change_set::{Change, ChangeSet, Contest, Failure},
    commit::Limits,
    definition::Definition,
    key::{Kind, ObjectKey},
    live::{LiveObject, LiveView},
    outcome::Outcome,
    plan::{self, Plan},
    reconciler::{
        Event, ReconcileEnd, Reconciler, Rejection, RelatedEvents, Report, ReportInput,
        ValidateError, Waiting,
    },
    unit::{RenderError, UnitFailure},
};
use serde_json::Value;

use crate::polls::beside_others;

/// What a reconcile did.
#[derive(Debug)]
pub struct ReconcileResult {
    /// How it ended.
    pub outcome: Outcome,
    /// What became of each object.
    pub changes: ChangeSet,
    /// Whether the status was written.
    pub status_written: bool,
    /// Events to record.
    pub notes: Vec<Event>,
    /// What the events are about.
    pub regarding: Option<ObjectReference>,
    /// Events to record on another object.
    pub related_events: Option<RelatedEvents>,
    /// Text of what went wrong, for the log.
    pub error: Option<String>,
    /// When to look again although all went well: something was left as others made it.
    pub again: Option<Duration>,
}

impl ReconcileResult {
    fn new(outcome: Outcome, changes: ChangeSet) -> Self {
        Self {
            outcome,
            changes,
            status_written: false,
            notes: Vec::new(),
            regarding: None,
            related_events: None,
            error: None,
            again: None,
        }
    }
}

/// What a reconcile sees: live objects, and what its reconciler wants to know besides.
pub trait Look<O>: LiveView + Send + Sync {
    /// What was gathered besides the root and its objects.
    fn observed(&self) -> &O;

    /// Looks up what was asked for and not known. Says whether there was anything.
    fn complete(&self) -> impl Future<Output = Result<bool, String>> + Send;
}

/// Lets reconciles look.
pub trait Observe<O>: Send + Sync + 'static {
    /// A look.
    type Look: Look<O>;

    /// A look for the reconcile of one root.
    fn look(&self, root: &ObjectKey) -> Self::Look;

    /// A reconcile of a root ended; `None` if the root is gone, and with it all interest that it had.
    fn ended(&self, _root: &ObjectKey, _result: Option<&ReconcileResult>) {}
}

/// A look at the cache, for reconcilers that want to know nothing else.
#[derive(Clone, Debug)]
pub struct OwnObjects(pub Arc<Cache>);

impl LiveView for OwnObjects {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.0.get(key)
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.0.owned_by(owner_uid)
    }

    fn definition(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.0.definition(kind)
    }
}

impl Look<()> for OwnObjects {
    fn observed(&self) -> &() {
        &()
    }

    async fn complete(&self) -> Result<bool, String> {
        Ok(false)
    }
}

impl Observe<()> for OwnObjects {
    type Look = Self;

    fn look(&self, _root: &ObjectKey) -> Self {
        self.clone()
    }
}

/// Rounds of looking things up in one reconcile. More are no progress.
pub(crate) const MOST_ROUNDS: u32 = 24;

/// Tries of a status write before the reconcile counts as failed.
const STATUS_ATTEMPTS: u32 = 6;

/// What the rendered of the reconciler came to.
#[derive(Debug)]
pub enum RenderResult {
    /// There is a plan.
    Planned(Plan),
    /// The input was rejected.
    Rejected(Rejection),
    /// Its turn has not come; the plan holds no more than the finalizer.
    Waiting(Waiting, Plan),
    /// A unit failed; the plan holds the finalizer and what does not wait for that unit.
    NotRendered(UnitFailure, Plan),
    /// Something has to be looked up first.
    Unknown,
}

impl RenderResult {
    /// What would be written.
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Planned(plan) | Self::Waiting(_, plan) | Self::NotRendered(_, plan) => Some(plan),
            Self::Rejected(_) | Self::Unknown => None,
        }
    }
}

/// The pure rendered: from root and observation to a plan. The command line prints what this returns.
pub fn render<C: Reconciler>(
    reconciler: &C,
    root: &RootObject,
    observed: &C::Observed,
    live: &dyn LiveView,
) -> RenderResult {
    let strategy = reconciler.strategy();
    if root.deleting {
        return RenderResult::Planned(plan::plan_deletion(
            &root.root,
            reconciler.declared(),
            live,
            &strategy,
            &reconciler.cleanup(&root.value).objects,
        ));
    }
    let input = match reconciler.validate(&root.value, observed) {
        Ok(input) => input,
        Err(ValidateError::Rejected(rejection)) => return RenderResult::Rejected(rejection),
        Err(ValidateError::Waiting(hold)) => {
            return RenderResult::Waiting(hold, plan::plan_nothing(&root.root, &strategy));
        }
        Err(ValidateError::Unknown) => return RenderResult::Unknown,
    };
    match reconciler.render(&input) {
        Ok(set) => RenderResult::Planned(plan::plan(&root.root, &set, live, &strategy)),
        Err(failure) if matches!(failure.source, RenderError::Unknown) => RenderResult::Unknown,
        Err(failure) => {
            let early = failure.early.as_deref();
            let plan = plan::plan_early(&root.root, early, live, &strategy);
            RenderResult::NotRendered(failure, plan)
        }
    }
}

/// Walks the reconciler for a root and writes what differs.
pub async fn reconcile<C: Reconciler, B: Observe<C::Observed>>(
    reconciler: &C,
    mut root: RootObject,
    observe: &B,
    sink: &Sink,
) -> ReconcileResult {
    let now = Time(Timestamp::now());
    let mut earlier = ChangeSet::default();
    for _ in 0..MOST_ROUNDS {
        let look = observe.look(&root.root.key);
        let rendered = beside_others(&root.value, || {
            render(reconciler, &root, look.observed(), &look)
        });
        match look.complete().await {
            Ok(false) => {}
            Ok(true) => continue,
            Err(error) => return unreachable(earlier, error),
        }
        let mut notes = Vec::new();
        if let Some(plan) = rendered.plan() {
            let definitions = sink.cache.definitions();
            if definitions.complete(&sink.client, plan).await {
                continue;
            }
            definitions.concern(&root.root.key, plan);
            notes = notes_of(plan);
        }
        let conclusion = Conclusion {
            reconciler,
            look: &look,
            sink,
            now: &now,
            notes,
        };
        let planned = match rendered {
            RenderResult::Planned(plan) => plan,
            RenderResult::Rejected(rejection) => {
                let plan = plan::plan_nothing(&root.root, &reconciler.strategy());
                let end = ReconcileEnd::Rejected(&rejection);
                return conclusion.stop(root, plan, end, &rejection).await;
            }
            RenderResult::NotRendered(failure, plan) => {
                let end = ReconcileEnd::NotRendered(&failure);
                return conclusion.stop(root, plan, end, &failure).await;
            }
            RenderResult::Waiting(hold, plan) => {
                return conclusion
                    .stop(root, plan, ReconcileEnd::Waiting(&hold), &hold)
                    .await;
            }
            // Nothing was missing after all: somebody else looked it up meanwhile.
            RenderResult::Unknown => continue,
        };
        let (plan, is_all) = match planned.generated_first() {
            Some(first) => (first, false),
            None => (planned, true),
        };
        let mut changes = sink.commit(Arc::new(plan), Limits::default()).await;
        root = with_new_version(root, &changes);
        let is_outdated = changes.is_outdated();
        if is_outdated {
            changes.rows.retain(|row| row.change.is_change());
        }
        let failed = changes.failures().next().is_some();
        earlier.rows.extend(changes.rows);
        if failed || (is_all && !is_outdated) {
            return conclusion.conclude(root, earlier).await;
        }
    }
    unreachable(earlier, "what the pass needs keeps changing".to_owned())
}

/// The end of a reconcile that could not find out what it needs.
fn unreachable(changes: ChangeSet, error: String) -> ReconcileResult {
    let outcome = Outcome::Transient {
        reason: "NotObserved",
    };
    ReconcileResult {
        error: Some(error),
        ..ReconcileResult::new(outcome, changes)
    }
}

/// The second half of a reconcile.
struct Conclusion<'reconcile, C, L> {
    reconciler: &'reconcile C,
    look: &'reconcile L,
    sink: &'reconcile Sink,
    now: &'reconcile Time,
    /// What is told besides the report.
    notes: Vec<Event>,
}

impl<C: Reconciler, L: Look<C::Observed>> Conclusion<'_, C, L> {
    async fn conclude(&self, root: RootObject, changes: ChangeSet) -> ReconcileResult {
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
            let notes = if root.deleting {
                self.reconciler.cleanup(&root.value).notes
            } else {
                Vec::new()
            };
            return ReconcileResult {
                error: first_failure,
                notes,
                ..ReconcileResult::new(outcome, changes)
            };
        }
        let root = with_new_version(root, &changes);
        let mut result = self
            .report(root, ReconcileEnd::Committed(&changes), first_failure)
            .await;
        for (row, contest) in changes.contests() {
            result.notes.push(contested(&row.key, contest));
        }
        result.again = changes.contests().map(|(_, contest)| contest.pause).min();
        ReconcileResult { changes, ..result }
    }

    /// The end of a reconcile that came to no whole plan, but to the beginning of one.
    async fn stop(
        &self,
        root: RootObject,
        plan: Plan,
        end: ReconcileEnd<'_>,
        reason: &(dyn fmt::Display + Sync),
    ) -> ReconcileResult {
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
        report.notes.extend(self.notes.iter().cloned());
        let result = ReconcileResult {
            related_events,
            ..ReconcileResult::new(report.outcome.clone(), ChangeSet::default())
        };
        finish(result, root, report, error, self.sink).await
    }

    /// What there is to say about the root, and about another object.
    fn words(&self, root: &RootObject, end: ReconcileEnd<'_>) -> (Report, Option<RelatedEvents>) {
        let ending = ReportInput {
            root: &root.value,
            observed: self.look.observed(),
            live: self.look,
            end,
            now: self.now,
        };
        let related_events = self.reconciler.related_events(&ending);
        (self.reconciler.report(ending), related_events)
    }
}

/// What the render had to tell, and one event for each kind whose installed definition knows less than is written.
fn notes_of(plan: &Plan) -> Vec<Event> {
    let kinds = plan.left_out().into_iter();
    let notes = kinds.map(|(kind, fields)| {
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
    plan.notes.iter().cloned().chain(notes).collect()
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

/// Writes a status; what the network or the server spoils is tried again, as every other write of a reconcile is.
async fn write_status(root: &RootObject, status: &Value, sink: &Sink) -> Result<(), StatusError> {
    let mut pause = Duration::from_millis(50);
    for _ in 1..STATUS_ATTEMPTS {
        match sink.write_status(root, status).await {
            Err(StatusError::Api { .. }) => {}
            ended => return ended,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
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
    result.notes = report.notes;
    result.error = error;
    if *root.value.get("status").unwrap_or(&Value::Null) == report.status {
        return result;
    }
    match write_status(&root, &report.status, sink).await {
        Ok(()) => result.status_written = true,
        Err(StatusError::Conflict(key)) => {
            tracing::debug!(object = %key, "Status conflict, the object is looked at again");
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
