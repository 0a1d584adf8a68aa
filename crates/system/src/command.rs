//! A system for one command over files: `render`, `plan`, `apply`.

use std::fmt;

use clap::{ArgMatches, Command};
use futures::future::BoxFuture;
use kube::Client;
use mainstay_engine::{key::ObjectKey, reconciler::Rejection};
use serde_json::Value;

use crate::session::{EffectMode, SystemSession};

/// A system for the commands over files.
pub struct Commands {
    /// Adds the flags of `render` that are about this system alone.
    pub render_flags: fn(Command) -> Command,
    /// Adds the flags of `plan` and `apply` that are about this system alone.
    pub cluster_flags: fn(Command) -> Command,
    /// Whether `render` shall ask a cluster how the system is configured.
    pub render_asks_cluster: fn(&ArgMatches) -> bool,
    /// Finds out how the system is configured: in the cluster, or without one.
    pub prepare: for<'call> fn(&'call ArgMatches, Option<&'call Client>) -> Preparing<'call>,
}

/// A system that is being prepared.
pub type Preparing<'call> = BoxFuture<'call, anyhow::Result<Box<dyn Prepared>>>;

impl fmt::Debug for Commands {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Commands")
    }
}

/// A system with its settings, for one command.
pub trait Prepared: Send + Sync {
    /// What a person should know about where its settings come from: warnings, then notes.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What its admission webhooks would refuse about a resource.
    fn violations(&self, _resource: &Value) -> anyhow::Result<Vec<Violation>> {
        Ok(Vec::new())
    }

    /// Every object that resources stand for, without a cluster.
    fn render(&self, input: &RenderInput) -> Result<Vec<Value>, RenderFailure>;

    /// Fills the stores from a cluster. The namespace is that of the resources at hand, for systems whose operators can
    /// work in one alone: who may look at it may not look at all of them.
    fn open<'call>(
        &'call self,
        client: Client,
        namespace: &'call str,
        effects: EffectMode,
    ) -> BoxFuture<'call, anyhow::Result<Box<dyn SystemSession>>>;
}

/// What a webhook would refuse.
#[derive(Clone, Debug)]
pub struct Violation {
    /// JSON pointer to the field.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

/// The files of a command.
#[derive(Clone, Debug, Default)]
pub struct RenderInput {
    /// Resources of the system, in the order of applying.
    pub resources: Vec<Value>,
    /// What stands beside them, each in its namespace.
    pub others: Vec<Value>,
}

/// Why something could not be rendered.
#[derive(Clone, Debug)]
pub struct RenderFailure {
    /// The resource.
    pub key: Box<ObjectKey>,
    /// Why.
    pub reason: RenderFailureReason,
}

/// Why a resource could not be rendered.
#[derive(Clone, Debug)]
pub enum RenderFailureReason {
    /// It cannot be accepted.
    Rejected(Rejection),
    /// In the words that its condition would have.
    Stuck(String),
    /// What a field refers to is not among the files.
    Absent {
        /// JSON pointer to the field.
        pointer: &'static str,
        /// What it refers to, in a word.
        what: &'static str,
        /// The kind of what is missing.
        kind: &'static str,
    },
}
