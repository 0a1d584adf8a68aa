//! What follows from a round: pure, so that every exit of a reconcile has a test.

use std::fmt;

use mainstay_engine::{change_set::ChangeSet, plan::Plan, reconciler::ReconcileEnd};

use super::RenderResult;

/// What follows from a render for which nothing had to be fetched.
pub(super) enum Next<'round> {
    /// Nothing was missing after all: somebody else fetched it meanwhile.
    Render,
    /// Values that were made up are stored before anything is made from them; then the rest is rendered anew.
    CommitFirst(Plan),
    /// The whole plan is carried out.
    Commit(Plan),
    /// What does not wait for the rest is carried out, and the report says why the rest was not.
    Stop(ReconcileEnd<'round>, &'round (dyn fmt::Display + Sync)),
}

pub(super) fn next(result: &RenderResult) -> Next<'_> {
    match result {
        RenderResult::Unknown => Next::Render,
        RenderResult::Rejected(rejection) => {
            Next::Stop(ReconcileEnd::Rejected(rejection), rejection)
        }
        RenderResult::Waiting(waiting, _) => Next::Stop(ReconcileEnd::Waiting(waiting), waiting),
        RenderResult::NotRendered(failure, _) => {
            Next::Stop(ReconcileEnd::NotRendered(failure), failure)
        }
        RenderResult::Planned(plan) => match plan.generated_first() {
            Some(first) => Next::CommitFirst(first),
            None => Next::Commit(plan.clone()),
        },
    }
}

/// Whether a commit ends the reconcile. Fields that were rendered from what no longer holds are rendered anew: of such a
/// commit only what was achieved counts.
pub(super) fn is_over(changes: &mut ChangeSet, is_all: bool) -> bool {
    let is_outdated = changes.is_outdated();
    if is_outdated {
        changes.rows.retain(|row| row.change.is_change());
    }
    let has_failed = changes.failures().next().is_some();
    has_failed || (is_all && !is_outdated)
}

#[cfg(test)]
mod tests;
