//! One reconcile of one root: validate → render → plan → commit → report. The same function for every kind; `plan`, `render`
//! and `apply` of the command line call its parts.

mod next;
mod report;

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp,
};
use mainstay_cluster::{
    root::RootObject,
    sink::Sink,
    source::{ClusterSnapshot, Fetched, Source},
};
use mainstay_engine::{
    change_set::ChangeSet,
    commit::Limits,
    key::ObjectKey,
    outcome::Outcome,
    plan::{self, Plan},
    reconciler::{Event, Reconciler, Rejection, RelatedEvents, ValidateError, Waiting},
    snapshot::Snapshot,
    unit::{RenderError, UnitFailure},
};

use self::{
    next::{Next, next},
    report::{Conclusion, with_new_version, with_recorded},
};
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
    pub events: Vec<Event>,
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
            events: Vec::new(),
            regarding: None,
            related_events: None,
            error: None,
            again: None,
        }
    }

    /// The end of a reconcile that nobody is there for.
    pub fn impossible(error: String) -> Self {
        Self::not_observed(ChangeSet::default(), error)
    }

    /// The end of a reconcile that could not find out what it needs.
    fn not_observed(changes: ChangeSet, error: String) -> Self {
        let outcome = Outcome::Transient {
            reason: "NotObserved",
        };
        Self {
            error: Some(error),
            ..Self::new(outcome, changes)
        }
    }
}

/// Hears of the reconciles of a kind of root.
pub trait ReconcileHooks: Send + Sync + 'static {
    /// A reconcile of a root begins.
    fn began(&self, _root: &RootObject) {}

    /// A reconcile of a root ended; `None` if the root is gone.
    fn ended(&self, _root: &ObjectKey, _result: Option<&ReconcileResult>) {}
}

/// Nobody listens.
#[derive(Clone, Copy, Debug)]
pub struct NoHooks;

impl ReconcileHooks for NoHooks {}

/// Rounds of fetching in one reconcile. Each link of a chain of references costs one; more are no progress.
pub(crate) const MOST_ROUNDS: u32 = 24;

/// What validate, render and plan came to.
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
    /// Something has to be fetched first.
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

/// A render, with what validation made of the root.
#[derive(Debug)]
pub struct Rendered<R: Reconciler> {
    /// The root, typed.
    pub object: Option<R::Object>,
    /// What validation added.
    pub input: Option<R::Input>,
    /// What came of it.
    pub result: RenderResult,
}

/// The pure part: from a root and a snapshot to a plan. The command line prints what this returns.
pub fn render<R: Reconciler>(
    reconciler: &R,
    root: &RootObject,
    snapshot: &dyn Snapshot,
) -> Rendered<R> {
    let mut rendered = Rendered {
        object: None,
        input: None,
        result: RenderResult::Unknown,
    };
    let lifecycle = reconciler.lifecycle();
    if root.deleting {
        rendered.result = RenderResult::Planned(plan::plan_deletion(
            &root.root,
            &reconciler.declared(),
            snapshot,
            &lifecycle,
            &reconciler.cleanup(&root.value, snapshot),
        ));
        return rendered;
    }
    let object = match reconciler.decode(&root.value) {
        Ok(object) => rendered.object.insert(object),
        Err(rejection) => {
            rendered.result = RenderResult::Rejected(rejection);
            return rendered;
        }
    };
    let input = match reconciler.validate(object, snapshot) {
        Ok(input) => rendered.input.insert(input),
        Err(error) => {
            rendered.result = match error {
                ValidateError::Rejected(rejection) => RenderResult::Rejected(rejection),
                ValidateError::Waiting(waiting) => {
                    RenderResult::Waiting(waiting, plan::plan_nothing(&root.root, &lifecycle))
                }
                ValidateError::Unknown => RenderResult::Unknown,
            };
            return rendered;
        }
    };
    rendered.result = match reconciler.render(object, input, snapshot) {
        Ok(set) => RenderResult::Planned(plan::plan(&root.root, &set, snapshot, &lifecycle)),
        Err(failure) if matches!(failure.source, RenderError::Unknown) => RenderResult::Unknown,
        Err(failure) => {
            let early = failure.early.as_deref();
            let plan = plan::plan_early(&root.root, early, snapshot, &lifecycle);
            RenderResult::NotRendered(failure, plan)
        }
    };
    rendered
}

/// Brings what a root stands for to the cluster, and writes what differs.
pub async fn reconcile<R: Reconciler>(
    reconciler: &R,
    root: RootObject,
    source: &Arc<Source>,
    sink: &Sink,
) -> ReconcileResult {
    let snapshot = source.snapshot(&root.root.key);
    let now = Time(Timestamp::now());
    let mut root = root;
    let mut earlier = ChangeSet::default();
    for _ in 0..MOST_ROUNDS {
        let rendered = beside_others(&root.value, || render(reconciler, &root, &snapshot));
        match fetch(&snapshot, &rendered.result, sink).await {
            Ok(Fetched::Nothing) => {}
            Ok(Fetched::Something) => continue,
            Ok(Fetched::Pending) => return ReconcileResult::new(Outcome::Pending, earlier),
            Err(error) => return ReconcileResult::not_observed(earlier, error),
        }
        let conclusion = Conclusion::new(reconciler, &rendered, &snapshot, sink, &now);
        conclusion.concern(&root.root.key);
        let (plan, is_all) = match next(&rendered.result) {
            Next::Render => continue,
            Next::Stop(end, reason) => return conclusion.stop(root, end, reason).await,
            Next::CommitFirst(plan) => (plan, false),
            Next::Commit(plan) => (plan, true),
        };
        let plan = Arc::new(plan);
        let mut changes = sink.commit(plan.clone(), Limits::default()).await;
        root = with_new_version(root, &changes);
        root = with_recorded(root, &plan, &changes);
        let is_over = next::is_over(&mut changes, is_all);
        earlier.rows.extend(changes.rows);
        if is_over {
            return conclusion.conclude(root, earlier).await;
        }
    }
    let error = "what the reconcile needs keeps changing".to_owned();
    ReconcileResult::not_observed(earlier, error)
}

/// Fetches what a round asked for, and the definitions that its plan goes by.
async fn fetch(
    snapshot: &ClusterSnapshot,
    result: &RenderResult,
    sink: &Sink,
) -> Result<Fetched, String> {
    let fetched = snapshot.fetch().await?;
    if fetched == Fetched::Nothing
        && let Some(plan) = result.plan()
        && sink.cache.definitions().complete(&sink.client, plan).await
    {
        return Ok(Fetched::Something);
    }
    Ok(fetched)
}
