//! Files and input, never more of them than can be meant.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Largest configuration, certificate or key.
pub(crate) const SMALL: u64 = 4 * 1024 * 1024;

/// Reads a file; the error says what was tried, in the words of the system.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let mut file = File::open(path).map_err(|error| format!("open {shown}: {}", words(&error)))?;
    read_all(&mut file, limit).map_err(|error| format!("read {shown}: {}", words(&error)))
}

/// Reads input to its end.
pub(crate) fn read_all(input: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    input
        .take(limit.saturating_add(1))
        .read_to_end(&mut content)?;
    if u64::try_from(content.len()).unwrap_or(u64::MAX) > limit {
        let message = format!("more than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(content)
}

/// An error of the system as other programs on it word it: `no such file or directory`.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_said_in_the_words_of_the_system() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("none");
        assert_eq!(
            read(&missing, SMALL).unwrap_err(),
            format!("open {}: no such file or directory", missing.display())
        );
        let refused = read(directory.path(), SMALL).unwrap_err();
        assert_eq!(
            refused,
            format!("read {}: is a directory", directory.path().display())
        );
    }

    #[test]
    fn input_without_an_end_is_given_up() {
        let refused = read_all(&mut io::repeat(b'x'), 100).unwrap_err();
        assert_eq!(refused.to_string(), "more than 100 bytes");
        assert_eq!(read_all(&mut &[1_u8; 100][..], 100).unwrap().len(), 100);
    }
}
