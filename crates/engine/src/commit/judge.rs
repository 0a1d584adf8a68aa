//! What follows from an answer: the rules by which a commit goes on with one object.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{Answer, Operation};
use crate::{
    backoff::Backoff,
    change_set::{Change, Failure},
    live::LiveObject,
    options::{ImmutableChange, Options},
    plan::{self, Action, Fixup, Step, Stops},
};

/// An object that others keep changing under our hands.
pub(super) const BUSY: &str = "was changed by somebody else again and again";
/// An object of ours that can be created anew only when it is gone.
pub(super) const DELETING: &str = "is still being deleted";

/// What follows from an answer.
pub(super) enum Next {
    Send(Operation),
    /// After this pause at least.
    Retry(Operation, Duration),
    Recreate,
    End(Change),
}

/// What a commit remembers of the way of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// The answer to a write was lost, so it may have arrived.
    pub(super) unsure: bool,
    /// An immutable field must change and the policy allows to delete and create anew.
    pub(super) recreate: bool,
}

/// Back-off inside one reconcile: short, because the reconcile itself is retried with a longer one.
pub(super) fn pause(attempts: u32) -> Duration {
    let backoff = Backoff {
        base: Duration::from_millis(50),
        cap: Duration::from_millis(3200),
    };
    backoff.pause(attempts.saturating_add(1))
}

/// Pause before an object is read again after a conflict. The first time there is none; an object that keeps changing
/// (a Deployment whose status moves during a rollout) gets more and more time to come to rest.
pub(super) fn calm(operation: &Operation, attempts: u32) -> Duration {
    if *operation != Operation::Read || attempts < 2 {
        return Duration::ZERO;
    }
    let backoff = Backoff {
        base: Duration::from_millis(25),
        cap: Duration::from_millis(6400),
    };
    backoff.pause(attempts.saturating_add(1))
}

pub(super) fn failed(message: &str) -> Change {
    Change::Failed(Failure::Transient {
        message: message.to_owned(),
    })
}

pub(super) fn update(live: &LiveObject) -> Operation {
    Operation::Update {
        uid: live.uid.clone(),
        resource_version: live.resource_version.clone(),
    }
}

pub(super) fn delete(live: &LiveObject) -> Operation {
    Operation::Delete {
        uid: live.uid.clone(),
        resource_version: live.resource_version.clone(),
    }
}

pub(super) fn after_present(
    step: &Step,
    options: Options,
    sent: &Operation,
    answer: Answer,
) -> Next {
    match (sent, answer) {
        (Operation::Create, Answer::Applied(live)) => Next::End(Change::Created(live)),
        (_, Answer::Applied(live)) => Next::End(Change::Configured(live)),
        // An object cannot be missing for a create: its namespace is.
        (Operation::Create, Answer::NotFound) => {
            let namespace = step.key.namespace.clone();
            Next::End(Change::Failed(Failure::NamespaceMissing { namespace }))
        }
        (_, Answer::NotServed) => Next::End(Change::Failed(Failure::NotServed)),
        (_, Answer::Deleting) => Next::End(failed(DELETING)),
        (Operation::Read, Answer::NotFound) | (_, Answer::Deleted | Answer::Seen(None)) => {
            Next::Send(Operation::Create)
        }
        (_, Answer::Conflict | Answer::NotFound | Answer::Seen(Some(_))) => {
            Next::Send(Operation::Read)
        }
        (Operation::Update { .. }, Answer::Immutable { .. })
            if options.immutable == ImmutableChange::Recreate =>
        {
            Next::Recreate
        }
        (_, Answer::Immutable { message } | Answer::Refused { message }) => {
            Next::End(Change::Failed(Failure::Refused { message }))
        }
        (_, Answer::Outdated) => Next::End(Change::Failed(Failure::Outdated)),
        (_, Answer::Contested(contest)) => Next::End(Change::Contested(contest)),
        (_, Answer::Transient { .. } | Answer::ServerError { .. }) => {
            Next::Retry(Operation::Read, Duration::ZERO)
        }
        (_, Answer::Later { after, .. }) => Next::Retry(Operation::Read, after),
    }
}

