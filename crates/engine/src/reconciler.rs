//! The contract between a system and the reconciler: the pure part of one controller.
//!
//! The runtime walks it in the cluster, the command line walks it over files; both call the same
//! functions, so they cannot disagree.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;

use crate::{
    change_set::ChangeSet,
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind::KindTable,
    live::LiveView,
    object_set::ObjectSet,
    options::Options,
    outcome::Outcome,
    plan::Lifecycle,
    snapshot::{Snapshot, Unknown},
    unit::UnitFailure,
};

/// The input cannot be accepted. Nothing is applied until it changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Rejection {
    /// Field path: `spec.ingress.path`.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// The input is fine, but its turn has not come: something that it depends on is not there or not ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Waiting {
    /// Stable word for metrics and events.
    pub reason: &'static str,
    /// What it is waiting for.
    pub message: String,
}

/// Why there is no validated input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidateError {
    /// The input cannot be accepted.
    Rejected(Rejection),
    /// Its turn has not come.
    Waiting(Waiting),
    /// A fact is not known yet. The reconcile looks it up and validates again.
    Unknown,
}

impl From<Rejection> for ValidateError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<Waiting> for ValidateError {
    fn from(hold: Waiting) -> Self {
        Self::Waiting(hold)
    }
}

impl From<Unknown> for ValidateError {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

/// How far a reconcile came.
#[derive(Clone, Copy, Debug)]
pub enum ReconcileEnd<'reconcile> {
    /// The input was rejected; nothing was applied.
    Rejected(&'reconcile Rejection),
    /// Its turn has not come; nothing but the finalizer was applied.
    Waiting(&'reconcile Waiting),
    /// A unit could not render; nothing was applied.
    NotRendered(&'reconcile UnitFailure),
    /// The plan was carried out, as far as it went.
    Committed(&'reconcile ChangeSet),
}

/// Something worth telling on the object itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// A warning, or normal news.
    pub warning: bool,
    /// `CamelCase` word.
    pub reason: &'static str,
    /// Text for people, without secrets.
    pub message: String,
}

/// News about another object than the root, found by the reconcile of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedEvents {
    /// The object that they concern.
    pub about: ObjectKey,
    /// Its uid.
    pub uid: String,
    /// Events to record on it.
    pub events: Vec<Event>,
}

/// What goes with a root that is deleted, besides what its owner references reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleanup {
    /// Objects that are the root's by their name alone.
    pub objects: Vec<ObjectKey>,
    /// Where objects of the root may be, as an inventory says, and how they go: phase by phase. What is there and not
    /// the root's stays.
    pub places: Vec<(ObjectKey, Options)>,
    /// Events to record.
    pub events: Vec<Event>,
}

/// What a report is made from.
pub struct ReportInput<'reconcile, R: Reconciler + ?Sized> {
    /// The root as it was when the reconcile began, but for its finalizers.
    pub root: &'reconcile Value,
    /// The same, typed; `None` if it could not be.
    pub object: Option<&'reconcile R::Object>,
    /// What validation made of it; `None` if it waits or was rejected.
    pub input: Option<&'reconcile R::Input>,
    /// What is known of the cluster.
    pub snapshot: &'reconcile dyn Snapshot,
    /// Live objects, with what this reconcile made of them.
    pub live: &'reconcile dyn LiveView,
    /// How far the reconcile came.
    pub end: ReconcileEnd<'reconcile>,
    /// The time.
    pub now: &'reconcile Time,
}

impl<R: Reconciler + ?Sized> std::fmt::Debug for ReportInput<'_, R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ReportInput")
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// What the report on a root that is being deleted is made from.
pub struct DeletionInput<'reconcile> {
    /// The root as it was when the reconcile began.
    pub root: &'reconcile Value,
    /// What is known of the cluster.
    pub snapshot: &'reconcile dyn Snapshot,
    /// What became of its objects.
    pub changes: &'reconcile ChangeSet,
    /// The time.
    pub now: &'reconcile Time,
}

impl std::fmt::Debug for DeletionInput<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DeletionInput")
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

/// What a reconcile has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The complete `status` that the root should have.
    pub status: Value,
    /// How the reconcile ended.
    pub outcome: Outcome,
    /// Events to record.
    pub events: Vec<Event>,
}

impl Report {
    /// Of a root that is being deleted and whose status stays as it is.
    pub fn of_deletion(input: &DeletionInput<'_>) -> Self {
        let outcome = match input.changes.failures().next() {
            None => Outcome::Success,
            Some(_) => Outcome::Transient {
                reason: "CommitFailed",
            },
        };
        Self {
            status: input.root.get("status").cloned().unwrap_or_default(),
            outcome,
            events: Vec::new(),
        }
    }
}

/// The pure part of a controller for one root kind.
pub trait Reconciler: Send + Sync + 'static {
    /// The root, typed.
    type Object: Send + Sync;
    /// What validation adds to it; later steps need not doubt it.
    type Input: Send + Sync;

    /// Name of the controller in logs and metrics.
    fn name(&self) -> &'static str;

    /// The table of kinds of the system.
    fn declared(&self) -> KindTable;

    /// The kind that this controller is for.
    fn root_kind(&self) -> Kind;

    /// Field manager of every write.
    fn field_manager(&self) -> FieldManager;

    /// Its finalizer, and what becomes of its objects when it goes.
    fn lifecycle(&self) -> Lifecycle;

    /// What to keep of a live child besides our own fields.
    fn facts(&self, kind: &Kind, object: &Value) -> Value;

    /// From JSON to the typed root. Wrong types are found here and nowhere else.
    fn decode(&self, root: &Value) -> Result<Self::Object, Rejection>;

    /// Whether its turn has come, and with what.
    fn validate(
        &self,
        object: &Self::Object,
        snapshot: &dyn Snapshot,
    ) -> Result<Self::Input, ValidateError>;

    /// Typed input to desired objects.
    fn render(
        &self,
        object: &Self::Object,
        input: &Self::Input,
        snapshot: &dyn Snapshot,
    ) -> Result<ObjectSet, UnitFailure>;

    /// What goes with a root that is deleted. What is unknown is fetched and asked again, as in a render.
    fn cleanup(&self, _root: &Value, _snapshot: &dyn Snapshot) -> Cleanup {
        Cleanup::default()
    }

    /// Status, outcome and events of a reconcile over a root that is being deleted. There is not always somebody left to
    /// tell: a root without finalizers goes with the last write.
    fn report_deletion(&self, input: &DeletionInput<'_>) -> Report {
        Report::of_deletion(input)
    }

    /// What a reconcile has to say about another object than its root.
    fn related_events(&self, _input: &ReportInput<'_, Self>) -> Option<RelatedEvents> {
        None
    }

    /// Status, outcome and events of a reconcile over a root that stays.
    fn report(&self, input: &ReportInput<'_, Self>) -> Report;
}
