//! Where the parts of a text begin and end, in bytes.

use serde_saphyr::granit_parser::{Event, Parser, Span, StrInput, StructureStyle};

/// Deeper than any text that the reader accepts.
const DEEPEST: usize = crate::Limits::DEEPEST;

/// A node with its place.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar,
    Mapping {
        entries: Vec<Entry>,
        is_block: bool,
    },
    /// A list or an alias: replaced as a whole, never entered.
    Other,
}

/// A key of a mapping and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) key_end: usize,
    /// The column of the key in characters, starting at zero.
    pub(super) key_column: usize,
    pub(super) value: Tree,
}

impl Tree {
    /// The tree of the only document.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader {
            events: Parser::new_from_str(text),
        };
        loop {
            let (event, span) = reader.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(..) => {}
                Event::StreamEnd | Event::DocumentEnd => return None,
                event => return reader.node(&event, &span, 0),
            }
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Mapping { entries, .. } => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    pub(super) fn is_block_collection(&self) -> bool {
        matches!(
            self.content,
            Content::Mapping { is_block: true, .. } | Content::Other
        )
    }

    /// Whether this is text after `|` or `>`.
    pub(super) fn is_block_scalar(&self, text: &str) -> bool {
        matches!(self.content, Content::Scalar)
            && text
                .get(self.start..self.end)
                .is_some_and(|written| written.starts_with(['|', '>']) || written.contains('\n'))
    }

    pub(super) fn is_null(&self, text: &str) -> bool {
        matches!(
            text.get(self.start..self.end),
            Some("~" | "null" | "Null" | "NULL" | "")
        )
    }
}

struct Reader<'text> {
    events: Parser<'text, StrInput<'text>>,
}

impl<'text> Reader<'text> {
    /// The next event that is about data.
    fn next(&mut self) -> Option<(Event<'text>, Span)> {
        loop {
            let (event, span) = self.events.next_event()?.ok()?;
            if !matches!(event, Event::Comment(..) | Event::Anchor(..)) {
                return Some((event, span));
            }
        }
    }

    fn node(&mut self, event: &Event<'text>, span: &Span, depth: usize) -> Option<Tree> {
        if depth > DEEPEST {
            return None;
        }
        let start = span.start.byte_offset()?;
        let end = span.end.byte_offset()?;
        match event {
            Event::Scalar(..) => Some(Tree {
                start,
                end,
                content: Content::Scalar,
            }),
            Event::MappingStart(style, ..) => {
                self.mapping(start, *style == StructureStyle::Block, depth)
            }
            Event::SequenceStart(style, ..) => {
                self.sequence(start, *style == StructureStyle::Block, depth)
            }
            Event::Alias(..) => Some(Tree {
                start,
                end,
                content: Content::Other,
            }),
            _ => None,
        }
    }

    fn mapping(&mut self, start: usize, is_block: bool, depth: usize) -> Option<Tree> {
        let mut entries = Vec::new();
        let mut end = start;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                if !is_block {
                    end = span.end.byte_offset()?;
                }
                break;
            }
            let key = match &event {
                Event::Scalar(text, ..) => text.clone().into_owned(),
                // Nothing can be addressed by such a key, but what follows can.
                _ => String::new(),
            };
            let key_tree = self.node(&event, &span, depth + 1)?;
            let (event, value_span) = self.next()?;
            let value = self.node(&event, &value_span, depth + 1)?;
            end = end.max(value.end).max(key_tree.end);
            entries.push(Entry {
                key,
                key_start: key_tree.start,
                key_end: key_tree.end,
                key_column: span.start.col(),
                value,
            });
        }
        Some(Tree {
            start,
            end,
            content: Content::Mapping { entries, is_block },
        })
    }

    fn sequence(&mut self, start: usize, is_block: bool, depth: usize) -> Option<Tree> {
        let mut end = start;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                if !is_block {
                    end = span.end.byte_offset()?;
                }
                break;
            }
            end = end.max(self.node(&event, &span, depth + 1)?.end);
        }
        Some(Tree {
            start,
            end,
            content: Content::Other,
        })
    }
}
