//! Values while they are read, each with its layout and its cost.

use std::collections::HashMap;

use serde_json::{Map, Value};
use serde_saphyr::granit_parser::Span;

use super::scalar::Name;
use crate::{
    document::{Field, Layout, Shape},
    source::Position,
};

/// What a node costs: itself and all below it, aliases expanded.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) nodes: usize,
    pub(super) bytes: usize,
}

impl Cost {
    pub(super) fn of_scalar(text: &str) -> Self {
        Self {
            nodes: 1,
            bytes: text.len(),
        }
    }

    /// Keys cost their text; the value beside them is the node.
    pub(super) fn of_key(text: &str) -> Self {
        Self {
            nodes: 0,
            bytes: text.len(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A value with its layout.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) layout: Layout,
    pub(super) cost: Cost,
    /// Levels of mappings and sequences, itself included; zero for scalars.
    pub(super) height: usize,
}

impl Node {
    pub(super) fn scalar(value: Value, cost: Cost, span: &Span) -> Self {
        let layout = Layout {
            position: position(span),
            shape: Shape::Scalar,
        };
        Self {
            value,
            layout,
            cost,
            height: 0,
        }
    }
}

/// What a merge key names is neither a mapping nor a list of mappings.
pub(super) struct NotMergeable;

/// The key is there already.
pub(super) struct Repeated {
    pub(super) name: String,
    pub(super) first: Position,
}

/// A mapping while it is read: values sorted, fields in the order of the text.
#[derive(Default)]
pub(super) struct Mapping {
    pub(super) values: Map<String, Value>,
    pub(super) fields: Vec<Field>,
    /// Where each key stands in the fields; kept from the first merge on, when keys may be replaced.
    places: Option<HashMap<Box<str>, usize>>,
}

impl Mapping {
    /// Adds a key that is written out; it may replace a merged one.
    pub(super) fn insert(
        &mut self,
        name: Name,
        position: Position,
        node: Node,
    ) -> Result<(), Repeated> {
        let Name {
            text: name,
            is_text,
        } = name;
        let field = Field {
            key: name.as_str().into(),
            is_text,
            position,
            value: node.layout,
            merged: false,
        };
        if self.values.contains_key(&name) {
            match self.field_mut(&name) {
                Some(earlier) if earlier.merged => *earlier = field,
                earlier => {
                    let first = earlier.map_or(position, |earlier| earlier.position);
                    return Err(Repeated { name, first });
                }
            }
        } else {
            self.push(field);
        }
        self.values.insert(name, node.value);
        Ok(())
    }

    /// Takes over the keys of a mapping, or of each mapping in a list.
    ///
    /// Parity: kubectl merges on the spot, so a merge key overrides what stands above it and yields to what stands
    /// below. In a list the first mapping wins.
    pub(super) fn merge(&mut self, node: Node) -> Result<(), NotMergeable> {
        match (node.value, node.layout.shape) {
            (Value::Object(values), Shape::Mapping(fields)) => self.merge_fields(values, &fields),
            (Value::Array(values), Shape::Sequence(layouts)) => {
                for (value, layout) in values.into_iter().zip(layouts.iter()).rev() {
                    let (Value::Object(values), Shape::Mapping(fields)) = (value, &layout.shape)
                    else {
                        return Err(NotMergeable);
                    };
                    self.merge_fields(values, fields);
                }
            }
            _ => return Err(NotMergeable),
        }
        Ok(())
    }

    fn merge_fields(&mut self, mut values: Map<String, Value>, fields: &[Field]) {
        let known = &self.fields;
        self.places.get_or_insert_with(|| {
            let keys = known.iter().map(|field| field.key.clone());
            keys.zip(0..).collect()
        });
        for field in fields {
            let Some(value) = values.remove(&*field.key) else {
                continue;
            };
            if self.values.insert(field.key.to_string(), value).is_none() {
                self.push(Field {
                    merged: true,
                    ..field.clone()
                });
            } else if let Some(earlier) = self.field_mut(&field.key) {
                earlier.value = field.value.clone();
            }
        }
    }

    fn push(&mut self, field: Field) {
        if let Some(places) = &mut self.places {
            places.insert(field.key.clone(), self.fields.len());
        }
        self.fields.push(field);
    }

    fn field_mut(&mut self, key: &str) -> Option<&mut Field> {
        match &self.places {
            Some(places) => self.fields.get_mut(*places.get(key)?),
            None => self.fields.iter_mut().find(|field| &*field.key == key),
        }
    }
}

/// The place of a sequence. The parser reports one that is not indented under its key from its first item on; the
/// dash in front of that is what people look for.
pub(super) fn position_of_sequence(span: &Span, text: &str) -> Position {
    let found = position(span);
    let offset = span.start.byte_offset().unwrap_or_default();
    let starts_with = |text: Option<&str>, mark| text.is_some_and(|text| text.starts_with(mark));
    if starts_with(text.get(offset..), '-') || starts_with(text.get(offset..), '[') {
        return found;
    }
    let before = text.get(..offset).unwrap_or_default();
    let without_blanks = before.trim_end_matches(' ');
    let distance = u32::try_from(before.len() - without_blanks.len() + 1).unwrap_or(u32::MAX);
    if !without_blanks.ends_with('-') || distance >= found.column {
        return found;
    }
    Position {
        column: found.column - distance,
        ..found
    }
}

/// The place where a node starts.
pub(super) fn position(span: &Span) -> Position {
    Position::from_zero_based_column(span.start.line(), span.start.col())
}
