//! age files for X25519 keys, as `age` writes and reads them.
//!
//! The format is <https://age-encryption.org/v1>. Other kinds of recipients in a file are skipped, not understood.

mod armor;
mod bech32;
mod format;
mod key;
mod stream;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, aead::Aead as _};
use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

pub use armor::{dearmor, enarmor};
pub use key::{Identity, Recipient, identities};

use crate::surroundings::{Entropy, NoEntropy, random};
use format::{Header, Stanza};

/// Bytes of the key of one file.
const FILE_KEY: usize = 16;

/// The word for our kind of recipients in the header, and part of how their key is derived.
const X25519: &str = "X25519";
const X25519_LABEL: &[u8] = b"age-encryption.org/v1/X25519";

/// Why an age key or file cannot be used. No variant holds key material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not `age1…`, or its checksum is wrong.
    #[error("`{0}` is not an age recipient: {1}")]
    Recipient(String, &'static str),
    /// Not `AGE-SECRET-KEY-1…`, or its checksum is wrong. The text is not repeated.
    #[error("line {line} is not an age secret key: {problem}")]
    Identity {
        /// Line in the key file, starting at one.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file is not an age file.
    #[error("not an age file: {0}")]
    Format(&'static str),
    /// The file ends too early.
    #[error("the age file is cut off")]
    Truncated,
    /// None of the keys opens the file.
    #[error("no secret key fits: the file is encrypted to other recipients")]
    NoMatch,
    /// The header was changed.
    #[error("the header of the age file was tampered with")]
    Header,
    /// The payload was changed.
    #[error("the payload of the age file was tampered with")]
    Payload,
    /// No random bytes.
    #[error("could not make a key")]
    Entropy(#[from] NoEntropy),
}

/// Encrypts `cleartext` to one recipient. Binary; see [`enarmor`].
pub fn encrypt(
    cleartext: &[u8],
    recipient: &Recipient,
    entropy: &mut dyn Entropy,
) -> Result<Vec<u8>, Error> {
    let file_key = random::<FILE_KEY>(entropy)?;
    let stanza = wrap(&file_key, recipient, entropy)?;
    let mut out = format::write(&[stanza], &file_key);
    let nonce = random::<{ stream::NONCE }>(entropy)?;
    out.extend_from_slice(nonce.as_slice());
    let key = stream::payload_key(&file_key, nonce.as_slice());
    stream::seal(&key, cleartext, &mut out)?;
    Ok(out)
}

/// Opens a binary age file with the first key that fits.
pub fn decrypt(file: &[u8], identities: &[Identity]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (header, payload) = format::read(file)?;
    let file_key = identities
        .iter()
        .find_map(|identity| unwrap_any(&header, identity))
        .ok_or(Error::NoMatch)?;
    header.verify(&file_key)?;
    let (nonce, body) = payload
        .split_at_checked(stream::NONCE)
        .ok_or(Error::Truncated)?;
    stream::open(&stream::payload_key(&file_key, nonce), body)
}

/// Wraps the key of the file for one recipient.
fn wrap(
    file_key: &[u8; FILE_KEY],
    recipient: &Recipient,
    entropy: &mut dyn Entropy,
) -> Result<Stanza, Error> {
    let secret = StaticSecret::from(*random::<32>(entropy)?);
    let share = PublicKey::from(&secret);
    let shared = secret.diffie_hellman(recipient.key());
    if !shared.was_contributory() {
        return Err(Error::Recipient(
            recipient.to_string(),
            "it is a weak point of the curve",
        ));
    }
    let key = wrapping_key(shared.as_bytes(), &share, recipient.key());
    let body = ChaCha20Poly1305::new(&(*key).into())
        .encrypt(&[0; 12].into(), file_key.as_slice())
        .map_err(|_| Error::Payload)?;
    Ok(Stanza {
        kind: X25519.to_owned(),
        arguments: vec![STANDARD_NO_PAD.encode(share.as_bytes())],
        body,
    })
}

fn unwrap_any(header: &Header<'_>, identity: &Identity) -> Option<Zeroizing<[u8; FILE_KEY]>> {
    header
        .stanzas
        .iter()
        .find_map(|stanza| unwrap(stanza, identity))
}

/// The key of the file, if this stanza is for this identity.
fn unwrap(stanza: &Stanza, identity: &Identity) -> Option<Zeroizing<[u8; FILE_KEY]>> {
    let [share] = stanza.arguments.as_slice() else {
        return None;
    };
    if stanza.kind != X25519 {
        return None;
    }
    let share: [u8; 32] = STANDARD_NO_PAD.decode(share).ok()?.try_into().ok()?;
    let share = PublicKey::from(share);
    let shared = identity.secret().diffie_hellman(&share);
    if !shared.was_contributory() {
        return None;
    }
    let key = wrapping_key(shared.as_bytes(), &share, identity.recipient().key());
    let opened = ChaCha20Poly1305::new(&(*key).into())
        .decrypt(&[0; 12].into(), stanza.body.as_slice())
        .map(Zeroizing::new)
        .ok()?;
    let mut file_key = Zeroizing::new([0; FILE_KEY]);
    if opened.len() != FILE_KEY {
        return None;
    }
    file_key.copy_from_slice(&opened);
    Some(file_key)
}

fn wrapping_key(
    shared: &[u8; 32],
    share: &PublicKey,
    recipient: &PublicKey,
) -> Zeroizing<[u8; 32]> {
    let mut salt = [0; 64];
    let (first, second) = salt.split_at_mut(32);
    first.copy_from_slice(share.as_bytes());
    second.copy_from_slice(recipient.as_bytes());
    derive(Some(&salt), shared, X25519_LABEL)
}

/// 32 bytes of HKDF-SHA-256.
fn derive(salt: Option<&[u8]>, material: &[u8], label: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(salt, material)
        .expand(label, key.as_mut_slice())
        .expect("32 bytes are within what HKDF can give");
    key
}

#[cfg(test)]
mod tests;
