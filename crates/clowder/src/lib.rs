//! Clowder: a `ClowdEnvironment` says how things are provided, a `ClowdApp` says what it needs, and the operator makes
//! the workloads, services, databases, caches and stores, and the `cdappconfig.json` that every app mounts.
//!
//! This crate is the pure part: it asks a [`Snapshot`](mainstay_engine::snapshot::Snapshot) and never the cluster itself. What
//! is not known yet is noted; whoever runs the reconcile fetches it and renders again.
//!
//! | Module | Content |
//! |---|---|
//! | [`names`], [`kinds`], [`settings`], [`images`] | constants, the table of kinds, the operator's own configuration |
//! | [`views`], [`lookup`], [`summary`], [`topics`] | what a reconcile can see of the cluster, and what apps see of each other |
//! | [`provider`], [`providers`] | the units of the render step, under the original's names and in its order |
//! | [`app_config`] | `cdappconfig.json` |
//! | [`credentials`] | values that are generated once |
//! | [`admission`] | what the API server asks before it stores an app or a pod |
//! | [`app`], [`environment`], [`job`], [`gates`] | the reconcilers of the three kinds, and what makes them wait |
//! | [`offline`] | the reconcilers over files, without a cluster |
//! | [`package`] | the operator's own manifests |
//! | [`facts`], [`counts`], [`conditions`], [`failures`], [`undecodable`] | what came of it → status |
#![deny(missing_docs)]

pub mod admission;
pub mod app;
pub mod app_config;
pub mod conditions;
pub mod counts;
pub mod credentials;
pub mod effect;
pub mod environment;
pub mod facts;
pub mod failures;
pub mod gates;
pub mod images;
pub mod job;
pub mod kinds;
pub mod lookup;
pub mod names;
pub mod offline;
pub mod options;
pub mod package;
pub mod provider;
pub mod providers;
pub mod settings;
pub mod summary;
pub mod topics;
pub mod undecodable;
pub mod views;
