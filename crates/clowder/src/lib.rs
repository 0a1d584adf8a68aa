//! Clowder: a `ClowdEnvironment` says how things are provided, a `ClowdApp` says what it needs, and the operator makes
//! the workloads, services, databases, caches and stores, and the `cdappconfig.json` that every app mounts.
//!
//! This crate is the pure part: it asks a [`Snapshot`](mainstay_engine::snapshot::Snapshot) and never the cluster itself. What
//! is not known yet is noted; whoever runs the reconcile fetches it and renders again.
//!
//! | Module | Content |
//! |---|---|
//! | [`names`], [`kinds`], [`options`](mod@options), [`settings`] | constants, the table of kinds, how each is written, the operator's own configuration |
//! | [`views`] | what a reconcile can see of the cluster, and what apps see of each other |
//! | [`gates`] | what makes the three kinds wait |
//! | [`providers`] | the units of the render step, under the original's names and in its order; `cdappconfig.json`; effects |
//! | [`app`], [`environment`], [`job`] | the reconcilers of the three kinds |
//! | [`status`] | what came of it, in conditions, counts and words |
//! | [`admission`] | what the API server asks before it stores an app or a pod |
//! | [`offline`] | the reconcilers over files, without a cluster |
//! | [`package`] | the operator's own manifests |
#![deny(missing_docs)]

pub mod admission;
pub mod app;
pub mod environment;
pub mod gates;
pub mod job;
pub mod kinds;
pub mod names;
pub mod offline;
pub mod options;
pub mod package;
pub mod providers;
pub mod settings;
pub mod status;
pub mod views;
