//! The forms in which a wanted object is sent. Pure.

use serde_json::Value;

use crate::{
    conventions::ORIGIN_CREATED,
    merge::{self, Shape},
    object::Object,
    set::SetOptions,
    transform::{Normalise, Transform as _},
};

/// Largest sum of all annotations that a server stores.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// A wanted object: without what the server writes, and without our own annotations.
pub(crate) struct Body<'set> {
    object: Object,
    options: &'set SetOptions,
    last_applied: String,
}

impl<'set> Body<'set> {
    pub(crate) fn new(object: &Object, options: &'set SetOptions) -> Self {
        let mut object = object.clone();
        // It has no failure: it only drops fields.
        let _ = Normalise.apply(&mut object);
        object.remove_annotation(&options.last_applied_annotation);
        object.remove_annotation(&options.origin_annotation);
        drop_aggregated_rules(object.value_mut());
        let last_applied = format!("{}\n", object.value());
        Self {
            object,
            options,
            last_applied,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::of(&self.object.kind())
    }

    /// The object alone.
    pub(crate) fn plain(&self) -> Value {
        self.object.value().clone()
    }

    /// With the mark that we have created it.
    pub(crate) fn marked(&self) -> Value {
        let mut object = self.object.clone();
        object.set_annotation(&self.options.origin_annotation, ORIGIN_CREATED);
        object.into_value()
    }

    /// With the mark, and itself in an annotation for the next merge.
    pub(crate) fn created(&self) -> Value {
        self.with_last_applied(self.marked())
    }

    /// With the mark if the live object has it: what is not applied again would be taken away.
    pub(crate) fn like(&self, live: &Value) -> Value {
        match self.origin_of(live) {
            Some(_) => self.marked(),
            None => self.plain(),
        }
    }

    pub(crate) fn origin_of<'live>(&self, live: &'live Value) -> Option<&'live str> {
        annotation(live, &self.options.origin_annotation)
    }

    /// A value that is sent, with the wanted object in its annotation.
    pub(crate) fn with_last_applied(&self, value: Value) -> Value {
        match Object::new(value) {
            Ok(mut object) => {
                object.set_annotation(&self.options.last_applied_annotation, &self.last_applied);
                object.into_value()
            }
            // A merge keeps kind and name.
            Err(_) => self.plain(),
        }
    }

    pub(crate) fn is_too_large_to_remember(&self) -> bool {
        let others = self
            .object
            .value()
            .pointer("/metadata/annotations")
            .and_then(Value::as_object);
        let others = others.into_iter().flatten();
        let others = others.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
        let keys = self.options.last_applied_annotation.len()
            + self.options.origin_annotation.len()
            + ORIGIN_CREATED.len();
        others.sum::<usize>() + keys + self.last_applied.len() > ANNOTATIONS_LIMIT
    }

    /// The patch from a live object to the wanted one; an empty map if there is nothing to do.
    pub(crate) fn patch(&self, live: &Value) -> Value {
        let applied = annotation(live, &self.options.last_applied_annotation);
        let applied = applied.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut wanted = self.plain();
        let mut applied = applied;
        // Names, kinds and versions are how the object was found; the server may have stored others.
        for value in applied.iter_mut().chain([&mut wanted]) {
            drop_aggregated_rules(value);
            drop_identity(value);
        }
        merge::three_way(applied.as_ref(), &wanted, live, self.shape())
    }
}

/// The rules of a role that gathers those of others are the control plane's to write; bundles leave them empty.
fn drop_aggregated_rules(value: &mut Value) {
    let is_gathering = value.get("kind").and_then(Value::as_str) == Some("ClusterRole")
        && value.get("aggregationRule").is_some_and(Value::is_object);
    let rules = value.get("rules").and_then(Value::as_array);
    if is_gathering
        && rules.is_some_and(Vec::is_empty)
        && let Some(fields) = value.as_object_mut()
    {
        fields.remove("rules");
    }
}

fn annotation<'value>(value: &'value Value, key: &str) -> Option<&'value str> {
    value
        .get("metadata")?
        .get("annotations")?
        .get(key)?
        .as_str()
}

fn drop_identity(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("name");
            metadata.remove("namespace");
            metadata.remove("generateName");
        }
    }
}
