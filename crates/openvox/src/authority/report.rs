//! What the reconcile of a CertificateAuthority has to say.

use mainstay_engine::{
    change_set::Change,
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, Report, ReportInput},
};

use super::{
    reconciler::{AuthorityReconciler, Internal, Known, NO_CONFIG},
    setup::Setup,
    signing::{self, Signing},
    status::{self, State},
};
use crate::{kinds, outcome};

/// Status, outcome and events.
pub(super) fn report(input: &ReportInput<'_, AuthorityReconciler>) -> Report {
    let Some(authority) = input.object else {
        return Report {
            status: input.root.get("status").cloned().unwrap_or_default(),
            outcome: outcome::of(input.end),
            events: Vec::new(),
        };
    };
    let name = &authority.seen.name;
    let (state, outcome) = match input.input {
        Some(known) if outcome::is_complete(input.end) => state(name, known),
        _ => (State::Waiting, outcome::of(input.end)),
    };
    let (status, mut events) = status::status(&authority.status, name, &state, input.now);
    events.extend(further_events(name, input.end));
    Report {
        status: serde_json::to_value(status).unwrap_or_default(),
        outcome,
        events,
    }
}

fn state(name: &str, known: &Known) -> (State, Outcome) {
    let internal = match known {
        Known::Internal(internal) => internal,
        Known::External {
            url,
            secret,
            not_after,
        } => {
            let state = State::External {
                url: url.clone(),
                secret: secret.clone(),
                not_after: *not_after,
            };
            return (state, Outcome::Success);
        }
    };
    let waiting = |reason| Outcome::Waiting { reason };
    if internal.setup != Setup::Done {
        return (State::Initializing, waiting("SettingUp"));
    }
    let server = internal.server.as_ref().map(|server| server.name.as_str());
    let Internal {
        signing,
        is_signing_stored,
        not_after,
        ..
    } = **internal;
    let state = State::Ready {
        not_after,
        signing,
        signing_secret: signing::secret_name(name, signing, is_signing_stored, server),
    };
    let outcome = match (not_after, signing) {
        (None, _) => waiting("CertificateUnreadable"),
        (Some(_), Signing::Active) => Outcome::Success,
        (Some(_), Signing::Create | Signing::Waiting) => waiting("WaitingForSigning"),
    };
    (state, outcome)
}

fn further_events(name: &str, end: ReconcileEnd<'_>) -> Option<Event> {
    match end {
        ReconcileEnd::Waiting(waiting) if waiting.reason == NO_CONFIG => {
            Some(status::waiting_for_config(name))
        }
        ReconcileEnd::Committed(changes) => {
            let mut rows = changes.rows.iter();
            let made = rows.any(|row| {
                row.key.kind.is_like(&kinds::CERTIFICATE)
                    && matches!(row.change, Change::Created(_))
            });
            made.then(|| status::created_signing(name))
        }
        _ => None,
    }
}
