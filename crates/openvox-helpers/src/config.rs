//! Configuration files, as the operator writes them into Secrets.

use std::{path::Path, time::Duration};

use mainstay_yaml::{Dialect, Limits, SourceName, from_value, parse_bytes_as};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::files;

/// How we prove who we are to a server.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Auth {
    /// `token`, `bearer`, `basic` or `mtls`; anything else is nothing.
    #[serde(rename = "type", deserialize_with = "text")]
    pub(crate) kind: String,
    /// Header of a token.
    #[serde(deserialize_with = "text")]
    pub(crate) header: String,
    #[serde(deserialize_with = "text")]
    pub(crate) token: String,
    #[serde(deserialize_with = "text")]
    pub(crate) username: String,
    #[serde(deserialize_with = "text")]
    pub(crate) password: String,
}

/// Files for TLS.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ssl {
    #[serde(rename = "certFile", deserialize_with = "text")]
    pub(crate) certificate: String,
    #[serde(rename = "keyFile", deserialize_with = "text")]
    pub(crate) key: String,
    /// Who is trusted; if it is given, nobody else is.
    #[serde(rename = "caFile", deserialize_with = "text")]
    pub(crate) authority: String,
}

/// Why a configuration cannot be used.
pub(crate) enum Failure {
    Reading(String),
    Parsing(String),
}

impl Failure {
    /// The failure in a sentence about this file.
    pub(crate) fn about(&self, what: &str) -> String {
        match self {
            Self::Reading(cause) => format!("reading {what} config: {cause}"),
            Self::Parsing(cause) => format!("parsing {what} config: {cause}"),
        }
    }
}

/// Reads a configuration. An empty file is a configuration without content; nothing of the file is shown in errors.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Failure> {
    let content = files::read(path, files::SMALL).map_err(Failure::Reading)?;
    let parsing = |error: mainstay_yaml::Error| Failure::Parsing(error.redacted().to_string());
    let source = SourceName::new(path.display().to_string());
    let documents = parse_bytes_as(Dialect::GoText, &content, &source, &Limits::default());
    match documents.map_err(parsing)?.first() {
        Some(document) => from_value(document).map_err(parsing),
        None => Ok(T::default()),
    }
}

/// The value, or the default for `null`.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Text; a number or boolean without quotes stands for its letters.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Scalar {
        Text(String),
        Bool(bool),
    }
    let scalar = Option::<Scalar>::deserialize(deserializer)?;
    Ok(match scalar {
        None => String::new(),
        Some(Scalar::Text(text)) => text,
        Some(Scalar::Bool(flag)) => flag.to_string(),
    })
}

/// A time in seconds. Zero and less mean that the program decides.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let digits = text(deserializer)?;
    if digits.is_empty() {
        return Ok(None);
    }
    let number: i64 = digits
        .parse()
        .map_err(|_| serde::de::Error::custom("expected a number of seconds"))?;
    let number = u64::try_from(number).ok().filter(|number| *number > 0);
    Ok(number.map(Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Sample {
        #[serde(deserialize_with = "seconds")]
        timeout_seconds: Option<Duration>,
        #[serde(deserialize_with = "or_default")]
        auth: Auth,
    }

    fn sample(content: &str) -> Result<Sample, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.yaml");
        std::fs::write(&path, content).unwrap();
        read(&path).map_err(|failure| failure.about("sample"))
    }

    #[test]
    fn numbers_without_quotes_stand_for_their_digits() {
        let read = sample("timeoutSeconds: 7\nauth: {token: 007, header: true, password: 1e3}\n");
        let read = read.unwrap();
        assert_eq!(read.timeout_seconds, Some(Duration::from_secs(7)));
        assert_eq!(read.auth.token, "007");
        assert_eq!(read.auth.header, "true");
        assert_eq!(read.auth.password, "1e3");
    }

    #[test]
    fn nothing_means_the_defaults() {
        for content in [
            "",
            "---\n",
            "auth:\n",
            "timeoutSeconds: 0\n",
            "timeoutSeconds: -1\n",
        ] {
            let read = sample(content).unwrap();
            assert_eq!(read.timeout_seconds, None, "{content:?}");
            assert!(read.auth.kind.is_empty(), "{content:?}");
        }
    }

    #[test]
    fn errors_say_where_and_never_what_the_file_holds() {
        for content in [
            "auth: {token: [hunter2]}\n",
            "timeoutSeconds: hunter2\n",
            "auth: hunter2\n",
            "hunter2\n",
            "auth: {token: hunter2\n",
        ] {
            let refused = sample(content).err().unwrap();
            assert!(refused.starts_with("parsing sample config: "), "{refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }
}
