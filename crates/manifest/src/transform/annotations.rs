//! Annotations on everything.

use std::collections::BTreeMap;

use super::{Problem, Transform};
use crate::object::Object;

/// Sets annotations on objects themselves, never on what they make.
#[derive(Clone, Debug, Default)]
pub struct Annotations(pub BTreeMap<String, String>);

impl Transform for Annotations {
    fn name(&self) -> &'static str {
        "annotations"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        for (key, value) in &self.0 {
            object.set_annotation(key, value);
        }
        Ok(())
    }
}
