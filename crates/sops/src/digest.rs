//! Recognising an unchanged file without its secret key.
//!
//! A plain hash of a cleartext would let anybody try passwords against it, so the digest is keyed, and the key stays
//! with the user.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{
    Error, Settings,
    surroundings::{Entropy, random},
};

/// The key of digests. Not shown by `Debug`, zeroed when dropped.
#[derive(Clone)]
pub struct DigestKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DigestKey(***)")
    }
}

impl DigestKey {
    /// A new key.
    pub fn generate(entropy: &mut dyn Entropy) -> Result<Self, Error> {
        Ok(Self(random::<32>(entropy)?))
    }

    /// Reads the text form; none if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text.trim()).ok()?);
        let mut key = Zeroizing::new([0; 32]);
        (bytes.len() == key.len()).then(|| key.copy_from_slice(&bytes))?;
        Some(Self(key))
    }

    /// The text form, for a file of the user.
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(URL_SAFE_NO_PAD.encode(self.0.as_slice()))
    }

    /// The digest that binds a cleartext, how and for whom it is encrypted, its name, and the file that came of it.
    pub fn digest(&self, name: &str, cleartext: &[u8], settings: &Settings, file: &[u8]) -> String {
        let mut code = Hmac::<Sha256>::new_from_slice(self.0.as_slice())
            .expect("HMAC takes keys of any length");
        let mut recipients: Vec<String> = settings
            .recipients
            .iter()
            .map(ToString::to_string)
            .collect();
        recipients.sort_unstable();
        let scope = format!("{:?}", settings.scope);
        let recipients = recipients.join(",");
        for part in [
            name.as_bytes(),
            scope.as_bytes(),
            recipients.as_bytes(),
            cleartext,
            file,
        ] {
            // The length in front keeps the parts apart.
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            code.update(&length.to_be_bytes());
            code.update(part);
        }
        URL_SAFE_NO_PAD.encode(code.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scope, surroundings::tests::Counter};

    #[test]
    fn every_part_counts_and_the_key_survives_its_text_form() {
        let key = DigestKey::generate(&mut Counter::default()).unwrap();
        let settings = |scope: &str| Settings {
            recipients: Vec::new(),
            scope: Scope::EncryptedRegex(scope.to_owned()),
        };
        let one = key.digest("a", b"b", &settings("c"), b"d");
        assert_eq!(
            DigestKey::parse(&key.expose())
                .unwrap()
                .digest("a", b"b", &settings("c"), b"d"),
            one
        );
        for other in [
            key.digest("x", b"b", &settings("c"), b"d"),
            key.digest("a", b"x", &settings("c"), b"d"),
            key.digest("a", b"b", &settings("x"), b"d"),
            key.digest("a", b"b", &settings("c"), b"x"),
            key.digest("a", b"bd", &settings("c"), b""),
        ] {
            assert_ne!(other, one);
        }
        assert!(DigestKey::parse("short").is_none());
        assert_eq!(format!("{key:?}"), "DigestKey(***)");
    }
}
