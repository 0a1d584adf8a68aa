//! Findings: what is wrong, where, and what to do about it.

use std::fmt::Write as _;

use crate::source::{Position, Source, SourceName};

/// Longest part of a source line that a snippet shows, in characters.
const SNIPPET_WIDTH: usize = 120;

/// Longest piece of user text that a message quotes, in characters.
const QUOTE_WIDTH: usize = 64;

/// The class of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not text that YAML allows: wrong encoding or control characters.
    Encoding,
    /// The text is not YAML.
    Syntax,
    /// The text is larger, deeper or more repetitive than the [`Limits`](crate::Limits) allow.
    Limit,
    /// A tag is unknown or does not fit its value.
    Tag,
    /// A scalar has no counterpart in JSON.
    Scalar,
    /// A mapping key is not usable as a string.
    Key,
    /// A mapping has the same key twice.
    DuplicateKey,
    /// A merge key does not name a mapping.
    Merge,
    /// An alias refers to nothing, or to a value that contains the alias.
    Alias,
    /// A value does not fit the type that is expected in its place.
    Type,
    /// A field is not known to the type that is expected in its place.
    UnknownField,
}

/// One finding in a text, with its place.
///
/// `Display` gives one line, `file.yaml:3:7: message`; [`Error::render`] adds the source line and the hint.
#[derive(Debug, thiserror::Error)]
#[error("{}:{}: {}", .0.source_name, .0.position, .0.message)]
pub struct Error(Box<Finding>);

#[derive(Debug)]
struct Finding {
    kind: ErrorKind,
    source_name: SourceName,
    position: Position,
    message: String,
    /// The message without anything quoted from a value, where the full one may quote.
    discreet_message: Option<String>,
    hint: Option<String>,
    snippet: Snippet,
}

#[derive(Debug)]
enum Snippet {
    Line(String),
    Hidden,
    Absent,
}

impl Error {
    /// A finding in a text. The line is not kept if it could show the content of a Secret.
    pub(crate) fn new(
        kind: ErrorKind,
        source: &Source,
        position: Position,
        message: impl Into<String>,
    ) -> Self {
        let snippet = match source.line(position.line) {
            Some(_) if source.holds_secret(position.line) => Snippet::Hidden,
            Some(line) => Snippet::Line(line.to_owned()),
            None => Snippet::Absent,
        };
        Self(Box::new(Finding {
            kind,
            source_name: source.name.clone(),
            position,
            message: message.into(),
            discreet_message: None,
            hint: None,
            snippet,
        }))
    }

    /// A finding about a text as a whole, or one that cannot be shown.
    pub(crate) fn without_text(
        kind: ErrorKind,
        source_name: &SourceName,
        position: Position,
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(Finding {
            kind,
            source_name: source_name.clone(),
            position,
            message: message.into(),
            discreet_message: None,
            hint: None,
            snippet: Snippet::Absent,
        }))
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Declares that the message may quote a value, and what to say instead where values must not be shown.
    pub(crate) fn with_discreet_message(mut self, message: impl Into<String>) -> Self {
        self.0.discreet_message = Some(message.into());
        if matches!(self.0.snippet, Snippet::Hidden) {
            self.redacted()
        } else {
            self
        }
    }

    /// The class of the finding.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the text.
    pub fn source_name(&self) -> &SourceName {
        &self.0.source_name
    }

    /// The place of the finding.
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// The line of the finding, starting at one.
    pub fn line(&self) -> u32 {
        self.0.position.line
    }

    /// The column of the finding in characters, starting at one.
    pub fn column(&self) -> u32 {
        self.0.position.column
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The same finding without any content of the text: no source line, no quoted value.
    ///
    /// Findings in a document that is a Secret, or lists one, are always like this. Call it for other texts that
    /// carry secrets.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.0.snippet = Snippet::Hidden;
        if let Some(message) = self.0.discreet_message.take() {
            self.0.message = message;
            self.0.hint = None;
        }
        self
    }

    /// The finding over several lines: place and message, the source line with a caret, the hint.
    ///
    /// Has no newline at the end and no colour.
    pub fn render(&self) -> String {
        let mut out = self.to_string();
        let number = self.line().to_string();
        let margin = " ".repeat(number.len());
        match &self.0.snippet {
            Snippet::Line(line) => {
                let (shown, offset) = window(line, self.column());
                let caret = " ".repeat(offset);
                // Writing to a String cannot fail.
                let _ = write!(out, "\n{margin} |\n{number} | {shown}\n{margin} | {caret}^");
            }
            Snippet::Hidden => {
                let _ = write!(
                    out,
                    "\n{margin} |\n{number} | (not shown, it may hold a secret)"
                );
            }
            Snippet::Absent => {}
        }
        if let Some(hint) = self.hint() {
            let _ = write!(out, "\nhint: {hint}");
        }
        out
    }
}

/// The part of a line around a column that fits the width, and where the column is in it.
fn window(line: &str, column: u32) -> (String, usize) {
    let target = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let start = target.saturating_sub(SNIPPET_WIDTH / 2);
    let start = if line.chars().count() <= SNIPPET_WIDTH {
        0
    } else {
        start
    };
    let shown: String = line
        .chars()
        .skip(start)
        .take(SNIPPET_WIDTH)
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let offset = (target - start).min(shown.chars().count());
    (shown.trim_end().to_owned(), offset)
}

/// A piece of user text as a message quotes it: in backticks, on one line, cut when long.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for character in text.chars().take(QUOTE_WIDTH) {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out.push_str(if text.chars().nth(QUOTE_WIDTH).is_some() {
        "…`"
    } else {
        "`"
    });
    out
}

/// A message whose middle is left out when it is long; what serde says may quote a whole file.
pub(crate) fn shortened(message: &str) -> String {
    const SHOWN_AT_EACH_END: usize = 160;
    let length = message.chars().count();
    if length <= 2 * SHOWN_AT_EACH_END {
        return message.to_owned();
    }
    let start = message.chars().take(SHOWN_AT_EACH_END);
    let end = message.chars().skip(length - SHOWN_AT_EACH_END);
    start.chain(['…']).chain(end).collect()
}
