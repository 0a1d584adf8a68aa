//! Clowder in a cluster.
//!
//! | Module | Content |
//! |---|---|
//! | [`operator`] | the three controllers as one system |
//! | [`effects`] | who runs what has to be done outside the cluster |
//! | [`metrics`] | whom the operator looks after, and its metrics |
//! | [`introspection`] | the same and the configuration over HTTP, for people on the same machine |
//! | [`session`] | reconciles from the command line, with the same machinery |
#![deny(missing_docs)]

pub mod effects;
pub mod introspection;
pub mod metrics;
pub mod operator;
pub mod session;
