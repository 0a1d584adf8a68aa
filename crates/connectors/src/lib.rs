//! Connectors: applications from packaged YAML, installed, updated, repaired and removed. Pure.
//!
//! A `Connector` says which application and what is different about it. Its reconciler ([`connector`]) renders the bundle and
//! records the result in two `InstallManifests`, the sets of an installation. The reconciler of a set ([`set`]) brings its
//! objects to the cluster phase by phase, says how far it came, and takes them away again.
//!
//! | Module | What it holds |
//! |---|---|
//! | [`names`], [`kinds`], [`marks`] | what is written on objects, and how kinds are followed |
//! | [`catalog`], [`page`], [`rendering`] | what is packaged, what is fetched, and what is made of both |
//! | [`phases`], [`remedies`] | when an object is written and when it goes; what follows if it cannot be changed |
//! | [`views`], [`workload`] | what reconciles know of roots, definitions, autoscalers and workloads |
//! | [`connector`], [`set`] | the two reconcilers |
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod catalog;
pub mod connector;
#[cfg(test)]
mod fixture;
pub mod inventory;
pub mod kinds;
pub mod marks;
pub mod names;
pub mod page;
pub mod phases;
pub mod remedies;
pub mod rendering;
mod said;
pub mod set;
pub mod views;
pub mod workload;
