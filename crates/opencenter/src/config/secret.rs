//! Secret text that cannot be shown by accident.

use std::fmt;

use serde::Deserialize;

/// A secret-classified value. `Debug` and `Display` print `***`; only [`Secret::expose`] gives the text.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself; the caller takes care of where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the text only stands in for a secret that is still to come.
    pub fn is_placeholder(&self) -> bool {
        is_placeholder(&self.0)
    }

    /// Whether there is text, and it is no placeholder.
    pub fn is_real(&self) -> bool {
        !self.is_empty() && !self.is_placeholder()
    }
}

/// Whether a text is one of the agreed stand-ins: `CHANGEME` in any case, or anything after `PLACEHOLDER-`.
pub fn is_placeholder(text: &str) -> bool {
    text.eq_ignore_ascii_case("CHANGEME") || text.starts_with("PLACEHOLDER-")
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_shows_the_text() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "*** *** Some(***)"
        );
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn tells_placeholders_from_secrets() {
        for (text, expected) in [
            ("CHANGEME", true),
            ("changeme", true),
            ("PLACEHOLDER-X", true),
            ("placeholder-x", false),
            ("CHANGEME1", false),
            ("", false),
        ] {
            assert_eq!(Secret::new(text).is_placeholder(), expected, "{text}");
        }
        assert!(Secret::new("x").is_real());
        assert!(!Secret::new("").is_real());
        assert!(!Secret::new("CHANGEME").is_real());
    }
}
