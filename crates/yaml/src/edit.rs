//! Changes to a text that a person wrote: comments, order and spacing around the change stay as they are.
//!
//! Every change is checked by reading the result: if it does not mean exactly what was asked for, nothing is changed.

use serde_json::{Map, Value};

use crate::{Dialect, Limits, SourceName, error::Error, parse_documents_as, print};

mod tree;

use tree::{Content, Entry, Tree};

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text cannot be read.
    #[error("could not read the text before changing it")]
    Read(#[source] Box<Error>),
    /// The text is not one mapping.
    #[error("the text is not one document with a mapping")]
    NotOneMapping,
    /// Something on the way is not a mapping.
    #[error("`{0}` is not a mapping")]
    NotAMapping(String),
    /// The change would have another effect than asked for, for example because of an alias.
    #[error("`{0}` cannot be changed without touching something else")]
    NotPossible(String),
}

/// A text that is being changed.
#[derive(Clone, Debug)]
pub struct Editor {
    text: String,
    dialect: Dialect,
}

impl Editor {
    /// Starts with a text of one document, a mapping.
    pub fn new(dialect: Dialect, text: &str) -> Result<Self, EditError> {
        let editor = Self {
            text: text.to_owned(),
            dialect,
        };
        editor.value()?;
        Ok(editor)
    }

    /// The text as it stands.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as it stands, without the editor.
    pub fn into_text(self) -> String {
        self.text
    }

    /// What the text means.
    pub fn value(&self) -> Result<Value, EditError> {
        self.read(&self.text)
    }

    fn read(&self, text: &str) -> Result<Value, EditError> {
        let source = SourceName::new("text");
        let mut documents = parse_documents_as(self.dialect, text, &source, &Limits::default())
            .map_err(|error| EditError::Read(Box::new(error)))?
            .into_iter();
        match (documents.next(), documents.next()) {
            (Some(document), None) if document.value.is_object() => Ok(document.value),
            _ => Err(EditError::NotOneMapping),
        }
    }

    /// Sets the value at a path of keys, making mappings on the way. Returns whether anything changed.
    pub fn set(&mut self, path: &[&str], value: &Value) -> Result<bool, EditError> {
        let before = self.value()?;
        let wanted = with_value(&before, path, value)?;
        if wanted == before {
            return Ok(false);
        }
        let tree = Tree::read(&self.text).ok_or(EditError::NotOneMapping)?;
        let candidate = change(&self.text, &tree, path, value);
        // A change inside a flow mapping or behind an alias may not work; the parent as a whole often does.
        let accepted = candidate
            .filter(|text| self.means(text, &wanted))
            .or_else(|| self.rewrite_parent(&tree, path, &wanted));
        self.text = accepted.ok_or_else(|| EditError::NotPossible(path.join(".")))?;
        Ok(true)
    }

