//! The one source of facts about config fields.
//!
//! The macros `section!` and `choice!` turn one declaration into a Rust type and a constant table about it. Loading
//! (`shape`, `defaults`), the JSON Schema ([`crate::schema`]), the command line's `options`, the
//! generated reference and redaction all walk that table and nothing else. The description of a field is its doc
//! comment; a declaration without one does not match the macro, so it does not compile.

mod declare;
mod described;

use serde_json::Value;

use super::format::Format;
use crate::finding::Code;

pub(crate) use declare::{choice, section};
pub use described::{Described, Shape};

/// What a mapping in the config may hold.
#[derive(Debug)]
pub struct Section {
    /// The name of the Rust type; also the name of its definition in documents.
    pub name: &'static str,
    /// The doc comment.
    pub(crate) documentation: &'static str,
    /// The fields in the order in which they are documented and printed.
    pub fields: &'static [Field],
    /// Whether keys that are not listed are kept without a look. True where only a part is of interest here.
    pub open: bool,
}

impl Section {
    /// What the section is for, in one sentence.
    pub fn description(&self) -> &'static str {
        self.documentation.trim()
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A mapping with known fields.
    Object(&'static Section),
    /// A list.
    List(&'static Self),
    /// A mapping with free keys.
    Map(&'static Self),
    /// `opencenter.services`: free keys, known ones have their own sections.
    Services,
    /// `opencenter.managed_services`.
    ManagedServices,
    /// Any mapping; kept as it is.
    Opaque,
    /// Anything; kept as it is.
    Any,
}

impl Kind {
    /// The word for this type in messages and documents.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Text | Self::Choice(_) => "string",
            Self::Object(_)
            | Self::Map(_)
            | Self::Services
            | Self::ManagedServices
            | Self::Opaque => "object",
            Self::List(_) => "list",
            Self::Any => "any",
        }
    }
}

/// A value that is assumed when a key is absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A boolean.
    Flag(bool),
    /// A number.
    Number(i64),
    /// Text.
    Word(&'static str),
}

impl Literal {
    /// As a JSON value.
    pub fn to_value(self) -> Value {
        match self {
            Self::Flag(flag) => flag.into(),
            Self::Number(number) => number.into(),
            Self::Word(word) => word.into(),
        }
    }
}

/// What holds when a key is absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// Nothing: the value stays absent.
    None,
    /// This value is filled in.
    Filled(Literal),
    /// The chart that reads the value assumes this; nothing is filled in.
    Chart(Literal),
    /// A rule over other values, in words.
    Rule(&'static str),
}

/// One field of a section.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of a table row"
)]
pub struct Field {
    /// The key in YAML.
    pub name: &'static str,
    documentation: &'static str,
    /// The type of the value.
    pub kind: Kind,
    /// Whether an absent mapping stays absent instead of being filled with defaults.
    pub optional: bool,
    /// What holds when the key is absent.
    pub fallback: Fallback,
    /// Whether the value must be there once defaults are filled in.
    pub required: bool,
    /// When the value must be there, in words.
    pub required_when: Option<&'static str>,
    /// Whether the value is secret.
    pub secret: bool,
    /// Whether the key is only accepted for old files.
    pub deprecated: bool,
    /// Whether the renderer reads the value.
    pub rendered: bool,
    /// Whether the field steers only services without a descriptor of their own.
    pub rendering_field: bool,
    /// The format of text, or of each text in a list.
    pub format: Option<Format>,
    /// The smallest number.
    pub minimum: Option<i64>,
    /// The largest number.
    pub maximum: Option<i64>,
    /// The code for a value outside the choices, the format or the bounds.
    pub code: Option<Code>,
    /// The code for an absent value, where it is required.
    pub missing: Option<Code>,
    /// The choices that documents offer, if fewer than are understood.
    pub advertised: Option<&'static [&'static str]>,
}

impl Field {
    /// A field with nothing but its name, description and type.
    pub(crate) const fn new(name: &'static str, documentation: &'static str, shape: Shape) -> Self {
        Self {
            name,
            documentation,
            kind: shape.kind,
            optional: shape.optional,
            fallback: shape.fallback,
            required: false,
            required_when: None,
            secret: shape.secret,
            deprecated: false,
            rendered: true,
            rendering_field: false,
            format: None,
            minimum: None,
            maximum: None,
            code: None,
            missing: None,
            advertised: None,
        }
    }

    /// What the field is for.
    pub fn description(&self) -> &'static str {
        self.documentation.trim()
    }

    /// The accepted words, if the field takes one of a few.
    pub fn choices(&self) -> Option<&'static [&'static str]> {
        let kind = match self.kind {
            Kind::List(item) => *item,
            kind => kind,
        };
        match kind {
            Kind::Choice(words) => Some(self.advertised.unwrap_or(words)),
            _ => None,
        }
    }

    pub(crate) const fn flag(mut self, value: bool) -> Self {
        self.fallback = Fallback::Filled(Literal::Flag(value));
        self
    }

    pub(crate) const fn number(mut self, value: i64) -> Self {
        self.fallback = Fallback::Filled(Literal::Number(value));
        self
    }

    pub(crate) const fn word(mut self, value: &'static str) -> Self {
        self.fallback = Fallback::Filled(Literal::Word(value));
        self
    }

    pub(crate) const fn chart(mut self, value: Literal) -> Self {
        self.fallback = Fallback::Chart(value);
        self
    }

    pub(crate) const fn rule(mut self, words: &'static str) -> Self {
        self.fallback = Fallback::Rule(words);
        self
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) const fn required_when(mut self, words: &'static str) -> Self {
        self.required_when = Some(words);
        self
    }

    pub(crate) const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    pub(crate) const fn not_rendered(mut self) -> Self {
        self.rendered = false;
        self
    }

    pub(crate) const fn rendering_field(mut self) -> Self {
        self.rendering_field = true;
        self
    }

    pub(crate) const fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    pub(crate) const fn minimum(mut self, minimum: i64) -> Self {
        self.minimum = Some(minimum);
        self
    }

    pub(crate) const fn maximum(mut self, maximum: i64) -> Self {
        self.maximum = Some(maximum);
        self
    }

    pub(crate) const fn code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) const fn missing(mut self, code: Code) -> Self {
        self.missing = Some(code);
        self
    }

    pub(crate) const fn advertise(mut self, choices: &'static [&'static str]) -> Self {
        self.advertised = Some(choices);
        self
    }
}
