//! A bag of YAML: load Kubernetes objects, select and transform them, and apply, preview or delete them.
//!
//! ```
//! use mainstay_manifest::{Predicate, Source, LoadLimits, transform};
//!
//! let set = Source::text("
//! apiVersion: v1
//! kind: ConfigMap
//! metadata: {name: settings}
//! ---
//! apiVersion: apps/v1
//! kind: Deployment
//! metadata: {name: web}
//! spec: {template: {spec: {containers: [{name: web, image: quay.io/shop/web:1}]}}}
//! ", "shop.yaml").load_local(&LoadLimits::default())?;
//!
//! let images = transform::Images::new().with_registry("registry.example.com");
//! let set = set.select(&Predicate::kind("Deployment")).transform(&[Some(&images)])?;
//! let image = set.objects()[0].value().pointer("/spec/template/spec/containers/0/image");
//! assert_eq!(image.unwrap(), "registry.example.com/shop/web:1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Module | What it does | I/O |
//! |---|---|---|
//! | [`source`], [`parse`] | files, directories, pages and texts → objects | reads |
//! | [`set`], [`predicate`], [`scope`] | sets of objects, and choosing among them | – |
//! | [`transform`], [`render`] | ordered changes to objects | – |
//! | [`identity`], [`hash`] | what objects are told apart by, and whether they changed | – |
//! | [`merge`] | three-way and strategic merges | – |
//! | [`apply`], [`preview`], [`delete`] | a set against a cluster, through a [`Client`] | by the client |
//! | [`client`] | the real cluster, and a double in memory | writes |
//!
//! Operations on a set give a new set. Nothing here keeps state between calls, and no error or log line holds the content
//! of a Secret.
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod apply;
pub mod client;
pub mod conventions;
pub mod delete;
pub mod hash;
pub mod identity;
mod limits;
pub mod merge;
pub mod object;
pub mod parse;
pub mod predicate;
pub mod preview;
pub mod render;
pub mod scope;
pub mod set;
pub mod source;
#[cfg(test)]
mod testing;
pub mod transform;

pub use self::{
    client::Client,
    identity::Identity,
    limits::LoadLimits,
    object::Object,
    predicate::Predicate,
    scope::Scopes,
    set::ManifestSet,
    source::{LoadError, Source},
};
