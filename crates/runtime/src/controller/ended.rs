//! The end of a reconcile: counted, logged, and turned into the time of the next one.

use std::{collections::HashMap, time::Duration};

use mainstay_engine::{
    change_set::ChangeSet, key::ObjectKey, outcome::Outcome, reconciler::Reconciler,
};

use super::Controller;
use crate::{
    metrics::{ActionLabel, ControllerLabel, QueueLabel, ReasonLabel, ResultLabel},
    queue::Next,
    reconcile::ReconcileResult,
};

/// When a root is looked at again whose change the watch has not brought.
const CONFLICT_PAUSE: Duration = Duration::from_secs(1);

impl<C: Reconciler> Controller<C> {
    /// Counts and logs the end of a reconcile and decides when the next one runs.
    pub(super) fn account(
        &self,
        said: &mut Said,
        key: &ObjectKey,
        result: Option<ReconcileResult>,
        failures: u32,
    ) -> Next {
        let controller = self.reconciler.name();
        let Some(result) = result else {
            said.forget(key);
            return Next::Settled(None);
        };
        for row in &result.changes.rows {
            let action = row.change.word();
            self.metrics
                .objects
                .get_or_create(&ActionLabel { controller, action })
                .inc();
        }
        said.log(controller, key, &result);
        let (label, next) = match &result.outcome {
            Outcome::Success => {
                let pause = result.again.unwrap_or(self.settings.resync);
                ("success", Next::Settled(Some(pause)))
            }
            Outcome::Again => ("requeue", Next::Again),
            Outcome::Pending => ("requeue", Next::Pending),
            Outcome::Waiting { .. } => (
                "requeue_after",
                Next::Settled(Some(Duration::from_secs(15))),
            ),
            Outcome::Terminal { recheck, .. } => (
                "error",
                Next::Settled(Some(recheck.unwrap_or(self.settings.resync))),
            ),
            // No failure: the watch brings the change. Whoever changes a root again and again must not slow it down.
            Outcome::Conflict => ("requeue", Next::Settled(Some(CONFLICT_PAUSE))),
            Outcome::Transient { .. } => ("error", Next::Failed),
        };
        self.metrics
            .reconcile_total
            .get_or_create(&ResultLabel {
                controller,
                result: label,
            })
            .inc();
        if label == "error" {
            self.metrics
                .reconcile_errors
                .get_or_create(&ControllerLabel { controller })
                .inc();
        }
        if matches!(result.outcome, Outcome::Terminal { .. }) {
            let label = ControllerLabel { controller };
            self.metrics.terminal_errors.get_or_create(&label).inc();
        }
        if let Outcome::Transient { reason } | Outcome::Terminal { reason, .. } = result.outcome {
            self.metrics
                .errors_by_reason
                .get_or_create(&ReasonLabel { controller, reason })
                .inc();
        }
        if next == Next::Failed && failures > 0 {
            self.metrics
                .queue_retries
                .get_or_create(&QueueLabel { name: controller })
                .inc();
        }
        next
    }

    /// What stands for the result of a reconcile that did not return.
    pub(super) fn panicked(&self) -> ReconcileResult {
        let controller = self.reconciler.name();
        let label = ControllerLabel { controller };
        self.metrics.panics.get_or_create(&label).inc();
        ReconcileResult {
            outcome: Outcome::Transient { reason: "Panicked" },
            changes: ChangeSet::default(),
            status_written: false,
            events: Vec::new(),
            regarding: None,
            related_events: None,
            again: None,
            error: Some(
                "the pass panicked; this is a defect, please report it with the log above"
                    .to_owned(),
            ),
        }
    }
}

/// What was logged last about each root that is not as declared, so that a state is logged once and not on every reconcile.
#[derive(Debug, Default)]
pub(super) struct Said {
    last: HashMap<ObjectKey, String>,
}

/// How loud the end of a reconcile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Something is wrong, and it was not said yet.
    Failed,
    /// It waits for something, which was not said yet.
    Waits,
    /// Something changed, or what was wrong is mended.
    Done,
    /// No news.
    Quiet,
}

impl Said {
    fn forget(&mut self, key: &ObjectKey) {
        self.last.remove(key);
    }

