//! Texts between quotes, as the formats of the original want them.

use std::fmt::Write;

use mainstay_yaml::{Limits, SourceName};
use serde_json::Value;

/// A text in double quotes with backslashes, as Go writes it. HOCON and YAML read it too.
pub fn go(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            hidden if is_hidden(hidden) => {
                let code = u32::from(hidden);
                let written = match code {
                    0..0x80 => write!(quoted, "\\x{code:02x}"),
                    _ => write!(quoted, "\\u{code:04x}"),
                };
                debug_assert!(written.is_ok(), "a String takes everything");
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that nobody can see, or that some reader takes for a line break.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text as the value of an XML attribute.
pub fn xml(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    format!("\"{escaped}\"")
}

/// A text as a YAML value at an indentation, the way the original's library chooses between the styles: what would be
/// something else than a text in double quotes, what cannot stand alone in single ones, several lines as a block.
pub fn yaml(text: &str, indentation: usize) -> String {
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    let must_escape = |character: char| character != '\n' && is_hidden(character);
    // A block that begins with a blank would have to say how far it is indented.
    if text.chars().any(must_escape) || text.contains('\n') && text.starts_with([' ', '\n']) {
        return go(text);
    }
    if text.contains('\n') {
        return block(text, indentation);
    }
    let printed = mainstay_yaml::print(&Value::String(text.to_owned()));
    if printed.trim_end_matches('\n') == text {
        return text.to_owned();
    }
    if is_one_scalar(text) {
        go(text)
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Whether the bare text is one scalar, of whatever type.
fn is_one_scalar(text: &str) -> bool {
    let source = SourceName::new("value");
    let read = mainstay_yaml::parse_documents(text, &source, &Limits::default());
    let Ok(documents) = read else { return false };
    match documents.as_slice() {
        [document] => match &document.value {
            Value::String(read) => read == text,
            Value::Array(_) | Value::Object(_) => false,
            Value::Null | Value::Bool(_) | Value::Number(_) => !text.starts_with('#'),
        },
        _ => false,
    }
}

fn block(text: &str, indentation: usize) -> String {
    let (body, chomping) = match text.strip_suffix('\n') {
        None => (text, "-"),
        Some(body) if body.ends_with('\n') || body.is_empty() => (body, "+"),
        Some(body) => (body, ""),
    };
    let mut written = format!("|{chomping}");
    for line in body.split('\n') {
        written.push('\n');
        if !line.is_empty() {
            written.push_str(&" ".repeat(indentation));
            written.push_str(line);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_of_go() {
        assert_eq!(go("a\"b\\c\n\t\u{1}ü"), r#""a\"b\\c\n\t\x01ü""#);
    }

    #[test]
    fn yaml_texts_stay_texts() {
        for (text, written) in [
            (
                "https://enc.example.org/in?x=1&y=2",
                "https://enc.example.org/in?x=1&y=2",
            ),
            ("no: yes", "'no: yes'"),
            ("0042", "\"0042\""),
            ("true", "\"true\""),
            ("yes", "\"yes\""),
            ("", "\"\""),
            ("Splunk 1234", "Splunk 1234"),
            ("it's", "it's"),
            ("'quoted'", "'''quoted'''"),
            ("*.example.org", "'*.example.org'"),
            ("# no comment", "'# no comment'"),
            ("two\nlines", "|-\n    two\n    lines"),
            ("two\nlines\n", "|\n    two\n    lines"),
            ("bell\u{7}", "\"bell\\a\""),
        ] {
            assert_eq!(yaml(text, 4), written);
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_secret_holds_is_read_back(text in "[ -~\\n\\t\u{7}äß€\u{2028}\u{a0}]{0,30}") {
            let file = format!("key: {}\n", yaml(&text, 4));
            let source = SourceName::new("file");
            let documents = mainstay_yaml::parse_documents(&file, &source, &Limits::default());
            let documents = documents.map_err(|error| proptest::test_runner::TestCaseError::fail(format!("{error}: {file:?}")))?;
            proptest::prop_assert_eq!(&documents[0].value["key"], &Value::String(text), "{}", file);
        }
    }

    #[test]
    fn attributes_cannot_end_early() {
        assert_eq!(xml(r#"a<b>"&c"#), "\"a&lt;b&gt;&quot;&amp;c\"");
    }
}
