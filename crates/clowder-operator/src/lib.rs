//! Clowder in a cluster.
//!
//! | Module | Content |
//! |---|---|
//! | [`neighbours`] | the index over all environments, apps, references and invocations, and whom news wake |
//! | [`look`] | the facts of one reconcile, from watch caches, with what is missing looked up |
//! | [`effects`] | who does what has to be done outside the cluster |
//! | [`accounts`], [`census`] | whom the operator looks after, and its metrics |
//! | [`introspection`] | the same and the configuration over HTTP, for people on the same machine |
//! | [`operator`] | the three controllers as one system |
//! | [`session`] | one walk from the command line, with the same machinery |
#![deny(missing_docs)]

pub mod accounts;
pub mod census;
pub mod effects;
pub mod introspection;
pub mod look;
pub mod neighbours;
mod newest;
pub mod operator;
mod random;
pub mod session;
