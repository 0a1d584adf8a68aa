//! One document: its value, and beside it the layout that knows order and places.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    node::Node,
    source::{Position, Source, SourceName},
};

/// One document of a text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value, as `kubectl` would send it.
    pub value: Value,
    index: usize,
    layout: Layout,
    source: Source,
}

/// The place of a value in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Where the key of the value stands; none for list items and for the document itself.
    pub key: Option<Position>,
    /// Where the value stands; for an alias, where the alias stands.
    pub value: Position,
    /// Whether this is the value that was asked for, or its nearest parent that exists.
    pub exact: bool,
}

impl Document {
    pub(crate) fn new(value: Value, index: usize, layout: Layout, source: Source) -> Self {
        Self {
            value,
            index,
            layout,
            source,
        }
    }

    /// A document that was never a text of ours: its order is that of its keys, and every place is its start.
    pub fn from_value(value: Value, source: &SourceName) -> Self {
        let layout = Layout {
            position: Position::START,
            shape: Shape::Scalar,
        };
        let source = Source {
            name: source.clone(),
            text: Arc::from(""),
        };
        Self::new(value, 0, layout, source)
    }

    /// The number of the document in its text, starting at zero, empty documents not counted.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The line on which the content of the document starts.
    pub fn first_line(&self) -> u32 {
        self.layout.position.line
    }

    /// The name of the text.
    pub fn source_name(&self) -> &SourceName {
        &self.source.name
    }

    /// Finds the place of the value that a JSON pointer such as `/spec/ingress/path` names.
    pub fn position(&self, pointer: &str) -> Location {
        let steps: Vec<String> = steps(pointer).collect();
        self.locate(steps.iter().map(String::as_str))
    }

    /// The keys of the mapping that a JSON pointer names, in the order of the text.
    ///
    /// Empty if there is no mapping in that place. Merged keys stand where the merge key stands.
    pub fn keys_in_order(&self, pointer: &str) -> Vec<&str> {
        let found = steps(pointer).try_fold(&self.layout, |layout, step| {
            layout.child(&step).map(|(_, child)| child)
        });
        match found.map(|layout| &layout.shape) {
            Some(Shape::Mapping(fields)) => fields.iter().map(|field| &*field.key).collect(),
            _ => Vec::new(),
        }
    }

    /// The value with its keys in the order of the text.
    pub fn to_node(&self) -> Node {
        self.layout.order(&self.value)
    }

    pub(crate) fn locate<'a>(&self, steps: impl Iterator<Item = &'a str>) -> Location {
        let mut layout = &self.layout;
        let mut location = Location {
            key: None,
            value: layout.position,
            exact: true,
        };
        for step in steps {
            let Some((key, child)) = layout.child(step) else {
                location.exact = false;
                break;
            };
            location = Location {
                key,
                value: child.position,
                exact: true,
            };
            layout = child;
        }
        location
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }
}

/// The unescaped steps of a JSON pointer.
fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// Place and order of a node; children are shared, so that repeating an alias costs nothing here.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) position: Position,
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Scalar,
    Sequence(Arc<[Layout]>),
    Mapping(Arc<[Field]>),
}

/// One key of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) key: Box<str>,
    /// Whether the key is text; numbers and booleans are kept by [`Dialect::Go`](crate::Dialect::Go) alone.
    pub(crate) is_text: bool,
    pub(crate) position: Position,
    pub(crate) value: Layout,
    /// The key came in through a merge key only, so that writing it out is not a repetition.
    pub(crate) merged: bool,
}

impl Field {
    /// The key as what it is.
    fn key_node(&self) -> Node {
        let known = (!self.is_text).then(|| serde_json::from_str(&self.key).ok());
        match known.flatten() {
            Some(scalar @ (Value::Bool(_) | Value::Number(_))) => Node::from(&scalar),
            _ => Node::Text(self.key.to_string()),
        }
    }
}

impl Layout {
    /// A value with its keys in the order of this layout; sorted where the value was changed since.
    fn order(&self, value: &Value) -> Node {
        match (&self.shape, value) {
            (Shape::Sequence(layouts), Value::Array(items)) if layouts.len() == items.len() => {
                let items = layouts.iter().zip(items);
                Node::List(items.map(|(layout, item)| layout.order(item)).collect())
            }
            (Shape::Mapping(fields), Value::Object(values)) if fields.len() == values.len() => {
                let value = |field: &Field| Some(field.value.order(values.get(&*field.key)?));
                if fields.iter().any(|field| !field.is_text) {
                    let entry = |field: &Field| Some((field.key_node(), value(field)?));
                    return Node::KeyedMap(fields.iter().filter_map(entry).collect());
                }
                let entry = |field: &Field| Some((field.key.to_string().into(), value(field)?));
                Node::Map(fields.iter().filter_map(entry).collect())
            }
            _ => Node::from(value),
        }
    }

    fn child(&self, step: &str) -> Option<(Option<Position>, &Self)> {
        match &self.shape {
            Shape::Scalar => None,
            Shape::Sequence(items) => items
                .get(step.parse::<usize>().ok()?)
                .map(|item| (None, item)),
            Shape::Mapping(fields) => fields
                .iter()
                .find(|field| &*field.key == step)
                .map(|field| (Some(field.position), &field.value)),
        }
    }
}