/// The object was read because of a conflict, a lost answer or a recreate: judge it anew.
pub(super) fn judge_seen(
    step: &Step,
    body: &Value,
    options: Options,
    live: Arc<LiveObject>,
    history: History,
) -> Next {
    if !step.claim.may_take(&live, options.adopt) {
        return Next::End(Change::Failed(Failure::Foreign {
            holder: live.holder(),
        }));
    }
    if live.deleting {
        return Next::End(failed(DELETING));
    }
    if let Some(fixup) = Fixup::of(&live, options) {
        return Next::Send(Operation::Fixup {
            uid: live.uid.clone(),
            resource_version: live.resource_version.clone(),
            fixup,
        });
    }
    if plan::differences(body, options, &live, &step.claim).is_empty() {
        // A write of this commit may have arrived although its answer did not, or a delete made room for it.
        let changed = history.unsure || history.recreate;
        return Next::End(if changed {
            Change::Configured(live)
        } else {
            Change::Unchanged(Some(live))
        });
    }
    // Somebody scaled it, say: the fields at hand would undo that.
    if live.facts != step.facts {
        return Next::End(Change::Failed(Failure::Outdated));
    }
    Next::Send(if history.recreate {
        delete(&live)
    } else {
        update(&live)
    })
}

pub(super) fn after_absent(step: &Step, answer: Answer) -> Next {
    let is_ours =
        |live: &LiveObject| step.action == Action::DeleteIfPresent || step.claim.holds(live);
    let going = || {
        Next::End(match step.stops {
            Stops::UntilGone => Change::Deleting,
            _ => Change::Deleted,
        })
    };
    match answer {
        Answer::Deleted | Answer::NotFound | Answer::Seen(None) => Next::End(Change::Deleted),
        Answer::Deleting => going(),
        Answer::Seen(Some(live)) if !is_ours(&live) => Next::End(Change::Unchanged(None)),
        Answer::Seen(Some(live)) if live.deleting => going(),
        Answer::Seen(Some(live)) => Next::Send(delete(&live)),
        Answer::Conflict | Answer::Applied(_) | Answer::Outdated | Answer::Contested(_) => {
            Next::Send(Operation::Read)
        }
        Answer::Immutable { message } | Answer::Refused { message } => {
            Next::End(Change::Failed(Failure::Refused { message }))
        }
        // A kind that is not served has no objects.
        Answer::NotServed if step.stops == Stops::UntilGone => Next::End(Change::Deleted),
        Answer::NotServed => Next::End(Change::Failed(Failure::NotServed)),
        Answer::Transient { .. } | Answer::ServerError { .. } => {
            Next::Retry(Operation::Read, Duration::ZERO)
        }
        Answer::Later { after, .. } => Next::Retry(Operation::Read, after),
    }
}

/// The root is re-read by the next reconcile, so a conflict here just ends this one.
pub(super) fn after_root(removed_last: bool, answer: Answer) -> Next {
    match answer {
        Answer::Applied(live) => Next::End(Change::Configured(live)),
        Answer::NotFound if removed_last => Next::End(Change::Deleted),
        Answer::NotFound => Next::End(failed("no longer exists")),
        Answer::Conflict
        | Answer::Deleted
        | Answer::Deleting
        | Answer::Seen(_)
        | Answer::Outdated
        | Answer::Contested(_) => Next::End(failed("was changed meanwhile")),
        Answer::Immutable { message } | Answer::Refused { message } => {
            Next::End(Change::Failed(Failure::Refused { message }))
        }
        Answer::NotServed => Next::End(Change::Failed(Failure::NotServed)),
        Answer::Transient { message }
        | Answer::Later { message, .. }
        | Answer::ServerError { message } => Next::End(failed(&message)),
    }
}
