//! Certificate requests, as far as an authority has to know them.

use der::{
    Decode as _, Reader as _, SliceReader, Tag, Tagged as _,
    asn1::{AnyRef, ObjectIdentifier},
};
use rcgen::{
    CustomExtension, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, PublicKeyData, SignatureAlgorithm,
};

const EXTENSION_REQUEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// What is asked for.
pub(super) struct CertificateRequest {
    key: Vec<u8>,
    is_rsa: bool,
    /// Everything that the certificate shall have, names included.
    pub(super) extensions: Vec<CustomExtension>,
}

impl CertificateRequest {
    /// Reads a request in PEM; none if it is not one.
    pub(super) fn from_pem(text: &[u8]) -> Option<Self> {
        let block = pem::parse(text).ok()?;
        let request = items(&AnyRef::from_der(block.contents()).ok()?)?;
        let info = items(request.first()?)?;
        let [_version, _subject, key, rest @ ..] = info.as_slice() else {
            return None;
        };
        let key = items(key)?;
        let [algorithm, bits] = key.as_slice() else {
            return None;
        };
        let algorithm = items(algorithm)?.first()?.decode_as::<ObjectIdentifier>();
        let mut found = Self {
            // The first octet says how many bits are not used: none.
            key: bits.value().get(1..)?.to_vec(),
            is_rsa: algorithm.ok()? == RSA,
            extensions: Vec::new(),
        };
        for attribute in rest.first().and_then(items).unwrap_or_default() {
            found.attribute(&attribute);
        }
        Some(found)
    }

    fn attribute(&mut self, attribute: &AnyRef<'_>) -> Option<()> {
        let parts = items(attribute)?;
        let name = parts.first()?.decode_as::<ObjectIdentifier>().ok()?;
        if name != EXTENSION_REQUEST {
            return None;
        }
        for extension in items(items(parts.get(1)?)?.first()?)? {
            let parts = items(&extension)?;
            let name = parts.first()?.decode_as::<ObjectIdentifier>().ok()?;
            let arcs: Vec<u64> = name.arcs().map(u64::from).collect();
            let content = parts
                .last()
                .filter(|value| value.tag() == Tag::OctetString)?;
            let content = content.value().to_vec();
            let extension = CustomExtension::from_oid_content(&arcs, content);
            self.extensions.push(extension);
        }
        Some(())
    }
}

impl PublicKeyData for CertificateRequest {
    fn der_bytes(&self) -> &[u8] {
        &self.key
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        if self.is_rsa {
            &PKCS_RSA_SHA256
        } else {
            &PKCS_ECDSA_P256_SHA256
        }
    }
}

/// The values inside a value.
fn items<'a>(value: &AnyRef<'a>) -> Option<Vec<AnyRef<'a>>> {
    let mut reader = SliceReader::new(value.value()).ok()?;
    let mut found = Vec::new();
    while !reader.is_finished() {
        found.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(found)
}