    /// Removes the value at a path of keys. Returns whether there was one.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, EditError> {
        let before = self.value()?;
        let Some(wanted) = without_value(&before, path) else {
            return Ok(false);
        };
        let tree = Tree::read(&self.text).ok_or(EditError::NotOneMapping)?;
        let candidate = removal(&self.text, &tree, path);
        let accepted = candidate
            .filter(|text| self.means(text, &wanted))
            .or_else(|| self.rewrite_parent(&tree, path, &wanted));
        self.text = accepted.ok_or_else(|| EditError::NotPossible(path.join(".")))?;
        Ok(true)
    }

    /// Gives the last key of a path another name, in its place. Returns whether there was one.
    pub fn rename(&mut self, path: &[&str], name: &str) -> Result<bool, EditError> {
        let before = self.value()?;
        let Some((last, parents)) = path.split_last() else {
            return Ok(false);
        };
        let Some(value) = path.iter().try_fold(&before, |value, key| value.get(key)) else {
            return Ok(false);
        };
        let renamed: Vec<&str> = parents.iter().copied().chain([name]).collect();
        let wanted = without_value(&before, path)
            .map(|rest| with_value(&rest, &renamed, value))
            .transpose()?;
        let tree = Tree::read(&self.text).ok_or(EditError::NotOneMapping)?;
        let candidate = parents
            .iter()
            .try_fold(&tree, |tree, key| Some(&tree.entry(key)?.value))
            .and_then(|holder| holder.entry(last))
            .and_then(|entry| {
                splice(
                    &self.text,
                    entry.key_start,
                    entry.key_end,
                    &scalar(&Value::from(name)),
                )
            });
        match (candidate, wanted) {
            (Some(text), Some(wanted)) if self.means(&text, &wanted) => {
                self.text = text;
                Ok(true)
            }
            _ => Err(EditError::NotPossible(path.join("."))),
        }
    }

    fn means(&self, text: &str, wanted: &Value) -> bool {
        self.read(text).is_ok_and(|value| value == *wanted)
    }

    /// Writes what holds the value anew; its inner comments are lost, everything around it stays.
    fn rewrite_parent(&self, tree: &Tree, path: &[&str], wanted: &Value) -> Option<String> {
        let (_, parent) = path.split_last()?;
        if parent.is_empty() {
            return None;
        }
        let value = parent
            .iter()
            .try_fold(wanted, |value, key| value.get(key))?;
        change(&self.text, tree, parent, value).filter(|text| self.means(text, wanted))
    }
}

/// The value with one value set.
fn with_value(before: &Value, path: &[&str], value: &Value) -> Result<Value, EditError> {
    let mut wanted = before.clone();
    let mut current = &mut wanted;
    for (depth, key) in path.iter().enumerate() {
        let fields = match current {
            Value::Object(fields) => fields,
            Value::Null => {
                *current = Value::Object(Map::new());
                current
                    .as_object_mut()
                    .ok_or_else(|| EditError::NotAMapping((*key).to_owned()))?
            }
            _ => {
                return Err(EditError::NotAMapping(
                    path.get(..depth).unwrap_or_default().join("."),
                ));
            }
        };
        current = fields.entry(*key).or_insert(Value::Null);
    }
    *current = value.clone();
    Ok(wanted)
}

/// The value without one value; none if it was not there. A mapping that becomes empty stays.
fn without_value(before: &Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let mut wanted = before.clone();
    let mut current = &mut wanted;
    for key in parents {
        current = current.get_mut(key)?;
    }
    current.as_object_mut()?.remove(*last)?;
    Some(wanted)
}

/// The text with a value set, if the shape of the text allows it.
fn change(text: &str, tree: &Tree, path: &[&str], value: &Value) -> Option<String> {
    let mut current = tree;
    let mut holder = None;
    for (depth, key) in path.iter().enumerate() {
        let Content::Mapping { entries, is_block } = &current.content else {
            return fill_empty(text, holder?, path.get(depth..)?, value);
        };
        match entries.iter().find(|entry| entry.key == *key) {
            Some(entry) => {
                holder = Some((entry, *is_block));
                current = &entry.value;
            }
            None if entries.is_empty() && depth > 0 => {
                return fill_empty(text, holder?, path.get(depth..)?, value);
            }
            None => return insert(text, current, entries, *is_block, path.get(depth..)?, value),
        }
    }
    replace(text, holder?, value)
}

/// Puts a value in the place of another.
fn replace(text: &str, (entry, is_block): (&Entry, bool), value: &Value) -> Option<String> {
    let old = &entry.value;
    let fits_inline = !is_collection(value) || !is_block;
    let was_inline = old.start < old.end && !old.is_block_collection();
    if fits_inline && was_inline && !old.is_block_scalar(text) {
        return splice(text, old.start, old.end, &inline(value));
    }
    if !is_block {
        return splice(text, old.start, old.end, &inline(value));
    }
    // The entry is written anew, from its key on; a comment behind the key goes with the old value.
    let line_end = end_of_line(text, old.end.max(entry.key_end));
    let indent = entry.key_column;
    let key = text.get(entry.key_start..entry.key_end)?;
    let written = block_entry(key, value, indent);
    splice(
        text,
        entry.key_start,
        line_end,
        written.trim_start().trim_end_matches('\n'),
    )
}

