//! A deserializer over a JSON value that remembers the way to each failure and notices unknown fields.
//!
//! It visits exactly what `serde_json` visits; only the bookkeeping is added. The bookkeeping costs nothing until
//! something goes wrong: a value knows its way through links on the stack, a failure collects it on the way up.

use std::cell::RefCell;

use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected,
        VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};
use serde_json::Value;

use super::{
    failure::{Failure, Step},
    keys::KeyDeserializer,
};

/// Unknown fields that are remembered.
const MOST_UNKNOWN_FIELDS: usize = 100;

/// The way from the root to a value, as links on the stack.
#[derive(Clone, Copy)]
struct Trail<'a> {
    parent: Option<&'a Self>,
    link: Link<'a>,
}

#[derive(Clone, Copy)]
enum Link<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl Trail<'_> {
    fn to_path(self) -> Vec<Step> {
        let mut path = self
            .parent
            .map(|parent| parent.to_path())
            .unwrap_or_default();
        match self.link {
            Link::Root => {}
            Link::Key(key) => path.push(Step::Key(key.to_owned())),
            Link::Index(index) => path.push(Step::Index(index)),
        }
        path
    }
}

/// One value, to be turned into a type.
#[derive(Clone, Copy)]
pub(super) struct ValueDeserializer<'de, 'a> {
    value: &'de Value,
    trail: Trail<'a>,
    /// The fields of the struct that holds this value; empty if a map holds it.
    siblings: &'static [&'static str],
    unknown: &'a RefCell<Vec<Failure>>,
}

impl<'de, 'a> ValueDeserializer<'de, 'a> {
    /// The deserializer for a whole document; unknown fields are added to the list.
    pub(super) fn root(value: &'de Value, unknown: &'a RefCell<Vec<Failure>>) -> Self {
        Self {
            value,
            trail: Trail {
                parent: None,
                link: Link::Root,
            },
            siblings: &[],
            unknown,
        }
    }

    /// The deserializer for a value inside this one.
    fn child<'b>(
        &'b self,
        value: &'de Value,
        link: Link<'b>,
        siblings: &'static [&'static str],
    ) -> ValueDeserializer<'de, 'b> {
        ValueDeserializer {
            value,
            trail: Trail {
                parent: Some(&self.trail),
                link,
            },
            siblings,
            unknown: self.unknown,
        }
    }

    fn visit<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Number(number) => {
                if let Some(number) = number.as_u64() {
                    visitor.visit_u64(number)
                } else if let Some(number) = number.as_i64() {
                    visitor.visit_i64(number)
                } else {
                    visitor.visit_f64(number.as_f64().unwrap_or_default())
                }
            }
            Value::Array(items) => {
                let mut access = Items {
                    parent: &self,
                    items: items.iter().enumerate(),
                };
                let visited = visitor.visit_seq(&mut access)?;
                match access.items.len() {
                    0 => Ok(visited),
                    _ => Err(Failure::invalid_length(
                        items.len(),
                        &"fewer elements in the list",
                    )),
                }
            }
            Value::Object(values) => {
                let mut access = Entries {
                    parent: &self,
                    fields,
                    iterator: values.iter(),
                    current: None,
                };
                visitor.visit_map(&mut access)
            }
        }
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de, '_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit(&[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.visit(fields, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let expected = "a string, or a mapping with a single key";
        match self.value {
            Value::String(variant) => visitor.visit_enum(Choice {
                holder: &self,
                variant,
                content: None,
            }),
            Value::Object(values) => {
                let mut entries = values.iter();
                match (entries.next(), entries.next()) {
                    (Some((variant, content)), None) => visitor.visit_enum(Choice {
                        holder: &self,
                        variant,
                        content: Some(content),
                    }),
                    _ => Err(Failure::invalid_value(Unexpected::Map, &expected)),
                }
            }
            other => Err(Failure::invalid_type(unexpected(other), &expected)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let mut unknown = self.unknown.borrow_mut();
        if matches!(self.trail.link, Link::Key(_)) && unknown.len() < MOST_UNKNOWN_FIELDS {
            unknown.push(Failure::unknown_field(self.trail.to_path(), self.siblings));
        }
        drop(unknown);
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Unexpected::Unsigned(number),
            (None, Some(number)) => Unexpected::Signed(number),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

struct Items<'de, 'b> {
    parent: &'b ValueDeserializer<'de, 'b>,
    items: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        let Some((index, value)) = self.items.next() else {
            return Ok(None);
        };
        seed.deserialize(self.parent.child(value, Link::Index(index), &[]))
            .map(Some)
            .map_err(|failure| failure.inside(Step::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'de, 'b> {
    parent: &'b ValueDeserializer<'de, 'b>,
    /// The fields that the struct accepts; empty for a map.
    fields: &'static [&'static str],
    iterator: serde_json::map::Iter<'de>,
    current: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de, '_> {
    type Error = Failure;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        let Some((key, value)) = self.iterator.next() else {
            return Ok(None);
        };
        self.current = Some((key, value));
        seed.deserialize(KeyDeserializer(key))
            .map(Some)
            .map_err(|failure| failure.at_key(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        let Some((key, value)) = self.current.take() else {
            return Err(Failure::custom("a value was asked for before its key"));
        };
        seed.deserialize(self.parent.child(value, Link::Key(key), self.fields))
            .map_err(|failure| failure.inside(Step::Key(key.to_owned())))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.iterator.len())
    }
}

/// An enum in its usual form: a string, or a mapping from the variant's name to its content.
#[derive(Clone, Copy)]
struct Choice<'de, 'b> {
    holder: &'b ValueDeserializer<'de, 'b>,
    variant: &'de str,
    content: Option<&'de Value>,
}

impl<'de> Choice<'de, '_> {
    fn read<T>(
        self,
        read: impl FnOnce(ValueDeserializer<'de, '_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self.content {
            Some(content) => read(self.holder.child(content, Link::Key(self.variant), &[]))
                .map_err(|failure| failure.inside(Step::Key(self.variant.to_owned()))),
            None => Err(Failure::invalid_type(
                Unexpected::UnitVariant,
                &"a variant with content",
            )),
        }
    }
}

impl<'de> EnumAccess<'de> for Choice<'de, '_> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Failure> {
        let name = seed
            .deserialize(KeyDeserializer(self.variant))
            .map_err(|failure| {
                if self.content.is_some() {
                    failure.at_key(self.variant)
                } else {
                    failure
                }
            })?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de, '_> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        match self.content {
            None => Ok(()),
            Some(_) => self.read(|content| Deserialize::deserialize(content)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Failure> {
        self.read(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.read(|content| content.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.read(|content| content.deserialize_struct("", fields, visitor))
    }
}
