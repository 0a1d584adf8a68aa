//! The text a value came from: its name, its lines, and whether a line may be shown.

use std::{fmt, sync::Arc};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where a text came from: a path, or a word such as `<stdin>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(Arc<str>);

impl SourceName {
    /// A name as it shall appear in front of findings, usually the path as the user wrote it.
    pub fn new(name: impl AsRef<str>) -> Self {
        Self(Arc::from(name.as_ref()))
    }

    /// The name for text that was piped in.
    pub fn stdin() -> Self {
        Self::new("<stdin>")
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A place in a text; both numbers start at one, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, starting at one.
    pub line: u32,
    /// The column in characters, starting at one.
    pub column: u32,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// From a one-based line and a zero-based column.
    pub(crate) fn from_zero_based_column(line: usize, column: usize) -> Self {
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX).max(1),
            column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
        }
    }

    /// The place of a byte in a text.
    pub(crate) fn of_byte(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let (line, start) = lines(before)
            .enumerate()
            .last()
            .map_or((1, ""), |(index, last)| (index + 1, last));
        Self::from_zero_based_column(line, start.chars().count())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A named text, shared by all documents in it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: SourceName,
    pub(crate) text: Arc<str>,
}

impl Source {
    /// The text of one line, without its line break.
    pub(crate) fn line(&self, number: u32) -> Option<&str> {
        lines(&self.text).nth(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// Whether the document around this line is, or lists, a Secret.
    ///
    /// Works on the text alone, because it must also answer for documents that cannot be parsed.
    pub(crate) fn holds_secret(&self, number: u32) -> bool {
        let wanted = usize::try_from(number).unwrap_or(usize::MAX);
        let mut document = SecretScan::default();
        for (index, line) in lines(&self.text).enumerate() {
            let content = document_start(line);
            if content.is_some() {
                if index + 1 > wanted {
                    break;
                }
                document = SecretScan::default();
            }
            document.read(content.unwrap_or(line));
        }
        document.verdict()
    }
}

/// What has been seen of one document while looking for the kind `Secret`.
#[derive(Default)]
struct SecretScan {
    root_indent: Option<usize>,
    /// The root is a list or JSON, where the kind need not stand at the start of a line.
    anywhere: bool,
    at_root: bool,
    nested: bool,
}

impl SecretScan {
    fn read(&mut self, line: &str) {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with(['#', '%']) {
            return;
        }
        let indent = line.len() - content.len();
        let root_indent = *self.root_indent.get_or_insert_with(|| {
            self.anywhere = content.starts_with(['{', '[', '-', '&', '!', '?']);
            indent
        });
        let words = content
            .split(|character: char| !character.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .skip_while(|word| *word != "kind")
            .skip(1);
        let is_root_key =
            indent == root_indent && content.trim_start_matches(['"', '\'']).starts_with("kind");
        for word in words {
            match word {
                "Secret" | "SecretList" => {
                    self.nested = true;
                    self.at_root |= is_root_key;
                }
                "List" if is_root_key => self.anywhere = true,
                _ => {}
            }
        }
    }

    fn verdict(&self) -> bool {
        self.at_root || (self.anywhere && self.nested)
    }
}

/// What follows the marker if the line starts a document.
fn document_start(line: &str) -> Option<&str> {
    line.strip_prefix("---")
        .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The lines of a text as YAML counts them: `\n`, `\r\n` and a lone `\r` end a line. A leading byte order mark is
/// not part of the first line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    std::iter::from_fn(move || {
        let current = rest?;
        let Some((line, after)) = current.split_once(['\n', '\r']) else {
            rest = None;
            return Some(current);
        };
        let broken_by_both =
            current.as_bytes().get(line.len()) == Some(&b'\r') && after.starts_with('\n');
        rest = Some(if broken_by_both {
            after.get(1..).unwrap_or_default()
        } else {
            after
        });
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_secret(text: &str, line: u32) -> bool {
        let source = Source {
            name: SourceName::stdin(),
            text: Arc::from(text),
        };
        source.holds_secret(line)
    }

    #[test]
    fn counts_every_kind_of_line_break_once() {
        let found: Vec<_> = lines("\u{feff}a\nb\r\nc\rd\n").collect();
        assert_eq!(found, ["a", "b", "c", "d", ""]);
    }

    #[test]
    fn finds_the_position_of_a_byte() {
        assert_eq!(Position::of_byte("ab\ncé!", 6).to_string(), "2:3");
        assert_eq!(Position::of_byte("", 0), Position::START);
    }

    #[test]
    fn recognises_a_secret_however_it_is_written() {
        for text in [
            "kind: Secret\ndata: {}",
            "data: {}\nkind:   'Secret' # comment",
            "\"kind\": \"Secret\"",
            "  kind: Secret",
            "kind: !!str Secret",
            "{\"kind\":\"Secret\"}",
            "--- {kind: Secret}",
            "kind: List\nitems:\n- kind: Secret",
            "kind: SecretList\nitems: []",
            "- kind: Secret",
        ] {
            assert!(holds_secret(text, 1), "{text}");
        }
    }

    #[test]
    fn does_not_take_a_reference_for_a_secret() {
        for text in [
            "kind: ExternalSecret",
            "kind: HelmRelease\nvaluesFrom:\n- kind: Secret",
            "# kind: Secret\na: b",
        ] {
            assert!(!holds_secret(text, 1), "{text}");
        }
    }

    #[test]
    fn looks_only_at_the_document_around_the_line() {
        let text = "kind: A\n---\nkind: Secret\n---\nkind: B\n";
        let found: Vec<_> = (1..=5).map(|line| holds_secret(text, line)).collect();
        assert_eq!(found, [false, true, true, false, false]);
    }
}
