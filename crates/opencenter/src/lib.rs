//! openCenter: one cluster config in, one Flux overlay tree out. This crate is the pure part.
//!
//! Files, environment, clock and chance come in as inputs: texts as bytes, other files and variables through
//! [`config::Surroundings`], everything else as plain values.

#![deny(missing_docs)]

pub mod catalog;
pub mod config;
pub mod descriptor;
pub mod edit;
pub mod finding;
pub mod flux;
pub mod graph;
pub mod options;
pub mod overlay;
pub mod reference;
pub mod render;
pub mod scan;
pub mod schema;
mod service;
pub mod template;
