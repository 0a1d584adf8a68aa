//! Value → type, with every failure mapped back to its place in the text.

use std::cell::RefCell;

use serde::de::DeserializeOwned;

use crate::{
    document::Document,
    error::{Error, ErrorKind},
};

mod deserializer;
mod failure;
mod keys;

use deserializer::ValueDeserializer;
use failure::{Failure, Step};

/// Turns a document into a type. Unknown fields are ignored unless the type itself refuses them.
///
/// Failures name the path of the value, and the place where it stands.
pub fn from_value<T: DeserializeOwned>(document: &Document) -> Result<T, Error> {
    from_value_reporting(document).map(|(value, _)| value)
}

/// Like [`from_value`], but refuses fields that the type does not know; reports the first in the text.
///
/// A type that collects unknown fields (`#[serde(flatten)]`) knows them all.
pub fn from_value_strict<T: DeserializeOwned>(document: &Document) -> Result<T, Error> {
    let (value, unknown) = from_value_reporting(document)?;
    unknown.into_iter().next().map_or(Ok(value), Err)
}

/// Turns a document into a type and reports the fields that the type does not know, in the order of the text.
///
/// Stops counting after a hundred: more help nobody, and each costs a look at the text.
pub fn from_value_reporting<T: DeserializeOwned>(
    document: &Document,
) -> Result<(T, Vec<Error>), Error> {
    let unknown = RefCell::new(Vec::new());
    let value = T::deserialize(ValueDeserializer::root(&document.value, &unknown))
        .map_err(|failure| place(document, failure))?;
    let mut errors: Vec<_> = unknown
        .into_inner()
        .into_iter()
        .map(|failure| place(document, failure))
        .collect();
    errors.sort_by_key(Error::position);
    Ok((value, errors))
}

/// Finds the place of a failure and puts the path in front of its message.
fn place(document: &Document, failure: Failure) -> Error {
    let steps: Vec<_> = failure.path.iter().map(Step::as_pointer_step).collect();
    let location = document.locate(steps.iter().map(AsRef::as_ref));
    let position = if failure.at_key {
        location.key.unwrap_or(location.value)
    } else {
        location.value
    };
    let named = match failure.path.split_last() {
        // The message names the field itself, so the path names what holds it.
        Some((_, holder)) if failure.kind == ErrorKind::UnknownField => holder,
        _ => &failure.path,
    };
    let path = failure::display_path(named);
    let with_path = |message: &str| {
        if path.is_empty() {
            message.to_owned()
        } else {
            format!("{path}: {message}")
        }
    };
    let mut error = Error::new(
        failure.kind,
        document.source(),
        position,
        with_path(&failure.message),
    );
    if let Some(hint) = failure.hint {
        error = error.with_hint(hint);
    }
    // Names of fields are no secrets; what serde says about a value may quote it.
    if failure.kind == ErrorKind::Type {
        error = error.with_discreet_message(with_path("the value does not fit"));
    }
    error
}

#[cfg(test)]
mod tests;
