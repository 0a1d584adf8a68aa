//! Value → text that every YAML reader understands the same way.
//!
//! Two spaces, lists not indented under their key, no folding, one newline at the end. The same value always gives
//! the same bytes.

use std::fmt;

use serde_json::{Map, Value};

pub use manifest::{print_manifests, print_node};
use scalar::Style;

mod manifest;
mod scalar;

/// Keys that lead a document, in this order.
const LEADING_KEYS: &[&str] = &["apiVersion", "kind", "metadata"];

/// Keys that lead the metadata of a document, in this order.
const LEADING_METADATA_KEYS: &[&str] = &["name", "namespace"];

/// Longest key that readers accept on one line with its value; YAML stops at 1024 characters.
const LONGEST_SIMPLE_KEY: usize = 1000;

/// Prints one document.
pub fn print(value: &Value) -> String {
    print_documents(std::iter::once(value))
}

/// Prints documents with `---` between them, none before the first. No documents give an empty text.
pub fn print_documents<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = Printer { out: &mut out }.documents(values);
    out
}

/// Where a node stands.
#[derive(Clone, Copy)]
struct Place {
    /// Columns in front of the node's own lines.
    indent: usize,
    /// Nothing follows in the text, so blank lines at the end would be the end of the text.
    is_last: bool,
}

struct Printer<'a, W> {
    out: &'a mut W,
}

impl<W: fmt::Write> Printer<'_, W> {
    fn documents<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> fmt::Result {
        let mut values = values.into_iter().peekable();
        let mut is_first = true;
        while let Some(value) = values.next() {
            if !is_first {
                self.out.write_str("---\n")?;
            }
            is_first = false;
            self.document(value, values.peek().is_none())?;
        }
        Ok(())
    }

    fn document(&mut self, value: &Value, is_last: bool) -> fmt::Result {
        let place = Place { indent: 0, is_last };
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.entries(led_by(LEADING_KEYS, map), place, true)
            }
            Value::Array(items) if !items.is_empty() => self.items(items, place),
            scalar => {
                self.scalar(scalar, place)?;
                self.out.write_char('\n')
            }
        }
    }

    /// Writes the entries of a mapping; the cursor stands where the first key goes.
    fn entries<'v>(
        &mut self,
        entries: impl Iterator<Item = (&'v String, &'v Value)>,
        place: Place,
        is_document: bool,
    ) -> fmt::Result {
        let mut entries = entries.peekable();
        let mut is_first = true;
        while let Some((key, value)) = entries.next() {
            if !is_first {
                self.indent(place.indent)?;
            }
            is_first = false;
            let place = Place {
                is_last: place.is_last && entries.peek().is_none(),
                ..place
            };
            self.key(key, place)?;
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.out.write_char('\n')?;
                    let place = Place {
                        indent: place.indent + 2,
                        ..place
                    };
                    self.indent(place.indent)?;
                    if is_document && key == "metadata" {
                        self.entries(led_by(LEADING_METADATA_KEYS, map), place, false)?;
                    } else {
                        self.entries(map.iter(), place, false)?;
                    }
                }
                Value::Array(items) if !items.is_empty() => {
                    self.out.write_char('\n')?;
                    self.indent(place.indent)?;
                    self.items(items, place)?;
                }
                scalar => {
                    self.out.write_char(' ')?;
                    self.scalar(
                        scalar,
                        Place {
                            indent: place.indent + 2,
                            ..place
                        },
                    )?;
                    self.out.write_char('\n')?;
                }
            }
        }
        Ok(())
    }

    /// Writes the items of a list; the cursor stands where the first dash goes.
    fn items(&mut self, items: &[Value], place: Place) -> fmt::Result {
        let inner = place.indent + 2;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.indent(place.indent)?;
            }
            self.out.write_str("- ")?;
            let place = Place {
                indent: inner,
                is_last: place.is_last && index + 1 == items.len(),
            };
            match item {
                Value::Object(map) if !map.is_empty() => self.entries(map.iter(), place, false)?,
                Value::Array(items) if !items.is_empty() => self.items(items, place)?,
                scalar => {
                    self.scalar(scalar, place)?;
                    self.out.write_char('\n')?;
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, key: &str, place: Place) -> fmt::Result {
        if key.len() <= LONGEST_SIMPLE_KEY / 6 {
            scalar::write_flow(self.out, key)?;
            return self.out.write_char(':');
        }
        let mut written = String::new();
        scalar::write_flow(&mut written, key)?;
        if written.len() <= LONGEST_SIMPLE_KEY {
            self.out.write_str(&written)?;
        } else {
            self.out.write_str("? ")?;
            self.out.write_str(&written)?;
            self.out.write_char('\n')?;
            self.indent(place.indent)?;
        }
        self.out.write_char(':')
    }

    /// Writes a scalar or an empty collection without the newline after it.
    fn scalar(&mut self, value: &Value, place: Place) -> fmt::Result {
        match value {
            Value::Null => self.out.write_str("null"),
            Value::Bool(true) => self.out.write_str("true"),
            Value::Bool(false) => self.out.write_str("false"),
            Value::Number(number) => scalar::write_number(self.out, number),
            Value::String(text) => match scalar::style(text) {
                Style::Block if !(place.is_last && text.ends_with("\n\n")) => {
                    self.block(text, place.indent)
                }
                _ => scalar::write_flow(self.out, text),
            },
            Value::Array(_) => self.out.write_str("[]"),
            Value::Object(_) => self.out.write_str("{}"),
        }
    }

    /// Writes a literal block without the newline that ends its last line.
    fn block(&mut self, text: &str, indent: usize) -> fmt::Result {
        let indent = indent.max(2);
        let (header, body) = match text.strip_suffix('\n') {
            None => ("|-", text),
            Some(body) if body.ends_with('\n') => ("|+", body),
            Some(body) => ("|", body),
        };
        self.out.write_str(header)?;
        for line in body.split('\n') {
            self.out.write_char('\n')?;
            if !line.is_empty() {
                self.indent(indent)?;
                self.out.write_str(line)?;
            }
        }
        Ok(())
    }

    fn indent(&mut self, mut columns: usize) -> fmt::Result {
        const BLANKS: &str = "                                                                ";
        while columns > BLANKS.len() {
            self.out.write_str(BLANKS)?;
            columns -= BLANKS.len();
        }
        self.out
            .write_str(BLANKS.get(..columns).unwrap_or_default())
    }
}

/// The entries of a map, some keys first.
fn led_by<'v>(
    leading: &'static [&'static str],
    map: &'v Map<String, Value>,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let first = leading.iter().filter_map(|key| map.get_key_value(*key));
    first.chain(
        map.iter()
            .filter(|(key, _)| !leading.contains(&key.as_str())),
    )
}

#[cfg(test)]
mod tests;
