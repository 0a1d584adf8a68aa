//! What a Certificate leaves behind on its authority when it is deleted.

use crate::views::SignerAuthority;

/// After this many refusals the finalizer goes anyway.
const MOST_ATTEMPTS: u32 = 5;
/// Seconds between two attempts.
const PAUSE: i64 = 15;

/// Whether the authority is to be told.
pub fn is_needed(authority: Option<&SignerAuthority>) -> bool {
    authority.is_some_and(|authority| {
        authority.spec.external.is_none() && !authority.status.signing_secret.is_empty()
    })
}

/// What follows from an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// It is tried again.
    Retry {
        /// Attempts by now, for the annotation.
        attempts: u32,
        /// Seconds until the next one.
        pause: i64,
    },
    /// The finalizer goes: a deletion never hangs for long.
    GiveUp,
}

/// After one more attempt that failed.
pub fn after_failure(attempts_before: u32) -> AfterFailure {
    match attempts_before.saturating_add(1) {
        attempts @ ..MOST_ATTEMPTS => AfterFailure::Retry {
            attempts,
            pause: PAUSE,
        },
        _ => AfterFailure::GiveUp,
    }
}
