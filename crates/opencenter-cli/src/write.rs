//! Words for what the tree writer answers.

use mainstay_gitops::{Error, Plan, RefusalReason};
use mainstay_opencenter::finding::{Code, Finding};
use serde_json::{Value, json};

use crate::report::Stop;

/// Findings for a tree that could not be read or written.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is the function of `map_err`"
)]
pub(crate) fn stop(error: Error) -> Stop {
    if let Error::Refused(refused) = &error {
        let findings = refused.iter().map(|refusal| {
            let (code, what) = match refusal.reason {
                RefusalReason::EditedByHand => (Code::Oc6041, "was edited by hand"),
                RefusalReason::Untracked => (Code::Oc6042, "was not written by the renderer"),
            };
            let mut finding = Finding::new(code, "", format!("`{}` {what}", refusal.path));
            finding.file = Some(refusal.path.clone());
            finding
        });
        return Stop::Findings(findings.collect());
    }
    let code = match &error {
        Error::Escape { .. } | Error::Symlink { .. } | Error::NotOurs { .. } => Code::Oc6045,
        Error::InTheWay { .. } => Code::Oc6042,
        Error::Busy { .. } => Code::Oc6040,
        Error::Ledger { .. } | Error::Journal { .. } => Code::Oc6043,
        Error::Interrupted => Code::Oc6046,
        _ => Code::Oc6044,
    };
    Finding::new(code, "", with_causes(&error)).into()
}

/// The message of an error with those of its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

/// The change summary for programs.
pub(crate) fn summary(plan: &Plan) -> Value {
    json!({
        "added": plan.added,
        "changed": plan.changed,
        "deleted": plan.deleted,
        "unchanged": plan.kept.len(),
        "prune_candidates": plan.candidates,
    })
}

/// The change summary for people, in one line.
pub(crate) fn line(plan: &Plan) -> String {
    format!(
        "{} added, {} changed, {} deleted, {} unchanged",
        plan.added.len(),
        plan.changed.len(),
        plan.deleted.len(),
        plan.kept.len()
    )
}
