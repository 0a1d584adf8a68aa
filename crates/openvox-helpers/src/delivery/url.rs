//! URLs as people write them: with spaces, letters outside ASCII, or credentials.

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};

/// What is escaped behind the host, besides what is not ASCII. Control characters stay: a URL with them is refused.
const ESCAPED: &AsciiSet = &AsciiSet::EMPTY
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'|');

/// A URL.
#[derive(Debug)]
pub(super) struct Url {
    /// As it is asked for, without credentials.
    pub(super) wire: String,
    /// As it is shown: also without the query, which may hold a token.
    pub(super) shown: String,
    /// User and password.
    pub(super) credentials: Option<(String, String)>,
}

impl Url {
    pub(super) fn parse(text: &str) -> Self {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Self {
                wire: text.to_owned(),
                shown: without_query(text).to_owned(),
                credentials: None,
            };
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = user.map(|user| {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            (decoded(user), decoded(password))
        });
        Self {
            wire: format!("{scheme}://{host}{}", utf8_percent_encode(path, ESCAPED)),
            shown: format!("{scheme}://{host}{}", without_query(path)),
            credentials,
        }
    }

    pub(super) fn has_scheme(&self) -> bool {
        self.wire.contains("://")
    }
}

fn without_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_asked_for_without_credentials_and_shown_without_its_query() {
        for (text, wire, shown, credentials) in [
            ("http://h/a?t=1", "http://h/a?t=1", "http://h/a", None),
            ("http://h", "http://h", "http://h", None),
            (
                "http://h/a b/ü",
                "http://h/a%20b/%C3%BC",
                "http://h/a b/ü",
                None,
            ),
            (
                "http://me:a%40b@h:1/x@y",
                "http://h:1/x@y",
                "http://h:1/x@y",
                Some(("me".to_owned(), "a@b".to_owned())),
            ),
            (
                "https://me@h",
                "https://h",
                "https://h",
                Some(("me".to_owned(), String::new())),
            ),
            ("/only", "/only", "/only", None),
            ("", "", "", None),
            ("http://h/\u{1}", "http://h/\u{1}", "http://h/\u{1}", None),
        ] {
            let url = Url::parse(text);
            assert_eq!(url.wire, wire);
            assert_eq!(url.shown, shown);
            assert_eq!(url.credentials, credentials);
        }
    }
}
