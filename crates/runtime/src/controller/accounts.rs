//! The end of a pass: counted, logged, and turned into the time of the next one.

use std::time::Duration;

use mainstay_engine::{
    change_set::ChangeSet, corridor::Corridor, key::ObjectKey, outcome::Outcome,
};

use super::Controller;
use crate::{
    metrics::{ActionLabel, ControllerLabel, QueueLabel, ReasonLabel, ResultLabel},
    pass::{Observe, PassResult},
    queue::Next,
};

impl<C: Corridor, B: Observe<C::Observed>> Controller<C, B> {
    /// Counts and logs the end of a pass and decides when the next one runs.
    pub(super) fn account(
        &self,
        key: &ObjectKey,
        result: Option<PassResult>,
        failures: u32,
    ) -> Next {
        let controller = self.corridor.name();
        let Some(result) = result else {
            return Next::Settled(None);
        };
        for row in &result.changes.rows {
            let action = row.change.word();
            self.metrics
                .objects
                .get_or_create(&ActionLabel { controller, action })
                .inc();
        }
        log(controller, key, &result);
        let (label, next) = match &result.outcome {
            Outcome::Success => {
                let pause = result.again.unwrap_or(self.settings.resync);
                ("success", Next::Settled(Some(pause)))
            }
            Outcome::Again => ("requeue", Next::Settled(Some(Duration::ZERO))),
            Outcome::Waiting { .. } => (
                "requeue_after",
                Next::Settled(Some(Duration::from_secs(15))),
            ),
            Outcome::Terminal { recheck, .. } => (
                "error",
                Next::Settled(Some(recheck.unwrap_or(self.settings.resync))),
            ),
            Outcome::Transient {
                reason: "StatusConflict",
            } => ("requeue", Next::Failed),
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

    /// What stands for the result of a pass that did not return.
    pub(super) fn panicked(&self) -> PassResult {
        let controller = self.corridor.name();
        let label = ControllerLabel { controller };
        self.metrics.panics.get_or_create(&label).inc();
        PassResult {
            outcome: Outcome::Transient { reason: "Panicked" },
            changes: ChangeSet::default(),
            status_written: false,
            notes: Vec::new(),
            regarding: None,
            aside: None,
            again: None,
            error: Some(
                "the pass panicked; this is a defect, please report it with the log above"
                    .to_owned(),
            ),
        }
    }
}

fn log(controller: &'static str, key: &ObjectKey, result: &PassResult) {
    let object = key.path();
    let changed = result
        .changes
        .rows
        .iter()
        .filter(|row| row.change.is_change())
        .count();
    // A pass that goes on at once has stored something, and nothing is wrong.
    let goes_on = result.outcome == Outcome::Again;
    if let Some(error) = result.error.as_ref().filter(|_| !goes_on) {
        tracing::warn!(
            controller,
            object,
            outcome = result.outcome.label(),
            error,
            "Reconcile failed"
        );
    } else {
        tracing::info!(
            controller,
            object,
            outcome = result.outcome.label(),
            changed,
            status_written = result.status_written,
            "Reconciled"
        );
    }
    for row in result
        .changes
        .rows
        .iter()
        .filter(|row| row.change.is_change())
    {
        tracing::debug!(controller, object, unit = row.unit, action = row.change.word(), child = %row.key, "Changed object");
    }
}
