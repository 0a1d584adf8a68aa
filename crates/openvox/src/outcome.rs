//! What follows from the way in which a reconcile ended, for all kinds.

use std::time::Duration;

use mainstay_engine::{
    change_set::{ChangeSet, Failure},
    outcome::Outcome,
    reconciler::ReconcileEnd,
};

/// When to look again at an object of somebody else that stands in our way: its removal goes unnoticed.
const FOREIGN_RECHECK: Duration = Duration::from_mins(5);

/// The outcome of a reconcile that had nothing else in mind.
pub fn of(end: ReconcileEnd<'_>) -> Outcome {
    match end {
        ReconcileEnd::Rejected(_) => Outcome::Terminal {
            reason: "Rejected",
            recheck: None,
        },
        ReconcileEnd::Waiting(waiting) => Outcome::Waiting {
            reason: waiting.reason,
        },
        // Everything that a render can stumble over is asked for, and whoever asked is woken when it changes.
        ReconcileEnd::NotRendered(_) => Outcome::Waiting {
            reason: "NotRendered",
        },
        ReconcileEnd::Committed(changes) => committed(changes),
    }
}

fn committed(changes: &ChangeSet) -> Outcome {
    let mut failures = changes.failures().map(|(_, failure)| failure).peekable();
    if failures.peek().is_none() {
        return Outcome::Success;
    }
    if failures.all(|failure| matches!(failure, Failure::Foreign { .. })) {
        return Outcome::Terminal {
            reason: "ForeignObject",
            recheck: Some(FOREIGN_RECHECK),
        };
    }
    Outcome::Transient {
        reason: "NotApplied",
    }
}

/// Whether everything was brought to the cluster.
pub fn is_complete(end: ReconcileEnd<'_>) -> bool {
    match end {
        ReconcileEnd::Committed(changes) => {
            changes.failures().next().is_none() && changes.contests().next().is_none()
        }
        ReconcileEnd::Rejected(_) | ReconcileEnd::Waiting(_) | ReconcileEnd::NotRendered(_) => {
            false
        }
    }
}
