//! Recipients and identities.

use std::{fmt, str::FromStr};

use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use super::{Error, bech32};
use crate::surroundings::{Entropy, random};

const RECIPIENT_PREFIX: &str = "age";
const IDENTITY_PREFIX: &str = "AGE-SECRET-KEY-";

/// A public key, `age1…`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recipient(PublicKey);

impl Recipient {
    pub(super) fn key(&self) -> &PublicKey {
        &self.0
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&bech32::encode(RECIPIENT_PREFIX, self.0.as_bytes()))
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Recipient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // A secret key in the wrong place must not be repeated in a message.
        let shown = || {
            let is_secret = text.to_ascii_uppercase().contains(IDENTITY_PREFIX);
            if is_secret {
                "***".to_owned()
            } else {
                text.to_owned()
            }
        };
        let not = |problem| Error::Recipient(shown(), problem);
        let bytes = bech32::decode(RECIPIENT_PREFIX, text).map_err(not)?;
        let bytes: [u8; 32] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| not("it is not an X25519 key"))?;
        Ok(Self(PublicKey::from(bytes)))
    }
}

/// A secret key, `AGE-SECRET-KEY-1…`. Zeroed when dropped.
#[derive(Clone)]
pub struct Identity {
    secret: StaticSecret,
    recipient: Recipient,
}

impl Identity {
    /// A new key.
    pub fn generate(entropy: &mut dyn Entropy) -> Result<Self, Error> {
        Ok(Self::new(StaticSecret::from(*random::<32>(entropy)?)))
    }

    fn new(secret: StaticSecret) -> Self {
        let recipient = Recipient(PublicKey::from(&secret));
        Self { secret, recipient }
    }

    /// The public key that belongs to it.
    pub fn recipient(&self) -> Recipient {
        self.recipient
    }

    /// The text form, for a key file of the user.
    pub fn expose(&self) -> Zeroizing<String> {
        let text = bech32::encode(IDENTITY_PREFIX, self.secret.as_bytes());
        Zeroizing::new(text.to_ascii_uppercase())
    }

    pub(super) fn secret(&self) -> &StaticSecret {
        &self.secret
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let bytes = bech32::decode(IDENTITY_PREFIX, text)?;
        let bytes: [u8; 32] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| "it is not an X25519 key")?;
        Ok(Self::new(StaticSecret::from(bytes)))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Identity of {}", self.recipient)
    }
}

/// Reads a key file: one secret key per line, comments and blank lines between them.
pub fn identities(text: &str) -> Result<Vec<Identity>, Error> {
    let lines = text.lines().map(str::trim).enumerate();
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            Identity::parse(line).map_err(|problem| Error::Identity {
                line: index + 1,
                problem,
            })
        })
        .collect()
}
