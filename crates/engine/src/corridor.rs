//! The contract between a system and the corridor: the pure part of one controller.
//!
//! The runtime walks it in the cluster, the command line walks it over files; both call the same
//! functions, so they cannot disagree.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;

use crate::{
    change_set::ChangeSet, key::Kind, kind::DeclaredKind, object_set::ObjectSet, outcome::Outcome,
    plan::Strategy, unit::UnitFailure,
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

/// How the middle of a pass ended.
#[derive(Clone, Copy, Debug)]
pub enum End<'pass> {
    /// The input was rejected; nothing was applied.
    Rejected(&'pass Rejection),
    /// A unit could not render; nothing was applied.
    NotRendered(&'pass UnitFailure),
    /// The plan was carried out, as far as it went.
    Committed(&'pass ChangeSet),
}

/// Something worth telling on the object itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A warning, or normal news.
    pub warning: bool,
    /// `CamelCase` word.
    pub reason: &'static str,
    /// Text for people, without secrets.
    pub message: String,
}

/// What a pass has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The complete `status` that the root should have.
    pub status: Value,
    /// How the pass ended.
    pub outcome: Outcome,
    /// Events to record.
    pub notes: Vec<Note>,
}

/// The pure part of a controller for one root kind.
pub trait Corridor: Send + Sync + 'static {
    /// What `observe` gathers besides the root itself.
    type Observed: Send + Sync;
    /// Validated input that later steps need not doubt.
    type Input: Send + Sync;

    /// Name of the controller in logs and metrics.
    fn name(&self) -> &'static str;

    /// The table of kinds; the first row with role root is the root.
    fn declared(&self) -> &'static [DeclaredKind];

    /// Field manager of every write.
    fn field_manager(&self) -> &'static str;

    /// Finalizer, stages and pruning.
    fn strategy(&self) -> Strategy<'static>;

    /// What to keep of a live child besides our own fields.
    fn facts(&self, kind: &Kind, object: &Value) -> Value;

    /// Raw root and observed facts to typed input.
    fn validate(&self, root: &Value, observed: &Self::Observed) -> Result<Self::Input, Rejection>;

    /// Typed input to desired objects.
    fn render(&self, input: &Self::Input) -> Result<ObjectSet, UnitFailure>;

    /// Status, outcome and events of a pass over a root that stays.
    fn report(&self, root: &Value, end: End<'_>, now: &Time) -> Report;
}
