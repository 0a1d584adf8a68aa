//! Why a file cannot be encrypted or decrypted. No variant holds cleartext.

use crate::{age, surroundings::NoEntropy};

/// Why a SOPS file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no YAML.
    #[error("could not parse the file")]
    Yaml(#[source] mainstay_yaml::Error),
    /// Only mappings can be encrypted.
    #[error("document {index} is not a mapping")]
    NotAMapping {
        /// Number of the document, starting at one.
        index: usize,
    },
    /// There is no `sops` block.
    #[error("the file is not encrypted: it has no `sops` block")]
    NotEncrypted,
    /// The cleartext uses the key that the metadata needs.
    #[error("the file has a `sops` key already")]
    AlreadyEncrypted,
    /// The `sops` block is broken.
    #[error("`sops.{field}` {problem}")]
    Metadata {
        /// Which field.
        field: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Something that `sops` can do and we cannot.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// Nobody to encrypt to.
    #[error("there is no recipient to encrypt to")]
    NoRecipient,
    /// None of the secret keys opens the data key.
    #[error("no secret key fits; the file is encrypted to {recipients}")]
    WrongKey {
        /// Who could open it, separated by commas.
        recipients: String,
    },
    /// The wrapped data key is broken.
    #[error("could not open the data key for {recipient}")]
    DataKey {
        /// Whose copy of the key.
        recipient: String,
        /// What is wrong with it.
        #[source]
        source: age::Error,
    },
    /// A value should be encrypted and is not, or cannot be opened.
    #[error("`{path}` {problem}")]
    Value {
        /// Keys from the root, separated by dots.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The code of the file cannot be opened.
    #[error("the code of the file (`sops.mac`) was tampered with")]
    CodeTampered,
    /// The code does not fit the values: some were changed, moved or removed.
    #[error("the values do not fit the code of the file: they were changed without `sops`")]
    CodeMismatch,
    /// An age key is broken.
    #[error(transparent)]
    Age(#[from] age::Error),
    /// An expression that selects values is broken.
    #[error("`{0}` is not a regular expression")]
    Expression(String),
    /// No random bytes.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

impl Error {
    /// Whether the file may be fine and only the keys at hand do not open it.
    pub fn is_missing_key(&self) -> bool {
        matches!(self, Self::WrongKey { .. })
    }
}
