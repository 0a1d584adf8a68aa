//! The process around the reconcilers.
//!
//! | Module | What it does |
//! |---|---|
//! | [`reconcile`] | one reconcile of one root |
//! | [`blockers`] | objects of others that are in the way of a root, until they are gone |
//! | [`controller`] | bounded, isolated, backed-off reconciles for all roots of a kind |
//! | [`stores`] | what a system knows of a cluster, and the watches that fill it |
//! | [`work`] | one system at work, from its first watch to the drain |
//! | [`session`] | a system that is looked at once, by the command line |
//! | [`process`] | the systems from start to drain |
//! | [`events`] | news on objects, once per transition |
//! | [`queue`] | which root is due when |
//! | [`leadership`] | who may write |
//! | [`polls`] | that no task keeps the others from running |
//! | [`pulse`] | whether the workers make progress |
//! | [`server`] | `/healthz`, `/readyz`, `/livez`, `/metrics` |
//! | [`metrics`], [`running`], [`exposition`] | what the process counts, and how it says so |
//! | [`telemetry`], [`panics`] | logs |
//! | [`shutdown`] | signals, drain, second signal |
#![deny(missing_docs)]

pub mod blockers;
mod control;
pub mod controller;
pub mod events;
pub mod exposition;
pub mod leadership;
pub mod metrics;
pub mod panics;
pub mod polls;
pub mod process;
pub mod process_metrics;
pub mod pulse;
pub mod queue;
pub mod reconcile;
pub mod running;
pub mod server;
pub mod session;
pub mod shutdown;
pub mod stores;
pub mod telemetry;
pub mod work;
