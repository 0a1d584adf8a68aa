//! Who is asked before every change on disk.

/// A change that is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A lock, ledger, journal or staged file is written.
    Write,
    /// A directory is made.
    MakeDirectory,
    /// A file is moved.
    Rename,
    /// A file or directory is removed.
    Remove,
    /// The file system is told to write everything to its medium.
    Sync,
}

/// What the watcher says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Proceed,
    /// Roll back and stop: the user asked to.
    Interrupt,
    /// Stop at once and clean nothing up, as a process that is killed. For tests.
    Die,
}

/// Is asked before every change on disk.
pub trait Watcher {
    /// Whether the change may happen. Restoring after an interrupt asks too, and is not interrupted again.
    fn before(&self, operation: Operation) -> Verdict;
}

/// Lets everything happen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn before(&self, _: Operation) -> Verdict {
        Verdict::Proceed
    }
}
