//! Labels on everything.

use std::collections::BTreeMap;

use super::{Problem, Transform};
use crate::object::Object;

/// Sets labels on objects themselves: never on pod templates, and in no selector, which a label for all would break.
#[derive(Clone, Debug, Default)]
pub struct Labels(pub BTreeMap<String, String>);

impl Transform for Labels {
    fn name(&self) -> &'static str {
        "labels"
    }

    fn apply(&self, object: &mut Object) -> Result<(), Problem> {
        for (key, value) in &self.0 {
            object.set_label(key, value);
        }
        Ok(())
    }
}
