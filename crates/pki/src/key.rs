//! Private keys.

use std::fmt;

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der},
    rand::SystemRandom,
    rsa::{KeyPair, KeySize},
    signature::{KeyPair as _, RSA_PKCS1_SHA256},
};
use der::{Decode, Reader, SliceReader, asn1::OctetStringRef};
use zeroize::Zeroizing;

use crate::{Error, pem_block};

const WHAT: &str = "private key";
/// PKCS #1, which is what Puppet writes.
const RSA_LABEL: &str = "RSA PRIVATE KEY";
/// PKCS #8, which others write.
const PKCS8_LABEL: &str = "PRIVATE KEY";

/// An RSA key. Its parts are wiped from memory when it goes, and nothing shows them.
pub struct PrivateKey {
    pair: KeyPair,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PrivateKey(…)")
    }
}

impl PrivateKey {
    /// A new key of 4096 bits. Takes seconds of processor time: to be called where that holds up nobody. It is the one
    /// place where chance comes in, so what is made is stored before it is used.
    pub fn generate() -> Result<Self, Error> {
        let pair = KeyPair::generate(KeySize::Rsa4096).map_err(|_| Error::Failed {
            what: "making an RSA key",
        })?;
        Ok(Self { pair })
    }

    /// Reads the first block of a PEM text: PKCS #1 or PKCS #8.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let block = pem_block::any(text, WHAT)?;
        let pair = match block.tag() {
            RSA_LABEL => {
                let contents = Zeroizing::new(block.into_contents());
                KeyPair::from_der(&contents)
            }
            PKCS8_LABEL => {
                let contents = Zeroizing::new(block.into_contents());
                KeyPair::from_pkcs8(&contents)
            }
            _ => return Err(pem_block::wrong(WHAT, &block)),
        };
        let pair = pair.map_err(|_| Error::UnusableKey)?;
        Ok(Self { pair })
    }

    /// The key as PKCS #1 in PEM.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, Error> {
        let failed = || Error::Failed {
            what: "writing an RSA key",
        };
        let pkcs8: Pkcs8V1Der<'_> = self.pair.as_der().map_err(|_| failed())?;
        let pkcs1 = inner_key(pkcs8.as_ref()).map_err(|_| failed())?;
        Ok(Zeroizing::new(pem_block::encode(RSA_LABEL, pkcs1)))
    }

    /// Its public half as `SubjectPublicKeyInfo` in DER: what certificates hold.
    pub fn public_key(&self) -> Result<Vec<u8>, Error> {
        let public: Result<PublicKeyX509Der<'_>, _> = self.pair.public_key().as_der();
        let public = public.map_err(|_| Error::Failed {
            what: "writing a public key",
        })?;
        Ok(public.as_ref().to_vec())
    }

    /// An RSA signature over SHA-256. The same message gives the same signature.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                message,
                &mut signature,
            )
            .map_err(|_| Error::Failed {
                what: "signing a request",
            })?;
        Ok(signature)
    }
}

/// The PKCS #1 key inside a PKCS #8 one: version, algorithm, key.
fn inner_key(pkcs8: &[u8]) -> der::Result<&[u8]> {
    let mut reader = SliceReader::new(pkcs8)?;
    reader.sequence(|inner| {
        u8::decode(inner)?;
        inner.tlv_bytes()?;
        let key = <&OctetStringRef>::decode(inner)?;
        Ok(key.as_bytes())
    })
}
