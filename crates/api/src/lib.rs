//! Custom resource types: what users write and what they read back. No logic, no client.
//!
//! The types are the source of the custom resource definitions; [`crds`] prints them all.
#![deny(missing_docs)]

mod absence;
pub mod clowder;
mod condition;
pub mod connectors;
mod definition;
mod embedded;
pub mod kaoto;
mod object;
pub mod openvox;
#[cfg(test)]
mod survival;
mod word;

use std::iter;

use serde_json::Value;

pub use self::definition::file;

/// Every custom resource definition of the suite: the name of the file it is kept in, and the document.
pub fn crds() -> Vec<(String, Value)> {
    iter::once(kaoto::crd())
        .chain(clowder::crds())
        .map(|crd| file(&crd))
        .collect()
}