    /// Which line there is to write.
    fn line(&mut self, key: &ObjectKey, result: &ReconcileResult) -> Line {
        let changes = &result.changes.rows;
        let is_change = result.status_written || changes.iter().any(|row| row.change.is_change());
        let done = if is_change { Line::Done } else { Line::Quiet };
        let loud = match result.outcome {
            // The next reconcile is sure to come, and nothing is wrong so far.
            Outcome::Again | Outcome::Pending | Outcome::Conflict => return done,
            Outcome::Success if result.error.is_none() => {
                let was_wrong = self.last.remove(key).is_some();
                return if was_wrong { Line::Done } else { done };
            }
            Outcome::Waiting { .. } => Line::Waits,
            _ => Line::Failed,
        };
        let text = format!(
            "{} {}",
            result.outcome.label(),
            result.error.as_deref().unwrap_or_default()
        );
        let before = self.last.insert(key.clone(), text.clone());
        if before.as_ref() == Some(&text) {
            return done;
        }
        loud
    }

    fn log(&mut self, controller: &'static str, key: &ObjectKey, result: &ReconcileResult) {
        let object = key.path();
        let changes = result.changes.rows.iter();
        let changed = changes.filter(|row| row.change.is_change());
        let (outcome, error) = (result.outcome.label(), result.error.as_deref());
        let count = changed.clone().count();
        let status_written = result.status_written;
        match self.line(key, result) {
            Line::Failed => {
                tracing::warn!(controller, object, outcome, error, "Reconcile failed");
            }
            Line::Waits => {
                tracing::info!(controller, object, waits_for = error, "Waiting");
            }
            Line::Done => {
                tracing::info!(
                    controller,
                    object,
                    outcome,
                    changed = count,
                    status_written,
                    "Reconciled"
                );
            }
            Line::Quiet => {
                tracing::debug!(controller, object, outcome, error, "Reconciled");
            }
        }
        for row in changed {
            tracing::debug!(controller, object, unit = row.unit, action = row.change.word(), child = %row.key, "Changed object");
        }
    }
}

#[cfg(test)]
mod tests {
    use mainstay_engine::Kind;

    use super::*;

    fn key() -> ObjectKey {
        ObjectKey::new(Kind::new("", "v1", "Thing"), "n", "a")
    }

    fn result(outcome: Outcome, error: Option<&str>, status_written: bool) -> ReconcileResult {
        ReconcileResult {
            outcome,
            changes: ChangeSet::default(),
            status_written,
            events: Vec::new(),
            regarding: None,
            related_events: None,
            again: None,
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn a_state_is_logged_once_and_again_when_it_changes() {
        let mut said = Said::default();
        let failed =
            |text, written| result(Outcome::Transient { reason: "Failed" }, Some(text), written);
        assert_eq!(said.line(&key(), &failed("no quota", true)), Line::Failed);
        assert_eq!(said.line(&key(), &failed("no quota", false)), Line::Quiet);
        assert_eq!(said.line(&key(), &failed("no right", false)), Line::Failed);
        let success = result(Outcome::Success, None, false);
        assert_eq!(said.line(&key(), &success), Line::Done, "it is mended");
        assert_eq!(said.line(&key(), &success), Line::Quiet);
        assert_eq!(said.line(&key(), &failed("no right", false)), Line::Failed);
        said.forget(&key());
        assert!(said.last.is_empty());
    }

    #[test]
    fn waiting_is_not_failing_and_is_said_once() {
        let mut said = Said::default();
        let waits = result(
            Outcome::Waiting {
                reason: "EnvironmentMissing",
            },
            Some("no env"),
            false,
        );
        assert_eq!(said.line(&key(), &waits), Line::Waits);
        assert_eq!(said.line(&key(), &waits), Line::Quiet);
    }

    #[test]
    fn who_changes_nothing_says_nothing() {
        let mut said = Said::default();
        for outcome in [
            Outcome::Success,
            Outcome::Again,
            Outcome::Pending,
            Outcome::Conflict,
        ] {
            let quiet = result(outcome.clone(), None, false);
            assert_eq!(said.line(&key(), &quiet), Line::Quiet);
            assert_eq!(said.line(&key(), &result(outcome, None, true)), Line::Done);
        }
    }
}
