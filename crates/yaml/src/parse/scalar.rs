//! Scalars and keys: style and tag decide whether the plain rules apply.

use std::borrow::Cow;

use serde_json::Value;
use serde_saphyr::granit_parser::{ScalarStyle, Tag};

use crate::{
    error::{ErrorKind, quoted},
    resolve::{self, Dialect, Plain},
};

/// Why a scalar cannot be used; the reader adds the place.
pub(super) struct Problem {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The tags that a scalar may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarTag {
    /// `!!str`, `!!timestamp` and the bare `!`: the text as it stands.
    Text,
    Int,
    Float,
    Bool,
    Null,
    Binary,
    Merge,
}

impl ScalarTag {
    pub(super) fn from_tag(tag: &Tag) -> Option<Self> {
        if is_non_specific(tag) {
            return Some(Self::Text);
        }
        match tag.suffix_in_namespace("tag:yaml.org,2002:")?.as_ref() {
            "str" | "timestamp" => Some(Self::Text),
            "int" => Some(Self::Int),
            "float" => Some(Self::Float),
            "bool" => Some(Self::Bool),
            "null" => Some(Self::Null),
            "binary" => Some(Self::Binary),
            "merge" => Some(Self::Merge),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "!!str",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Bool => "!!bool",
            Self::Null => "!!null",
            Self::Binary => "!!binary",
            Self::Merge => "!!merge",
        }
    }
}

/// Whether the tag is the bare `!`, which only says that a scalar is text.
pub(super) fn is_non_specific(tag: &Tag) -> bool {
    matches!(tag.parts(), ("", "!") | ("!", ""))
}

/// Whether a key is the merge key.
pub(super) fn is_merge(text: &str, style: ScalarStyle, tag: Option<ScalarTag>) -> bool {
    text == "<<"
        && (tag == Some(ScalarTag::Merge) || (tag.is_none() && style == ScalarStyle::Plain))
}

/// The value of a scalar.
pub(super) fn value(
    dialect: Dialect,
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<ScalarTag>,
) -> Result<Value, Problem> {
    let plain = match meaning(dialect, &text, style, tag)? {
        Meaning::Plain(Plain::Text) => return Ok(Value::String(text.into_owned())),
        Meaning::Plain(plain) => plain,
        Meaning::Decoded(text) => return Ok(Value::String(text)),
    };
    resolve::json_value(plain, &text).ok_or_else(|| {
        Problem::new(
            ErrorKind::Scalar,
            "infinity and not-a-number do not exist in JSON",
        )
        .with_hint("put the value in quotes if it is meant as text")
    })
}

/// A key of a mapping.
pub(super) struct Name {
    pub(super) text: String,
    /// Whether the key is text, and not a number or boolean that the dialect keeps.
    pub(super) is_text: bool,
}

/// A scalar as a mapping key.
pub(super) fn key(
    dialect: Dialect,
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<ScalarTag>,
) -> Result<Name, Problem> {
    let meaning = meaning(dialect, &text, style, tag)?;
    let is_text = dialect != Dialect::Go
        || matches!(meaning, Meaning::Plain(Plain::Text) | Meaning::Decoded(_));
    let text = key_text(dialect, text, meaning)?;
    Ok(Name { text, is_text })
}

fn key_text(dialect: Dialect, text: Cow<'_, str>, meaning: Meaning) -> Result<String, Problem> {
    match meaning {
        Meaning::Plain(Plain::Text) => Ok(text.into_owned()),
        Meaning::Decoded(text) => Ok(text),
        Meaning::Plain(Plain::Null) => Err(null_key()),
        // Keys are text; outside the cluster nobody converts them.
        Meaning::Plain(_) if matches!(dialect, Dialect::Core | Dialect::GoText) => {
            Ok(text.into_owned())
        }
        Meaning::Plain(Plain::Bool(flag)) if dialect == Dialect::Go => Ok(flag.to_string()),
        Meaning::Plain(Plain::Unsigned(number)) if dialect == Dialect::Go => Ok(number.to_string()),
        Meaning::Plain(Plain::Float(_)) if dialect == Dialect::Go => Ok(text.into_owned()),
        // Only the spellings that survive the conversion; the others are more likely meant as text.
        Meaning::Plain(Plain::Bool(flag)) if text == if flag { "true" } else { "false" } => {
            Ok(text.into_owned())
        }
        Meaning::Plain(Plain::Bool(flag)) => Err(Problem::new(
            ErrorKind::Key,
            format!("key {} means `{flag}` to kubectl", quoted(&text)),
        )
        .with_hint(format!("put the key in quotes: \"{text}\""))),
        Meaning::Plain(Plain::Signed(number)) => Ok(number.to_string()),
        Meaning::Plain(Plain::Unsigned(_)) => Err(unusable_key(&text)),
        Meaning::Plain(Plain::Float(number)) => {
            resolve::float_key(number).ok_or_else(|| unusable_key(&text))
        }
    }
}

/// An aliased value as a mapping key.
pub(super) fn key_of_value(dialect: Dialect, value: &Value) -> Result<Name, Problem> {
    let is_text = dialect != Dialect::Go || value.is_string();
    let text = key_text_of_value(value)?;
    Ok(Name { text, is_text })
}

fn key_text_of_value(value: &Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        Value::Number(number) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .and_then(resolve::float_key)
            .ok_or_else(|| unusable_key(&number.to_string())),
        Value::Null => Err(null_key()),
        Value::Array(_) | Value::Object(_) => Err(collection_key()),
    }
}