/// Gives a value to a key that has none, or an empty mapping.
fn fill_empty(
    text: &str,
    (entry, is_block): (&Entry, bool),
    path: &[&str],
    value: &Value,
) -> Option<String> {
    let is_empty = match &entry.value.content {
        Content::Scalar => entry.value.start == entry.value.end || entry.value.is_null(text),
        Content::Mapping { entries, .. } => entries.is_empty(),
        Content::Other => false,
    };
    if !is_empty {
        return None;
    }
    replace(text, (entry, is_block), &nested(path, value))
}

/// Adds a key behind the last one of a mapping.
fn insert(
    text: &str,
    mapping: &Tree,
    entries: &[Entry],
    is_block: bool,
    path: &[&str],
    value: &Value,
) -> Option<String> {
    let (key, rest) = path.split_first()?;
    let value = nested(rest, value);
    if !is_block {
        let end = mapping.end.checked_sub(1)?;
        let separator = if entries.is_empty() { "" } else { ", " };
        let written = format!(
            "{separator}{}: {}",
            scalar(&Value::from(*key)),
            inline(&value)
        );
        let end = text.get(..end)?.trim_end().len();
        return splice(text, end, end, &written);
    }
    let column = entries.first()?.key_column;
    let last = entries.last()?;
    let place = end_of_line(text, last.value.end.max(last.key_end));
    let written = block_entry(&scalar(&Value::from(*key)), &value, column);
    splice(
        text,
        place,
        place,
        &format!("\n{}", written.trim_end_matches('\n')),
    )
}

/// The text without an entry of a block mapping that stands on lines of its own.
fn removal(text: &str, tree: &Tree, path: &[&str]) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let mut current = tree;
    for key in parents {
        current = &current.entry(key)?.value;
    }
    let Content::Mapping {
        entries,
        is_block: true,
    } = &current.content
    else {
        return None;
    };
    let entry = current.entry(last)?;
    let line_start = text
        .get(..entry.key_start)?
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let stands_alone = text
        .get(line_start..entry.key_start)?
        .chars()
        .all(|character| character == ' ');
    if entries.len() < 2 || !stands_alone {
        return None;
    }
    let line_end = end_of_line(text, entry.value.end.max(entry.key_end));
    let after = text.len().min(line_end + 1);
    splice(text, line_start, after, "")
}

fn splice(text: &str, start: usize, end: usize, new: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..start)?);
    out.push_str(new);
    out.push_str(text.get(end..)?);
    Some(out)
}

/// Where the line ends that a byte stands in; a byte right behind a line break belongs to the line before.
fn end_of_line(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    let offset = before.trim_end_matches(['\n', '\r', ' ']).len();
    let rest = text.get(offset..).unwrap_or_default();
    offset + rest.find('\n').unwrap_or(rest.len())
}

fn is_collection(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

/// The mappings for the rest of a path, with the value inside.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, key| {
        Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
    })
}

/// A value on one line. JSON is YAML, and plain scalars are nicer.
fn inline(value: &Value) -> String {
    if is_collection(value) {
        value.to_string()
    } else {
        scalar(value)
    }
}

fn scalar(value: &Value) -> String {
    let printed = print(value);
    let printed = printed.trim_end_matches('\n');
    if printed.contains('\n') {
        value.to_string()
    } else {
        printed.to_owned()
    }
}

/// An entry of a block mapping with all its lines, indented.
fn block_entry(key: &str, value: &Value, column: usize) -> String {
    let indent = " ".repeat(column);
    if !is_collection(value) {
        return format!("{indent}{key}: {}\n", scalar(value));
    }
    let inner = " ".repeat(column + 2);
    let printed = print(value);
    let lines = printed
        .trim_end_matches('\n')
        .lines()
        .fold(String::new(), |out, line| {
            if line.is_empty() {
                out + "\n"
            } else {
                format!("{out}{inner}{line}\n")
            }
        });
    format!("{indent}{key}:\n{lines}")
}

#[cfg(test)]
mod tests;
