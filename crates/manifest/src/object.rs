//! One object, and where it came from.

use std::{fmt, sync::Arc};

use mainstay_engine::{Kind, ObjectKey};
use mainstay_yaml::SourceName;
use serde_json::{Map, Value};

use crate::identity::Identity;

/// The place of an object in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Name of the file, page or text.
    pub source: SourceName,
    /// Number of the document in it, starting at one; empty documents do not count.
    pub document: usize,
    /// Line on which the document starts, starting at one.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: document {}",
            self.source, self.line, self.document
        )
    }
}

/// What a value lacks to be an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidObject {
    /// The value is a list or a scalar.
    #[error("this is no mapping")]
    NotAMapping,
    /// No `apiVersion`, or one that is no text.
    #[error("`apiVersion` is missing or no text")]
    ApiVersion,
    /// No `kind`, or one that is no text.
    #[error("`kind` is missing or no text")]
    Kind,
    /// Neither a name nor the beginning of one.
    #[error("`metadata.name` or `metadata.generateName` is needed")]
    Name,
}

impl InvalidObject {
    /// The field that is to be mended, as a JSON pointer.
    pub const fn pointer(self) -> &'static str {
        match self {
            Self::NotAMapping => "",
            Self::ApiVersion => "/apiVersion",
            Self::Kind => "/kind",
            Self::Name => "/metadata/name",
        }
    }
}

/// An object of the Kubernetes API as JSON, with the place that it came from.
///
/// Two objects are equal if their content is; where they stood does not matter.
///
/// ```
/// use mainstay_manifest::Object;
/// use serde_json::json;
///
/// let object = Object::new(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}))?;
/// assert_eq!(object.to_string(), "Service web");
/// # Ok::<(), mainstay_manifest::object::InvalidObject>(())
/// ```
#[derive(Clone, Debug)]
pub struct Object {
    value: Value,
    origin: Option<Arc<Origin>>,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Object {
    /// Takes a value that has `apiVersion`, `kind` and a name.
    pub fn new(value: Value) -> Result<Self, InvalidObject> {
        check(&value)?;
        Ok(Self {
            value,
            origin: None,
        })
    }

    /// The same with its place.
    #[must_use]
    pub fn at(mut self, origin: Arc<Origin>) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Where it came from; none if it never was a text.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The content.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The content, for changes.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.value
    }

    /// Gives the content away.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Group, version and kind.
    pub fn kind(&self) -> Kind {
        Kind::from_parts(self.text("/apiVersion"), self.text("/kind"))
    }

    /// API group; empty for the core group.
    pub fn group(&self) -> &str {
        let api_version = self.text("/apiVersion");
        api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The kind alone.
    pub fn kind_name(&self) -> &str {
        self.text("/kind")
    }

    /// Whether group and kind are these.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind_name() == kind && self.group() == group
    }

    /// Whether the object defines a kind.
    pub fn is_definition(&self) -> bool {
        self.is("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    /// The name; none if the server is to make one up.
    pub fn name(&self) -> Option<&str> {
        Some(self.text("/metadata/name")).filter(|name| !name.is_empty())
    }

    /// How a name that the server makes up begins.
    pub fn generate_name(&self) -> Option<&str> {
        Some(self.text("/metadata/generateName")).filter(|name| !name.is_empty())
    }

    /// The namespace; empty if there is none.
    pub fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.in_metadata("labels", key)
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.in_metadata("annotations", key)
    }

    /// What the object is told apart by; none if its name is yet to be made up.
    pub fn identity(&self) -> Option<Identity> {
        Some(Identity {
            group: self.group().to_owned(),
            kind: self.kind_name().to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name()?.to_owned(),
        })
    }

    /// What the object is asked for by; none if its name is yet to be made up.
    pub fn key(&self) -> Option<ObjectKey> {
        Some(ObjectKey::new(self.kind(), self.namespace(), self.name()?))
    }

    /// The metadata, for changes; made if there are none.
    pub fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        member(&mut self.value, "metadata")
    }

