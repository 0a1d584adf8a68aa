//! What servers write into objects and bundles must not bring along.

use super::{Problem, Transform};
use crate::object::Object;

/// Fields of the metadata that belong to the server.
pub const SERVER_METADATA: &[&str] = &[
    "creationTimestamp",
    "managedFields",
    "resourceVersion",
    "uid",
    "generation",
    "selfLink",
];

/// Drops `status` and what the server writes into the metadata.
#[derive(Clone, Copy, Debug)]
pub struct Normalise;

impl Transform for Normalise {
    fn name(&self) -> &'static str {
        "normalise"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        if let Some(fields) = object.value_mut().as_object_mut() {
            fields.remove("status");
        }
        let metadata = object.metadata_mut();
        for field in SERVER_METADATA {
            metadata.remove(*field);
        }
        Ok(())
    }
}