/// The problem with a mapping or list in the place of a key.
pub(super) fn collection_key() -> Problem {
    Problem::new(ErrorKind::Key, "a mapping or list cannot be a key")
        .with_hint("quote the key if it is meant as text, for example a template in double braces")
}

fn null_key() -> Problem {
    Problem::new(ErrorKind::Key, "a key must not be null")
        .with_hint("put the key in quotes if it is meant as text")
}

fn unusable_key(text: &str) -> Problem {
    Problem::new(
        ErrorKind::Key,
        format!("number {} cannot be a key without loss", quoted(text)),
    )
    .with_hint("put the key in quotes")
}

enum Meaning {
    Plain(Plain),
    /// Text that differs from the text of the scalar.
    Decoded(String),
}

fn meaning(
    dialect: Dialect,
    text: &str,
    style: ScalarStyle,
    tag: Option<ScalarTag>,
) -> Result<Meaning, Problem> {
    let Some(tag) = tag else {
        let is_plain = style == ScalarStyle::Plain;
        return Ok(Meaning::Plain(if is_plain {
            dialect.resolve(text)
        } else {
            Plain::Text
        }));
    };
    let plain = dialect.resolve(text);
    match (tag, plain) {
        (ScalarTag::Text | ScalarTag::Merge, _) => Ok(Meaning::Plain(Plain::Text)),
        (ScalarTag::Binary, _) => resolve::decode_base64(text)
            .map(|bytes| Meaning::Decoded(text_of_bytes(&bytes)))
            .ok_or_else(|| {
                Problem::new(ErrorKind::Tag, "tag `!!binary` needs base64 with padding")
            }),
        (ScalarTag::Int, Plain::Signed(_) | Plain::Unsigned(_))
        | (ScalarTag::Float, Plain::Float(_))
        | (ScalarTag::Bool, Plain::Bool(_))
        | (ScalarTag::Null, Plain::Null) => Ok(Meaning::Plain(plain)),
        #[expect(clippy::cast_precision_loss, reason = "the tag asks for a float")]
        (ScalarTag::Float, Plain::Signed(number)) => {
            Ok(Meaning::Plain(Plain::Float(number as f64)))
        }
        _ => Err(Problem::new(
            ErrorKind::Tag,
            format!("tag `{}` does not fit this value", tag.name()),
        )),
    }
}

/// Parity: each byte that is not UTF-8 becomes one replacement character.
fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
