//! A value that remembers order and quoting, for text that people read and review.
//!
//! [`serde_json::Value`] sorts its keys. Files that a user keeps in Git want the order their author meant, so they are
//! built as [`Node`]s and printed with [`print_manifests`](crate::print_manifests).

use std::borrow::Cow;

use serde_json::{Number, Value};

/// An ordered value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing: as the value of an entry or as an item, it leaves no trace in its parent.
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, quoted only if some reader would misread it.
    Text(String),
    /// A string that always stands in double quotes.
    Quoted(String),
    /// A string that stands in single quotes where its characters allow it.
    SingleQuoted(String),
    /// Items in order.
    List(Vec<Self>),
    /// Entries in order; keys are unique. Most keys are words of the program and cost no memory.
    Map(Vec<(Cow<'static, str>, Self)>),
    /// Entries of a mapping whose keys are not all text, in order; keys are scalars.
    KeyedMap(Vec<(Self, Self)>),
}

impl Node {
    /// A mapping of the entries that are not [`Node::Absent`], in this order.
    pub fn map<K: Into<Cow<'static, str>>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entries = entries.into_iter();
        // A filter promises nothing about its length; without room from the start, the list would be moved as it grows.
        let mut kept = Vec::with_capacity(entries.size_hint().0);
        kept.extend(
            entries
                .filter(|(_, value)| !value.is_absent())
                .map(|(key, value)| (key.into(), value)),
        );
        Self::Map(kept)
    }

    /// A list of the items that are not [`Node::Absent`], in this order.
    pub fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(Into::into);
        let mut kept = Vec::with_capacity(items.size_hint().0);
        kept.extend(items.filter(|item: &Self| !item.is_absent()));
        Self::List(kept)
    }

    /// A string that is always in double quotes.
    pub fn quoted(text: impl Into<String>) -> Self {
        Self::Quoted(text.into())
    }

    /// Whether this is [`Node::Absent`].
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Whether this is a list or mapping without content, or nothing at all.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            Self::KeyedMap(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Whether this is a list or mapping.
    pub(crate) fn is_collection(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_) | Self::KeyedMap(_))
    }

    /// The node itself, or [`Node::Absent`] if it has no content.
    #[must_use]
    pub fn or_absent(self) -> Self {
        if self.is_empty() { Self::Absent } else { self }
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .iter()
                .find_map(|(name, value)| (name == key).then_some(value)),
            _ => None,
        }
    }

    /// The text of a string node.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Quoted(text) | Self::SingleQuoted(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; none for any other node.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// What this is as a key of JSON.
    pub fn key_text(&self) -> String {
        match self.to_value() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// The same value without order and quoting.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Absent | Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) | Self::Quoted(text) | Self::SingleQuoted(text) => {
                Value::String(text.clone())
            }
            Self::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone().into_owned(), value.to_value()))
                    .collect(),
            ),
            Self::KeyedMap(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.key_text(), value.to_value()))
                    .collect(),
            ),
        }
    }
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(entries) => Self::Map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone().into(), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl From<bool> for Node {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Node {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Vec<Self>> for Node {
    fn from(items: Vec<Self>) -> Self {
        Self::list(items)
    }
}

impl<T: Into<Self>> From<Option<T>> for Node {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Node {
            fn from(number: $integer) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}

from_integer!(i32, i64, u16, u32, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_entries_and_items_leave_no_trace() {
        let node = Node::map([
            ("a", Node::from(1)),
            ("b", Node::from(None::<bool>)),
            ("c", Node::list([Node::Absent, Node::from("x")])),
        ]);
        assert_eq!(node.to_value(), serde_json::json!({"a": 1, "c": ["x"]}));
    }

    #[test]
    fn empty_collections_can_be_dropped() {
        assert!(Node::list(Vec::<Node>::new()).or_absent().is_absent());
        assert!(!Node::from(false).or_absent().is_absent());
    }
}
