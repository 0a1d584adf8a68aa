//! The pure middle of the reconciler: validate → render → plan → commit.
//!
//! Nothing in this crate reads a clock, the environment, a file or the network. Observed facts come
//! in as values, requests go out as values; the same inputs give the same bytes. That is what makes
//! `render` work offline, `plan` equal to what then happens, and the commit explorable by a model
//! checker.
//!
//! | Module | Step |
//! |---|---|
//! | [`kind`], [`key`] | what a system declares, and how objects are named |
//! | [`snapshot`], [`decode`] | what one reconcile may know, and how a root becomes typed |
//! | [`unit`](mod@unit), [`object_set`] | render: ordered units fill an [`ObjectSet`] |
//! | [`options`](mod@options), [`prune`] | how each object of a set is brought to the cluster, and what goes |
//! | [`field_manager`], [`live`], [`mark`], [`owned`] | what is known of an object in the cluster, and which of its fields are ours |
//! | [`keyed_lists`] | items that an apply can hold once only |
//! | [`definition`] | which fields the installed definition of a kind declares |
//! | [`plan`], [`field_change`] | typed difference of desired against live, with reasons |
//! | [`commit`], [`change_set`] | the step function that carries a plan out, and what came of it |
//! | [`reconciler`] | the contract between a system and the reconciler |
//! | [`conditions`], [`outcome`], [`health`] | the language of the report |
//! | [`backoff`] | how long to wait before something is tried again |
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod backoff;
pub mod change_set;
pub mod commit;
pub mod conditions;
pub mod decode;
pub mod definition;
pub mod field_change;
pub mod field_manager;
pub mod health;
mod hidden;
pub mod key;
pub mod keyed_lists;
pub mod kind;
pub mod live;
pub mod mark;
pub mod object_set;
pub mod options;
pub mod outcome;
pub mod owned;
pub mod plan;
pub mod prune;
pub mod quantity;
pub mod rbac;
pub mod reconciler;
mod references;
pub mod server_defaults;
pub mod snapshot;
pub mod unit;

pub use key::{Kind, ObjectKey};
pub use object_set::ObjectSet;
