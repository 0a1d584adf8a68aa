//! [`Node`]s → files for a Git repository: lists indented under their key, `---` before every document.

use std::{borrow::Cow, fmt};

use crate::Node;

use super::{Place, Printer, scalar};

/// Prints documents, each with `---` in front, lists indented under their key, double quotes where quotes are needed.
///
/// No documents give an empty text. The order of keys is the order of the nodes.
pub fn print_manifests<'a>(documents: impl IntoIterator<Item = &'a Node>) -> String {
    let mut out = String::new();
    let mut documents = documents.into_iter().peekable();
    while let Some(document) = documents.next() {
        out.push_str("---\n");
        // Writing to a String cannot fail.
        let _ = write_document(&mut out, document, documents.peek().is_none());
    }
    out
}

/// Prints one document as [`print_manifests`] does, without `---` in front.
pub fn print_node(document: &Node) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_document(&mut out, document, true);
    out
}

fn write_document(out: &mut String, document: &Node, is_last: bool) -> fmt::Result {
    let place = Place { indent: 0, is_last };
    let mut printer = Printer { out };
    if document.is_collection() && !document.is_empty() {
        return printer.node_collection(document, place);
    }
    printer.node_scalar(document, place)?;
    printer.out.push('\n');
    Ok(())
}

impl Printer<'_, String> {
    fn node_entries(&mut self, entries: &[(Cow<'static, str>, Node)], place: Place) -> fmt::Result {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.indent(place.indent)?;
            }
            self.key(key, place)?;
            self.node_value(value, place, index + 1 == entries.len())?;
        }
        Ok(())
    }

    fn keyed_entries(&mut self, entries: &[(Node, Node)], place: Place) -> fmt::Result {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.indent(place.indent)?;
            }
            match key {
                Node::Bool(_) | Node::Number(_) => {
                    self.node_scalar(key, place)?;
                    self.out.push(':');
                }
                text => self.key(&text.key_text(), place)?,
            }
            self.node_value(value, place, index + 1 == entries.len())?;
        }
        Ok(())
    }

    /// Writes what follows a key.
    fn node_value(&mut self, value: &Node, place: Place, is_last_entry: bool) -> fmt::Result {
        let inner = Place {
            indent: place.indent + 2,
            is_last: place.is_last && is_last_entry,
        };
        if value.is_empty() || !value.is_collection() {
            self.out.push(' ');
            self.node_scalar(value, inner)?;
            self.out.push('\n');
            return Ok(());
        }
        self.out.push('\n');
        self.indent(inner.indent)?;
        self.node_collection(value, inner)
    }

    /// Writes a list or mapping that has content; the cursor stands where its first line goes.
    fn node_collection(&mut self, node: &Node, place: Place) -> fmt::Result {
        match node {
            Node::Map(entries) => self.node_entries(entries, place),
            Node::KeyedMap(entries) => self.keyed_entries(entries, place),
            Node::List(items) => self.node_items(items, place),
            scalar => self.node_scalar(scalar, place),
        }
    }

    fn node_items(&mut self, items: &[Node], place: Place) -> fmt::Result {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.indent(place.indent)?;
            }
            self.out.push_str("- ");
            let inner = Place {
                indent: place.indent + 2,
                is_last: place.is_last && index + 1 == items.len(),
            };
            if item.is_empty() || !item.is_collection() {
                self.node_scalar(item, inner)?;
                self.out.push('\n');
            } else {
                self.node_collection(item, inner)?;
            }
        }
        Ok(())
    }

    fn node_scalar(&mut self, node: &Node, place: Place) -> fmt::Result {
        match node {
            Node::Absent | Node::Null => self.out.push_str("null"),
            Node::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Node::Number(number) => scalar::write_number(self.out, number)?,
            Node::Text(text) => match scalar::style(text) {
                // Braces of a template language are quoted, so that nobody takes the text for a template.
                scalar::Style::Plain if !text.contains("{{") => self.out.push_str(text),
                scalar::Style::Block if !(place.is_last && text.ends_with("\n\n")) => {
                    self.block(text, place.indent)?;
                }
                _ => scalar::write_double_quoted(self.out, text)?,
            },
            Node::Quoted(text) => scalar::write_double_quoted(self.out, text)?,
            Node::SingleQuoted(text) => scalar::write_single_quoted(self.out, text)?,
            Node::List(_) => self.out.push_str("[]"),
            Node::Map(_) | Node::KeyedMap(_) => self.out.push_str("{}"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: Vec<(&'static str, Node)>) -> Node {
        Node::map(entries)
    }

    #[test]
    fn keeps_order_and_indents_lists() {
        let node = map(vec![
            ("kind", Node::from("X")),
            ("apiVersion", Node::from("v1")),
            (
                "items",
                Node::list([
                    map(vec![("b", Node::from(1)), ("a", Node::list(["x", "z"]))]),
                    Node::list([Node::from(true)]),
                ]),
            ),
            ("none", Node::list(Vec::<Node>::new())),
        ]);
        assert_eq!(
            print_manifests([&node]),
            "---\nkind: X\napiVersion: v1\nitems:\n  - b: 1\n    a:\n      - x\n      - z\n  - - true\nnone: []\n"
        );
    }

    #[test]
    fn quotes_what_is_asked_for_and_what_must_be() {
        let node = map(vec![
            ("branch", Node::quoted("main")),
            ("tag", Node::from("2026.01")),
            ("regex", Node::SingleQuoted(r"a.*\.yaml$".to_owned())),
            ("odd", Node::SingleQuoted("it's".to_owned())),
            ("says", Node::from("alertname = \"Watchdog\": x")),
            ("script", Node::from("set -e\ndate\n")),
        ]);
        assert_eq!(
            print_node(&node),
            "branch: \"main\"\ntag: \"2026.01\"\nregex: 'a.*\\.yaml$'\nodd: 'it''s'\nsays: \"alertname = \\\"Watchdog\\\": x\"\nscript: |\n  set -e\n  date\n"
        );
    }
}
