//! Writes the overlay tree of a cluster into a Git repository: whole or not at all, and only what is ours.
//!
//! A write goes lock → stage → sync → verify → plan → journal → swap → clean up. A process that dies anywhere leaves
//! either the old tree, or a journal from which the next write restores the old tree before it begins. The only step
//! that decides is the renaming of the journal once every file is in its place.
//!
//! What is ours is written down in a ledger with the hash of every file: a file that somebody edited by hand is not
//! overwritten, and a file that we did not write is not deleted. Symbolic links are never followed below the root of
//! the repository: every path is walked from there, component by component.

#![deny(missing_docs)]

mod error;
mod footprint;
mod journal;
mod layout;
mod ledger;
mod lock;
mod overlay;
mod path;
mod plan;
mod seed;
mod swap;
mod tree;
mod watcher;
mod write;

pub use error::Error;
pub use footprint::Footprint;
pub use layout::{FluxSystem, Owner, owner};
pub use ledger::{Ledger, Record, sha256};
pub use overlay::{Overlay, Reader};
pub use plan::{Desired, DesiredFile, Plan, Refusal, RefusalReason, Scope};
pub use watcher::{Operation, Unwatched, Verdict, Watcher};
pub use write::{Outcome, Preparation, Prepared, WriteOptions};
