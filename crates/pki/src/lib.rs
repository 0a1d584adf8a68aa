//! Private keys, certificate requests, certificates and revocation lists: PEM in, typed values out.
//!
//! Parsing and encoding are those of `x509-cert`, keys and signatures those of AWS-LC, which the program has for TLS.
//! What is read may come from anybody who can write a Secret or answer for an authority, so sizes and counts are bounded
//! before anything is parsed, and nothing here panics. Chance is used by [`PrivateKey::generate`] and by nothing else.
#![deny(missing_docs)]

mod certificate;
mod key;
mod pem_block;
mod request;
mod revocation;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub use self::{
    certificate::Certificate,
    key::PrivateKey,
    request::{Request, RequestedExtension},
    revocation::RevocationList,
};

/// Most bytes of one PEM text: what an authority may answer.
pub const LARGEST_TEXT: usize = 10 * 1024 * 1024;
/// Most certificates of one bundle.
pub const MOST_CERTIFICATES: usize = 1_000;
/// Most names and extensions of one request.
pub const MOST_NAMES: usize = 1_000;

/// Why something is no key, request, certificate or list. Says nothing of what a key consists of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is longer than anything that is read.
    #[error("{what}: more than {limit} bytes")]
    TooLarge {
        /// What was read.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// There are more of them than anybody needs.
    #[error("{what}: more than {limit}")]
    TooMany {
        /// What was counted.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// There is no PEM block, or it is damaged.
    #[error("{what}: no PEM block, or a damaged one")]
    NoBlock {
        /// What was looked for.
        what: &'static str,
    },
    /// The PEM block holds something else.
    #[error("{what}: the PEM block says `{label}`")]
    WrongLabel {
        /// What was looked for.
        what: &'static str,
        /// What the block says it holds.
        label: String,
    },
    /// The content of a PEM block cannot be read.
    #[error("{what}: {cause}")]
    Malformed {
        /// What was read.
        what: &'static str,
        /// The place and kind of the defect.
        cause: String,
    },
    /// The key is of another type or size.
    #[error("private key: not an RSA key of 2048 to 8192 bits")]
    UnusableKey,
    /// The library could not make a key or a signature.
    #[error("{what} failed")]
    Failed {
        /// What was attempted.
        what: &'static str,
    },
}
