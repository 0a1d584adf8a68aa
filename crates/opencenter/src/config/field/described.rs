//! What the Rust type of a field says about it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Fallback, Kind, Section};
use crate::config::Secret;

/// What a Rust type says about its field.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub(crate) kind: Kind,
    pub(crate) optional: bool,
    pub(crate) secret: bool,
    pub(crate) fallback: Fallback,
}

impl Shape {
    const fn plain(kind: Kind) -> Self {
        Self {
            kind,
            optional: false,
            secret: false,
            fallback: Fallback::None,
        }
    }

    pub(crate) const fn object(section: &'static Section) -> Self {
        Self::plain(Kind::Object(section))
    }

    pub(crate) const fn choice(words: &'static [&'static str]) -> Self {
        Self::plain(Kind::Choice(words))
    }

    pub(crate) const fn of_kind(kind: Kind) -> Self {
        Self::plain(kind)
    }
}

/// A Rust type that a field may have.
pub trait Described {
    /// What the type says about its field.
    const SHAPE: Shape;
}

impl Described for bool {
    const SHAPE: Shape = Shape::plain(Kind::Boolean);
}

impl Described for i64 {
    const SHAPE: Shape = Shape::plain(Kind::Integer);
}

impl Described for String {
    const SHAPE: Shape = Shape::plain(Kind::Text);
}

impl Described for Secret {
    const SHAPE: Shape = Shape {
        secret: true,
        ..Shape::plain(Kind::Text)
    };
}

impl Described for Value {
    const SHAPE: Shape = Shape::plain(Kind::Any);
}

impl Described for serde_json::Map<String, Value> {
    const SHAPE: Shape = Shape::plain(Kind::Opaque);
}

impl<T: Described> Described for Option<T> {
    const SHAPE: Shape = Shape {
        optional: true,
        ..T::SHAPE
    };
}

impl<T: Described> Described for Vec<T> {
    const SHAPE: Shape = Shape {
        secret: T::SHAPE.secret,
        ..Shape::plain(Kind::List(&T::SHAPE.kind))
    };
}

impl<T: Described> Described for BTreeMap<String, T> {
    const SHAPE: Shape = Shape {
        secret: T::SHAPE.secret,
        ..Shape::plain(Kind::Map(&T::SHAPE.kind))
    };
}
