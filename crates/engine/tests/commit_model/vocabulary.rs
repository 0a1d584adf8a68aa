//! The slots and budgets that scenarios are made of.

use super::{
    objects::Policy,
    scenario::{Budget, Slot, Wanted},
};

pub(crate) const APPLY: Slot = Slot::new(Wanted::Present(Policy::Apply));
pub(crate) const ONCE: Slot = Slot::new(Wanted::Present(Policy::CreateOnce));
pub(crate) const RECREATE: Slot = Slot::new(Wanted::Present(Policy::Recreate));
pub(crate) const ABSENT: Slot = Slot::new(Wanted::Absent);
pub(crate) const LEFTOVER: Slot = Slot::new(Wanted::Leftover);

/// Nothing goes wrong.
pub(crate) const QUIET: Budget = Budget {
    crashes: 0,
    losses: 0,
    lags: 0,
    intrusions: 0,
    deletions: 0,
};
/// For worlds of three objects.
pub(crate) const LIGHT: Budget = Budget {
    crashes: 1,
    intrusions: 1,
    ..QUIET
};
/// For worlds of two objects.
pub(crate) const UNEASY: Budget = Budget {
    losses: 1,
    lags: 1,
    ..LIGHT
};
/// Enough lost answers to make a step with two attempts give up.
pub(crate) const DEAF: Budget = Budget { losses: 2, ..LIGHT };
/// For worlds of one object.
pub(crate) const ROUGH: Budget = Budget {
    crashes: 2,
    losses: 2,
    lags: 2,
    intrusions: 1,
    deletions: 0,
};
