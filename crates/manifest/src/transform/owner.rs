//! Owners, so that the garbage collector finds what belongs to whom.

use serde_json::{Value, json};

use super::{Problem, Transform};
use crate::object::Object;

/// Makes one object the only owner, and the controller, of others. All kinds get it: callers choose.
#[derive(Clone, Debug)]
pub struct Owner(Value);

impl Owner {
    /// By the four facts that tell an owner.
    pub fn new(api_version: &str, kind: &str, name: &str, uid: &str) -> Self {
        Self(json!({
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }))
    }

    /// A live object as owner; none if it lacks a name or uid, as one that was never created.
    pub fn of(owner: &Object) -> Option<Self> {
        let uid = owner.value().pointer("/metadata/uid")?.as_str()?;
        let kind = owner.kind();
        Some(Self::new(
            &kind.api_version(),
            &kind.kind,
            owner.name()?,
            uid,
        ))
    }
}

impl Transform for Owner {
    fn name(&self) -> &'static str {
        "owner"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        let references = Value::Array(vec![self.0.clone()]);
        object
            .metadata_mut()
            .insert("ownerReferences".to_owned(), references);
        Ok(())
    }
}
