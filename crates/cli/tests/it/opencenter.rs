//! openCenter as users meet it: a config and a repository. These tests need files only, no cluster.

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
