//! The ends of a reconcile, and what follows from each.

use std::time::Duration;

/// How a reconcile ended. Decides when the next one runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as declared. Next pass: on a change, or at the resync interval.
    Success,
    /// A first part is done and the rest can be rendered now. Next pass: at once.
    Again,
    /// Something is being done outside the cluster. Next reconcile: when it has ended.
    Pending,
    /// The root was changed meanwhile, so its status was not written. Next reconcile: with that change.
    Conflict,
    /// A reference or dependency is not there yet. Next pass: on a change, or soon.
    Waiting {
        /// Stable word for metrics and conditions.
        reason: &'static str,
    },
    /// Conflict, overload, network, deadline. Next pass: with exponential back-off per object.
    Transient {
        /// Stable word for metrics and conditions.
        reason: &'static str,
    },
    /// The input, or something that is not ours, stands in the way. Next pass: on a change.
    Terminal {
        /// Stable word for metrics and conditions.
        reason: &'static str,
        /// When to look again although nothing that we watch changed; a foreign object goes unnoticed.
        recheck: Option<Duration>,
    },
}

impl Outcome {
    /// Label of the outcome in metrics: one of a closed set.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Again => "again",
            Self::Pending => "pending",
            Self::Conflict => "conflict",
            Self::Waiting { .. } => "waiting",
            Self::Transient { .. } => "transient",
            Self::Terminal { .. } => "terminal",
        }
    }
}
