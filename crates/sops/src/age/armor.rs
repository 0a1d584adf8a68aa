//! The text form of age files.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::Error;

const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
const COLUMNS: usize = 64;

/// Writes a binary age file as text.
pub fn enarmor(file: &[u8]) -> String {
    let encoded = STANDARD.encode(file);
    let mut text = String::with_capacity(encoded.len() + encoded.len() / COLUMNS + 80);
    text.push_str(BEGIN);
    text.push('\n');
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(COLUMNS).unwrap_or((rest, ""));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str(END);
    text.push('\n');
    text
}

/// Reads the text form of an age file.
pub fn dearmor(text: &str) -> Result<Vec<u8>, Error> {
    let mut lines = text.trim().lines().map(|line| line.trim_end_matches('\r'));
    if lines.next() != Some(BEGIN) {
        return Err(Error::Format("the armor does not begin"));
    }
    let mut encoded = String::with_capacity(text.len());
    let mut is_last = false;
    for line in lines {
        if line == END {
            return STANDARD
                .decode(&encoded)
                .map_err(|_| Error::Format("the armor is not base64"));
        }
        if is_last || line.is_empty() || line.len() > COLUMNS {
            return Err(Error::Format("a line of the armor has the wrong length"));
        }
        is_last = line.len() < COLUMNS;
        encoded.push_str(line);
    }
    Err(Error::Truncated)
}
