//! Tests of the real program as openCenter. They need files only, no cluster.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod adopt;
mod bad_input;
mod commands;
mod interrupt;
mod kustomize;
mod memory;
mod outside;
mod redaction;
mod scan;
mod secrets;
mod service;
mod trees;
mod world;
