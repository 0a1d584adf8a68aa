//! Text → documents. Follows the events of the YAML parser and builds the value and its layout side by side.
//!
//! Nothing here knows Kubernetes types; that is the next step, in `typed`.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use serde_json::Value;
use serde_saphyr::granit_parser::{self, Event, Parser, Span, StrInput};

use crate::{
    document::{Document, Layout, Shape},
    error::{Error, ErrorKind},
    limits::Limits,
    resolve::Dialect,
    source::{Position, Source, SourceName},
};

mod characters;
mod checks;
mod node;
mod scalar;
mod syntax;

use node::{Cost, Mapping, Node, NotMergeable, position, position_of_sequence};

/// Reads all documents of a text; empty ones are left out.
///
/// Scalars mean what they mean to `kubectl`. Stricter than `kubectl` where it would silently change or lose data:
/// repeated keys, keys such as `on`, unknown tags and not-a-number are refused.
pub fn parse_documents(
    text: &str,
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    parse_documents_as(Dialect::Kubectl, text, source, limits)
}

/// Like [`parse_documents`], with the scalar rules of a dialect.
pub fn parse_documents_as(
    dialect: Dialect,
    text: &str,
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    parse_text(dialect, Repetitions::Refused, text, source, limits)
}

/// What becomes of a key that stands in a mapping twice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repetitions {
    Refused,
    /// Nothing is lost if both say the same.
    TakenOnceIfEqual,
}

fn parse_text(
    dialect: Dialect,
    repetitions: Repetitions,
    text: &str,
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    if text.len() > limits.bytes {
        let message = format!(
            "the text has {} bytes, the limit is {}",
            text.len(),
            limits.bytes
        );
        return Err(Error::without_text(
            ErrorKind::Limit,
            source,
            Position::START,
            message,
        ));
    }
    let source = Source {
        name: source.clone(),
        text: Arc::from(text),
    };
    let has_unusual_breaks = characters::check(&source)?;
    let depth = limits.effective_depth();
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        text,
        source: &source,
        limits,
        dialect,
        repetitions,
        anchors: HashMap::new(),
        spent: Cost::default(),
        has_unusual_breaks,
    };
    reader.documents()
}

/// Like [`parse_documents`], for bytes that may not be text.
pub fn parse_bytes(
    bytes: &[u8],
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    parse_bytes_as(Dialect::Kubectl, bytes, source, limits)
}

/// Like [`parse_bytes`], with the scalar rules of a dialect.
pub fn parse_bytes_as(
    dialect: Dialect,
    bytes: &[u8],
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    let text = text_of(bytes, source)?;
    parse_documents_as(dialect, text, source, limits)
}

/// Like [`parse_bytes`], for manifests that somebody else has released and nobody here can mend: a key that is repeated
/// with an equal value is taken once, as `kubectl` takes it. With another value it is refused all the same.
pub fn parse_released(
    bytes: &[u8],
    source: &SourceName,
    limits: &Limits,
) -> Result<Vec<Document>, Error> {
    let text = text_of(bytes, source)?;
    let repetitions = Repetitions::TakenOnceIfEqual;
    parse_text(Dialect::Kubectl, repetitions, text, source, limits)
}

fn text_of<'bytes>(bytes: &'bytes [u8], source: &SourceName) -> Result<&'bytes str, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let position = Position::of_byte(&String::from_utf8_lossy(valid), valid.len());
            Err(Error::without_text(
                ErrorKind::Encoding,
                source,
                position,
                "the text is not UTF-8",
            )
            .with_hint("save the file with the encoding UTF-8"))
        }
    }
}

/// A node as the parser announces it.
struct Announced<'text> {
    event: Event<'text>,
    span: Span,
}

struct Reader<'text> {
    events: Parser<'text, StrInput<'text>>,
    text: &'text str,
    source: &'text Source,
    limits: &'text Limits,
    dialect: Dialect,
    repetitions: Repetitions,
    /// Anchored nodes of the document; none while the node is still being read.
    anchors: HashMap<usize, Option<Rc<Node>>>,
    spent: Cost,
    has_unusual_breaks: bool,
}

