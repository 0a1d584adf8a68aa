//! Which values of a file are encrypted.

use regex::Regex;

use crate::Error;

/// The rule that selects the values to encrypt. It looks at every key from the root to the value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// Everything except below keys with this ending.
    UnencryptedSuffix(String),
    /// Only below keys with this ending.
    EncryptedSuffix(String),
    /// Everything except below keys that match.
    UnencryptedRegex(String),
    /// Only below keys that match.
    EncryptedRegex(String),
}

impl Scope {
    /// What `sops` uses if nothing is said.
    pub fn default_suffix() -> Self {
        Self::UnencryptedSuffix("_unencrypted".to_owned())
    }

    /// Makes the rule ready to judge.
    pub(crate) fn judge(&self) -> Result<Judge<'_>, Error> {
        let compile = |text: &str| Regex::new(text).map_err(|_| Error::Expression(text.to_owned()));
        Ok(match self {
            Self::UnencryptedSuffix(suffix) => Judge::Suffix(suffix, false),
            Self::EncryptedSuffix(suffix) => Judge::Suffix(suffix, true),
            Self::UnencryptedRegex(text) => Judge::Regex(compile(text)?, false),
            Self::EncryptedRegex(text) => Judge::Regex(compile(text)?, true),
        })
    }
}

/// A rule that is ready to judge; the flag says what a match means.
#[derive(Debug)]
pub(crate) enum Judge<'a> {
    Suffix(&'a str, bool),
    Regex(Regex, bool),
}

impl Judge<'_> {
    /// Whether the value below these keys is encrypted.
    pub(crate) fn encrypts(&self, path: &[String]) -> bool {
        match self {
            Self::Suffix(suffix, meaning) => {
                path.iter().any(|key| key.ends_with(suffix)) == *meaning
            }
            Self::Regex(regex, meaning) => path.iter().any(|key| regex.is_match(key)) == *meaning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypts(scope: &Scope, path: &[&str]) -> bool {
        let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        scope.judge().unwrap().encrypts(&path)
    }

    #[test]
    fn any_key_on_the_way_decides() {
        let scope = Scope::EncryptedRegex("^(data|stringData)$".to_owned());
        assert!(encrypts(&scope, &["data", "password"]));
        assert!(encrypts(&scope, &["items", "stringData", "a"]));
        assert!(!encrypts(&scope, &["metadata", "database"]));

        let scope = Scope::UnencryptedRegex("^meta".to_owned());
        assert!(!encrypts(&scope, &["metadata", "name"]));
        assert!(encrypts(&scope, &["spec"]));

        let scope = Scope::default_suffix();
        assert!(!encrypts(&scope, &["a_unencrypted", "b"]));
        assert!(encrypts(&scope, &["a", "b"]));

        let scope = Scope::EncryptedSuffix("_secret".to_owned());
        assert!(encrypts(&scope, &["a_secret", "b"]));
        assert!(!encrypts(&scope, &["a"]));
    }

    #[test]
    fn a_broken_expression_is_named() {
        let error = Scope::EncryptedRegex("(".to_owned()).judge().unwrap_err();
        assert_eq!(error.to_string(), "`(` is not a regular expression");
    }
}
