//! The cluster at the two ends of the reconciler: watch caches on the way in, guarded writes on the way out.
//!
//! Nothing here decides anything. What to write is decided by `mainstay_engine::plan`, how to carry
//! it out by `mainstay_engine::commit`; this crate turns API answers into values for them.
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod cache;
pub mod client;
pub mod contests;
pub mod definitions;
pub mod discovery;
pub mod effects;
pub mod error;
pub mod fence;
mod random;
pub mod reach;
pub mod resource;
pub mod root;
pub mod sink;
pub mod source;
mod tombstones;
pub mod views;
pub mod watch;
pub mod write_locks;
