//! OpenVox: Puppet servers with their certificate authority, certificates, pools and database.
//!
//! This crate is the pure part: it asks a [`Snapshot`](mainstay_engine::snapshot::Snapshot) and never the cluster itself.
//! What has to be done outside the cluster is an [`Effect`](effect::Effect); keys are made at the edge and stored before
//! anything here sees them.
//!
//! | Module | Content |
//! |---|---|
//! | [`names`], [`kinds`], [`duration`], [`quote`] | constants, the table of kinds, the formats of the original |
//! | [`views`], [`references`] | what a reconcile can see of the cluster, and values in Secrets and ConfigMaps |
//! | [`objects`], [`outcome`] | metadata of what is made; what follows from a commit |
//! | [`files`] | configuration files: settings → text |
//! | [`config`], [`passive`] | the reconcilers of `Config`, and of the kinds that it puts into files |
//! | [`authority`] | a `CertificateAuthority`: objects, and what is due |
//! | [`certificate`] | a `Certificate`: request, phases, renewal |
//! | [`effect`] | calls of an authority, as values |
//! | [`admission`] | what may be stored |
#![deny(missing_docs)]

pub mod admission;
pub mod authority;
pub mod certificate;
pub mod config;
pub mod duration;
pub mod effect;
pub mod files;
pub mod kinds;
pub mod names;
pub mod objects;
pub mod outcome;
pub mod passive;
pub mod quote;
pub mod references;
pub mod views;

#[cfg(test)]
mod fixture;
