//! How one object of a set is brought to the cluster. A system states it once for each kind, and a unit for an object that
//! differs.

/// What becomes of an object in the place of ours that no controller has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Adopt {
    /// It is left as it is, and in the way.
    #[default]
    Never,
    /// It becomes ours, with the fields that others gave it.
    Unowned,
}

/// How an object that is there becomes as it is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Update {
    /// By server-side apply.
    #[default]
    Apply,
    /// Not at all: it is written if absent, and never changed afterwards (jobs).
    Once,
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

/// How an object is brought to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When it is written, counted from 0. Objects of one phase are written together, and a phase begins when the one
    /// before has ended.
    pub phase: u16,
    /// Whether later phases wait for it. A failure that may pass then stops them; an object that is refused stops only
    /// those that refer to it.
    pub essential: bool,
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
}

impl Options {
    /// One phase, server-side apply, nothing of anybody else is touched.
    pub const DEFAULT: Self = Self {
        phase: 0,
        essential: false,
        adopt: Adopt::Never,
        update: Update::Apply,
        generated_first: false,
        keep: &[],
        exact_lists: false,
        immutable: ImmutableChange::Fail,
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
