//! SOPS YAML files and the age keys that they are encrypted to.
//!
//! Files written here are read by `sops`, `age` and Flux, and theirs are read here: every scalar is sealed with
//! AES-256-GCM under one data key, with its path as additional data; a code over all values in document order guards
//! against values that were removed or moved; the data key is wrapped for each age recipient.
//!
//! [`update`] is what a renderer wants: it keeps the bytes of a file whose cleartext did not change, and the ciphertext
//! of every value that did not change, so that Git shows the real difference.
//!
//! Chance and time come in through [`Surroundings`]. Cleartext is zeroed when it is dropped, and neither errors nor
//! `Debug` show it.
//!
//! Comments are not carried over into encrypted files: what a comment says about a secret may be one.

#![deny(missing_docs)]

pub mod age;
mod cipher;
mod cleartext;
mod digest;
mod error;
mod file;
mod metadata;
mod scope;
mod surroundings;
mod walk;

pub use cleartext::Cleartext;
pub use digest::DigestKey;
pub use error::Error;
pub use file::{Settings, decrypt, encrypt, is_encrypted, recipients, scope, update};
pub use scope::Scope;
pub use surroundings::{Entropy, OperatingSystem, Surroundings};
