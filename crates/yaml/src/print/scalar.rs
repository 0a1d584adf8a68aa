//! How a string or number is written.

use std::fmt::{self, Write};

use serde_json::Number;

use crate::resolve;

/// The ways to write a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// A literal block; only for values, never for keys.
    Block,
}

/// What the characters of a string allow, found in one pass.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent observations of one pass"
)]
struct Findings {
    has_newline: bool,
    has_quote_or_backslash: bool,
    has_apostrophe: bool,
    /// A character that must be escaped wherever it stands, newlines aside.
    needs_escape: bool,
    /// `: `, ` #`, or blanks at an end.
    breaks_plain: bool,
    /// A line that starts with a blank, or ends with one.
    breaks_block: bool,
}

impl Findings {
    fn of(text: &str) -> Self {
        let mut findings = Self::default();
        let mut previous = '\n';
        for character in text.chars() {
            match character {
                '\n' => {
                    findings.has_newline = true;
                    findings.breaks_block |= is_blank(previous);
                }
                ' ' | '\t' => {
                    findings.breaks_plain |= previous == ':' || character == '\t';
                    findings.breaks_block |= character == '\t' && previous == '\n';
                }
                '#' => findings.breaks_plain |= is_blank(previous),
                '"' | '\\' => findings.has_quote_or_backslash = true,
                '\'' => findings.has_apostrophe = true,
                '!'..='~' => {}
                _ => findings.needs_escape |= must_escape(character),
            }
            previous = character;
        }
        findings.breaks_plain |= text.starts_with(' ') || is_blank(previous) || previous == ':';
        findings.breaks_block |=
            is_blank(previous) || text.trim_start_matches('\n').starts_with(' ');
        findings
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// Characters that some reader refuses, takes for a line break, or that nobody can see.
fn must_escape(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
}

/// Whether a string is so plain that nothing needs a closer look; most keys and values are.
///
/// It starts with a letter, so it is no number and no date, and it is longer than any word that means something else.
fn is_simple(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > LONGEST_WORD
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

/// The way to write a string as a value.
pub(super) fn style(text: &str) -> Style {
    if is_simple(text) {
        return Style::Plain;
    }
    let findings = Findings::of(text);
    let is_block = findings.has_newline
        && !findings.needs_escape
        && !findings.breaks_block
        && text.bytes().any(|byte| byte != b'\n');
    if is_block {
        Style::Block
    } else {
        flow_style(text, &findings)
    }
}

fn flow_style(text: &str, findings: &Findings) -> Style {
    let has_tab = || text.contains('\t');
    if findings.has_newline || findings.needs_escape {
        Style::DoubleQuoted
    } else if !findings.breaks_plain && starts_plain(text) && !means_something_else(text) {
        Style::Plain
    } else if findings.has_quote_or_backslash && !findings.has_apostrophe && !has_tab() {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    }
}

/// Whether the first characters can start a plain scalar for every reader.
fn starts_plain(text: &str) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        None => false,
        Some('-') => {
            !text.starts_with("---")
                && characters.next().is_some_and(|second| {
                    second.is_ascii_alphanumeric() || matches!(second, '-' | '.' | '/' | '_')
                })
        }
        Some('.') => !text.starts_with("..."),
        Some(first) => {
            first.is_ascii_alphanumeric()
                || !first.is_ascii()
                || matches!(
                    first,
                    '_' | '/' | '$' | '(' | ')' | '+' | '<' | '^' | ';' | '\\'
                )
        }
    }
}

/// Plain texts that some reader takes for something other than a string.
const WORDS: &[&str] = &[
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "<<",
];

/// Length of the longest of [`WORDS`].
const LONGEST_WORD: usize = "false".len();

/// Whether some reader takes the plain text for something other than a string.
fn means_something_else(text: &str) -> bool {
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || resolve::looks_like_number_or_date(text)
}

/// Writes a string on one line.
pub(super) fn write_flow(out: &mut impl Write, text: &str) -> fmt::Result {
    if is_simple(text) {
        return out.write_str(text);
    }
    match flow_style(text, &Findings::of(text)) {
        Style::Plain => out.write_str(text),
        Style::SingleQuoted => {
            out.write_char('\'')?;
            out.write_str(text)?;
            out.write_char('\'')
        }
        Style::DoubleQuoted | Style::Block => write_double_quoted(out, text),
    }
}

pub(super) fn write_double_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(index) =
        rest.find(|character| matches!(character, '"' | '\\') || must_escape(character))
    {
        let (before, from) = rest.split_at(index);
        out.write_str(before)?;
        let mut characters = from.chars();
        if let Some(character) = characters.next() {
            write_escape(out, character)?;
        }
        rest = characters.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

/// Writes a string in single quotes, or in double quotes if it needs an escape.
pub(super) fn write_single_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    let findings = Findings::of(text);
    if findings.has_newline || findings.needs_escape || text.contains('\t') {
        return write_double_quoted(out, text);
    }
    out.write_char('\'')?;
    out.write_str(&text.replace('\'', "''"))?;
    out.write_char('\'')
}

/// Only escapes that YAML 1.1, YAML 1.2 and JSON share, as far as they reach.
fn write_escape(out: &mut impl Write, character: char) -> fmt::Result {
    match character {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        other => write!(out, "\\u{:04x}", u32::from(other)),
    }
}

/// Writes a number: whole numbers without fraction, exponents with a point and a sign.
///
/// YAML 1.1 readers take `1e21` for a string, and all readers take `1.0e+21` for a number.
pub(super) fn write_number(out: &mut impl Write, number: &Number) -> fmt::Result {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return write!(out, "{number}");
    };
    let canonical = resolve::json_number(float).filter(|canonical| !canonical.is_f64());
    if let Some(canonical) = canonical {
        return write!(out, "{canonical}");
    }
    let shortest = number.to_string();
    let Some((mantissa, exponent)) = shortest.split_once('e') else {
        return out.write_str(&shortest);
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) {
        ""
    } else {
        "+"
    };
    write!(out, "{mantissa}{point}e{sign}{exponent}")
}
