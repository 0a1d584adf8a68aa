//! Which characters may stand in a text at all.

use crate::{
    error::{Error, ErrorKind},
    source::{Position, Source},
};

/// Refuses characters that YAML does not allow in a text, as `kubectl` does.
///
/// Returns whether the text has line breaks that only some readers know, so that scalars need a closer look.
pub(super) fn check(source: &Source) -> Result<bool, Error> {
    let mut has_unusual_breaks = false;
    for (offset, character) in source.text.char_indices() {
        if matches!(character, ' '..='~' | '\n') {
            continue;
        }
        if is_forbidden(character) {
            let code = u32::from(character);
            let message = format!("control character U+{code:04X} is not allowed");
            let position = Position::of_byte(&source.text, offset);
            let hint = format!("in double quotes it can be written as \\u{code:04x}");
            return Err(Error::new(ErrorKind::Encoding, source, position, message).with_hint(hint));
        }
        has_unusual_breaks |= is_unusual_break(character);
    }
    Ok(has_unusual_breaks)
}

fn is_forbidden(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{85}');
    is_control || matches!(character, '\u{fffe}' | '\u{ffff}')
}

/// Whether `kubectl` would read the character as something else. In quotes only one of the three changes: the next
/// line character becomes a blank.
pub(super) fn is_misread(character: char, is_quoted: bool) -> bool {
    if is_quoted {
        character == '\u{85}'
    } else {
        is_unusual_break(character)
    }
}

/// Line breaks of YAML 1.1 that YAML 1.2 takes for ordinary characters.
fn is_unusual_break(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}
