//! Kaoto: one `Kaoto` object becomes a Service, an Ingress or Route, and a Deployment of the editor.
//!
//! This crate is the pure part of the operator; the runtime and the command line walk its
//! [`KaotoReconciler`]. The original speaks of *actions*; here they are the
//! units of the render step, under the same names.
//!
//! | Module | Step |
//! |---|---|
//! | [`names`], [`kinds`], [`settings`] | constants, the table of kinds, what the process is told at its start |
//! | [`validate`], [`exposure`] | raw object → [`KaotoInput`](validate::KaotoInput) |
//! | [`units`] | input → desired objects |
//! | [`endpoint`], [`status`] | what came of it → status, outcome |
//! | [`reconciler`] | the above as one contract |
//! | [`package`] | the operator's own manifests: installation, kustomize tree, OLM bundle |
#![deny(missing_docs)]

pub mod endpoint;
pub mod exposure;
pub mod kinds;
pub mod names;
pub mod package;
pub mod reconciler;
pub mod settings;
pub mod status;
pub mod units;
pub mod validate;

pub use reconciler::KaotoReconciler;
pub use settings::{ClusterType, Settings};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;