impl<'text> Reader<'text> {
    fn documents(&mut self) -> Result<Vec<Document>, Error> {
        let mut documents = Vec::new();
        let mut count = 0;
        loop {
            let Announced { event, span } = self.next()?;
            match event {
                Event::StreamEnd => return Ok(documents),
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) => {
                    count += 1;
                    if count > self.limits.documents {
                        let message =
                            format!("the text has more than {} documents", self.limits.documents);
                        return Err(self.error(ErrorKind::Limit, &span, message));
                    }
                    // The parser resolves aliases per document; this only gives the memory back.
                    self.anchors.clear();
                }
                _ => {
                    let node = self.node(Announced { event, span }, 0)?;
                    // Parity: kubectl skips a document that says `null` like one that says nothing.
                    if !node.value.is_null() {
                        let source = self.source.clone();
                        documents.push(Document::new(
                            node.value,
                            documents.len(),
                            node.layout,
                            source,
                        ));
                    }
                }
            }
        }
    }

    /// The next event.
    fn next(&mut self) -> Result<Announced<'text>, Error> {
        match self.events.next_event() {
            Some(Ok((event, span))) => Ok(Announced { event, span }),
            Some(Err(error)) => Err(syntax::explain(&error, self.source, self.limits)),
            None => Err(Error::without_text(
                ErrorKind::Syntax,
                &self.source.name,
                Position::START,
                "the text ends unexpectedly",
            )),
        }
    }

    /// Reads the node that starts with this event, inside `depth` mappings and sequences.
    fn node(&mut self, announced: Announced<'text>, depth: usize) -> Result<Node, Error> {
        let Announced { event, span } = announced;
        match event {
            Event::Alias(anchor) => self.alias(anchor, &span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                self.check_scalar(&text, style, &span)?;
                let cost = Cost::of_scalar(&text);
                self.spend(cost, &span)?;
                let tag = self.scalar_tag(tag.as_deref(), &span)?;
                let value = scalar::value(self.dialect, text, style, tag)
                    .map_err(|problem| self.scalar_error(problem, &span))?;
                self.remember(anchor, Node::scalar(value, cost, &span), &span)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.check_collection(tag.as_deref(), "seq", &span, depth)?;
                self.check_indentation(style, &span)?;
                self.announce(anchor);
                let node = self.sequence(&span, depth + 1)?;
                self.remember(anchor, node, &span)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.check_collection(tag.as_deref(), "map", &span, depth)?;
                self.check_indentation(style, &span)?;
                self.announce(anchor);
                let node = self.mapping(&span, depth + 1)?;
                self.remember(anchor, node, &span)
            }
            _ => Err(self.error(ErrorKind::Syntax, &span, "a value is expected here")),
        }
    }

    fn sequence(&mut self, start: &Span, depth: usize) -> Result<Node, Error> {
        let mut values = Vec::new();
        let mut layouts = Vec::new();
        let mut cost = Cost { nodes: 1, bytes: 0 };
        let mut height = 0;
        loop {
            let announced = self.next()?;
            if matches!(announced.event, Event::SequenceEnd) {
                break;
            }
            let item = self.node(announced, depth)?;
            cost.add(item.cost);
            height = height.max(item.height);
            values.push(item.value);
            layouts.push(item.layout);
        }
        Ok(Node {
            value: Value::Array(values),
            layout: Layout {
                position: position_of_sequence(start, self.text),
                shape: Shape::Sequence(layouts.into()),
            },
            cost,
            height: height + 1,
        })
    }

    fn mapping(&mut self, start: &Span, depth: usize) -> Result<Node, Error> {
        let mut mapping = Mapping::default();
        let mut cost = Cost { nodes: 1, bytes: 0 };
        let mut height = 0;
        loop {
            let announced = self.next()?;
            if matches!(announced.event, Event::MappingEnd) {
                break;
            }
            let key_span = announced.span;
            let key = self.key(announced)?;
            let announced = self.next()?;
            let value_span = announced.span;
            let node = self.node(announced, depth)?;
            cost.add(node.cost);
            height = height.max(node.height);
            match key {
                Key::Merge => mapping
                    .merge(node)
                    .map_err(|NotMergeable| self.merge_error(&value_span))?,
                Key::Name(name) => {
                    cost.add(Cost::of_key(&name.text));
                    let is_known = mapping.values.get(&name.text) == Some(&node.value);
                    if is_known && self.repetitions == Repetitions::TakenOnceIfEqual {
                        continue;
                    }
                    mapping
                        .insert(name, position(&key_span), node)
                        .map_err(|repeated| self.repetition_error(&repeated, &key_span))?;
                }
            }
        }
        Ok(Node {
            value: Value::Object(mapping.values),
            layout: Layout {
                position: position(start),
                shape: Shape::Mapping(mapping.fields.into()),
            },
            cost,
            height: height + 1,
        })
    }

    fn key(&mut self, announced: Announced<'text>) -> Result<Key, Error> {
        let Announced { event, span } = announced;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.check_scalar(&text, style, &span)?;
                self.spend(Cost::of_key(&text), &span)?;
                let tag = self.scalar_tag(tag.as_deref(), &span)?;
                if anchor != 0 {
                    let cost = Cost::of_scalar(&text);
                    let value = scalar::value(self.dialect, text.clone(), style, tag)
                        .map_err(|problem| self.scalar_error(problem, &span))?;
                    self.remember(anchor, Node::scalar(value, cost, &span), &span)?;
                }
                if scalar::is_merge(&text, style, tag) {
                    return Ok(Key::Merge);
                }
                scalar::key(self.dialect, text, style, tag)
            }
            Event::Alias(anchor) => {
                scalar::key_of_value(self.dialect, &self.alias(anchor, &span, 0)?.value)
            }
            _ => Err(scalar::collection_key()),
        }
        .map(Key::Name)
        .map_err(|problem| self.scalar_error(problem, &span))
    }

    fn alias(&mut self, anchor: usize, span: &Span, depth: usize) -> Result<Node, Error> {
        let Some(Some(anchored)) = self.anchors.get(&anchor).cloned() else {
            return Err(self.error(
                ErrorKind::Alias,
                span,
                "the alias stands inside the value that it refers to",
            ));
        };
        self.check_depth(depth.saturating_add(anchored.height), span)?;
        self.spend(anchored.cost, span)?;
        let mut node = Node::clone(&anchored);
        node.layout.position = position(span);
        Ok(node)
    }

    /// Marks an anchored collection as being read, so that an alias inside it is recognised.
    fn announce(&mut self, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
    }

    /// Keeps a copy of an anchored node. The copy is paid for: nested anchors would otherwise multiply memory.
    fn remember(&mut self, anchor: usize, node: Node, span: &Span) -> Result<Node, Error> {
        if anchor != 0 {
            self.spend(node.cost, span)?;
            self.anchors.insert(anchor, Some(Rc::new(node.clone())));
        }
        Ok(node)
    }
}

enum Key {
    Name(scalar::Name),
    Merge,
}

#[cfg(test)]
mod tests;
