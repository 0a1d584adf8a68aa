//! How one object of a set is brought to the cluster. A system states it once for each kind, and a unit for an object that
//! differs.

use crate::mark::Mark;

/// What becomes of an object in the place of ours that no controller has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Adopt {
    /// It is left as it is, and in the way.
    #[default]
    Never,
    /// It becomes ours, with the fields that others gave it.
    Unowned,
    /// The same, and what a relative of the root controls becomes ours as well: see
    /// [`ObjectSet::take_over_from`](crate::ObjectSet::take_over_from).
    Relatives,
}

/// How an object that is there becomes as it is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Update {
    /// By server-side apply.
    #[default]
    Apply,
    /// Not at all: it is written if absent, and never changed afterwards (jobs).
    Once,
    /// By server-side apply, if its mark lacks the hash of what is wanted, or it does not name us as its controller
    /// although it shall. What others change meanwhile stays. The metadata of the object are enough to tell.
    IfHashDiffers,
}

/// What follows if a field must change that the API server does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImmutableChange {
    /// The object is refused.
    #[default]
    Fail,
    /// The object is deleted and created anew.
    Recreate,
}

/// What an object stops, besides those that need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stops {
    /// Nothing.
    #[default]
    Nothing,
    /// All later phases, if it fails and may work the next time. What is refused will be refused again: nothing waits
    /// for it.
    LaterUnlessRefused,
    /// All later phases, if it fails.
    Later,
    /// All phases after this one, if it fails: several phases may belong together.
    After(u16),
    /// All later phases, until it is gone. For what is deleted.
    UntilGone,
    /// All later phases, however it ends: a gate that is not open. What opens it is seen by the next reconcile.
    Always,
}

/// What becomes of the dependents of an object that is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// The cluster collects them afterwards.
    #[default]
    Background,
    /// The cluster collects them before the object goes.
    Foreground,
    /// They stay.
    Orphan,
}

/// How an object is brought to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When it is written, counted from 0. Objects of one phase are written together, and a phase begins when the one
    /// before has ended.
    pub phase: u16,
    /// What it stops, besides those that refer to it.
    pub stops: Stops,
    /// The mark by which it is told, if it has one: ours is then also what no controller has and is marked for the root.
    pub mark: Option<&'static Mark>,
    /// What becomes of an object in its place that no controller has.
    pub adopt: Adopt,
    /// How changes are made.
    pub update: Update,
    /// It holds values that were made up. It is written before everything else is rendered, because nothing may be made
    /// from them until they are stored; values that are stored stay.
    pub generated_first: bool,
    /// Places (JSON pointers) where what we once set stays, although it is no longer rendered.
    pub keep: &'static [&'static str],
    /// Whether lists are exactly as rendered, so that items of others are removed.
    pub exact_lists: bool,
    /// What follows if a field must change that cannot be changed.
    pub immutable: ImmutableChange,
    /// What becomes of its dependents if it is deleted.
    pub propagation: Propagation,
}

impl Options {
    /// One phase, server-side apply, nothing of anybody else is touched.
    pub const DEFAULT: Self = Self {
        phase: 0,
        stops: Stops::Nothing,
        mark: None,
        adopt: Adopt::Never,
        update: Update::Apply,
        generated_first: false,
        keep: &[],
        exact_lists: false,
        immutable: ImmutableChange::Fail,
        propagation: Propagation::Background,
    };

    /// Written if absent, never changed afterwards.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.update = Update::Once;
        self
    }

    /// Holds values that were made up. An object of somebody else in its place has other values, and keeps them.
    #[must_use]
    pub const fn generated(mut self) -> Self {
        self.adopt = Adopt::Never;
        self.update = Update::Once;
        self.generated_first = true;
        self
    }

    /// Deleted and created anew if a field must change that cannot be changed.
    #[must_use]
    pub const fn recreated(mut self) -> Self {
        self.immutable = ImmutableChange::Recreate;
        self
    }

    /// Takes the place of an object that no controller has.
    #[must_use]
    pub const fn adopting(mut self) -> Self {
        self.adopt = Adopt::Unowned;
        self
    }

    /// Whether the object is not touched again once it is there.
    pub(crate) fn leaves_alone(self) -> bool {
        self.update == Update::Once && !self.generated_first
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}