    /// Sets a label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.set_in_metadata("labels", key, value);
    }

    /// Sets an annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.set_in_metadata("annotations", key, value);
    }

    /// Removes an annotation, and the map with the last one.
    pub fn remove_annotation(&mut self, key: &str) {
        let metadata = self.metadata_mut();
        let annotations = metadata.get_mut("annotations");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
            annotations.remove(key);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }

    fn set_in_metadata(&mut self, map: &str, key: &str, value: &str) {
        let map = inner(self.metadata_mut(), map);
        map.insert(key.to_owned(), Value::from(value));
    }

    fn in_metadata(&self, map: &str, key: &str) -> Option<&str> {
        self.value.get("metadata")?.get(map)?.get(key)?.as_str()
    }

    fn text(&self, pointer: &str) -> &str {
        let found = self.value.pointer(pointer);
        found.and_then(Value::as_str).unwrap_or_default()
    }
}

/// `Kind namespace/name`, with the beginning of a name where there is none.
impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ", self.kind_name())?;
        if !self.namespace().is_empty() {
            write!(formatter, "{}/", self.namespace())?;
        }
        match (self.name(), self.generate_name()) {
            (Some(name), _) => formatter.write_str(name),
            (None, Some(start)) => write!(formatter, "{start}*"),
            (None, None) => formatter.write_str("(without a name)"),
        }
    }
}

/// Whether a value has what every object needs.
pub(crate) fn check(value: &Value) -> Result<(), InvalidObject> {
    if !value.is_object() {
        return Err(InvalidObject::NotAMapping);
    }
    let has = |pointer: &str| {
        let found = value.pointer(pointer).and_then(Value::as_str);
        found.is_some_and(|text| !text.is_empty())
    };
    if !has("/apiVersion") {
        return Err(InvalidObject::ApiVersion);
    }
    if !has("/kind") {
        return Err(InvalidObject::Kind);
    }
    if !has("/metadata/name") && !has("/metadata/generateName") {
        return Err(InvalidObject::Name);
    }
    Ok(())
}

/// A member of a value as a map; whatever else is there gives way.
pub(crate) fn member<'value>(
    value: &'value mut Value,
    name: &str,
) -> &'value mut Map<String, Value> {
    inner(as_map(value), name)
}

/// A member of a map as a map; whatever else is there gives way.
pub(crate) fn inner<'map>(
    map: &'map mut Map<String, Value>,
    name: &str,
) -> &'map mut Map<String, Value> {
    as_map(map.entry(name).or_insert(Value::Null))
}

/// The value as a map; anything else is replaced by an empty one.
pub(crate) fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("the value was made a map")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_object_lacks_is_named() {
        let lacks = |value: Value| Object::new(value).unwrap_err();
        assert_eq!(lacks(json!([])), InvalidObject::NotAMapping);
        assert_eq!(
            lacks(json!({"apiVersion": 1, "kind": "A", "metadata": {"name": "a"}})),
            InvalidObject::ApiVersion
        );
        assert_eq!(lacks(json!({"apiVersion": "v1"})), InvalidObject::Kind);
        let unnamed = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": ""}});
        assert_eq!(lacks(unnamed), InvalidObject::Name);
    }

    #[test]
    fn a_name_that_is_yet_to_be_made_up_is_no_identity() {
        let value =
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "once-"}});
        let object = Object::new(value).unwrap();
        assert_eq!(object.identity(), None);
        assert_eq!(object.to_string(), "Job once-*");
        assert!(object.is("batch", "Job"));
    }

    #[test]
    fn the_last_annotation_takes_the_map_with_it() {
        let value = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}});
        let mut object = Object::new(value.clone()).unwrap();
        object.set_annotation("a", "b");
        assert_eq!(object.annotation("a"), Some("b"));
        object.remove_annotation("a");
        assert_eq!(object.value(), &value);
    }
}
