//! The custom resources that users write.

use mainstay_engine::key::Kind;
use mainstay_yaml::{Document, Error, from_value_strict};
use serde::de::DeserializeOwned;

/// A custom resource of a system.
#[derive(Clone, Debug)]
pub struct CustomResource {
    /// Its kind.
    pub kind: Kind,
    /// Short name, as kubectl knows it; empty if there is none.
    pub short: &'static str,
    read: fn(&Document) -> Result<(), Error>,
}

impl CustomResource {
    /// A resource that is read as a type.
    pub const fn of<T: DeserializeOwned>(kind: Kind, short: &'static str) -> Self {
        Self {
            kind,
            short,
            read: |document| from_value_strict::<T>(document).map(|_| ()),
        }
    }

    /// Reads a document strictly, which finds what the API server would silently drop.
    pub fn check(&self, document: &Document) -> Result<(), Error> {
        // The type carries its own identity and does not know these two as fields.
        let mut document = document.clone();
        if let Some(fields) = document.value.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        (self.read)(&document)
    }
}
