//! Certificate requests (PKCS#10), as far as policies ask for them. The signature is not looked at: the authority does
//! that before it signs.

use der::{
    Decode as _, Reader as _, SliceReader, Tag, Tagged as _,
    asn1::{AnyRef, ObjectIdentifier},
};

/// The attribute that holds the wanted extensions.
const EXTENSION_REQUEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
/// The number of `dNSName` among the kinds of names.
const DNS_NAME: u32 = 2;

/// A certificate request.
#[derive(Debug, Default)]
pub(super) struct CertificateRequest {
    /// DNS names that the certificate shall have besides its own.
    pub(super) dns_names: Vec<String>,
    extensions: Vec<(ObjectIdentifier, Vec<u8>)>,
}

/// Why a request cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("no PEM block found in CSR")]
    NoPem,
    #[error("asn1: {0}")]
    Encoding(#[from] der::Error),
    #[error("asn1: {0}")]
    Structure(&'static str),
}

impl CertificateRequest {
    /// Reads the first block of a PEM text, whatever its label says.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let block = pem::parse(text).map_err(|_| Error::NoPem)?;
        Self::from_der(block.contents())
    }

    fn from_der(bytes: &[u8]) -> Result<Self, Error> {
        let request = AnyRef::from_der(bytes)?;
        let request = items(&request, Tag::Sequence)?;
        let [info, _algorithm, _signature] = request.as_slice() else {
            return Err(Error::Structure("a request has three parts"));
        };
        let info = items(info, Tag::Sequence)?;
        let [version, _subject, _key, rest @ ..] = info.as_slice() else {
            return Err(Error::Structure(
                "a request has a version, a subject and a key",
            ));
        };
        expect(version, Tag::Integer)?;
        let mut found = Self::default();
        for attributes in rest.iter().filter(|part| is_context(part, 0)) {
            for attribute in &sequence(attributes.value())? {
                found.attribute(attribute)?;
            }
        }
        Ok(found)
    }

    fn attribute(&mut self, attribute: &AnyRef<'_>) -> Result<(), Error> {
        let parts = items(attribute, Tag::Sequence)?;
        let [name, values] = parts.as_slice() else {
            return Err(Error::Structure("an attribute has a name and values"));
        };
        if name.decode_as::<ObjectIdentifier>()? != EXTENSION_REQUEST {
            return Ok(());
        }
        for extensions in items(values, Tag::Set)? {
            for extension in items(&extensions, Tag::Sequence)? {
                self.extension(&extension)?;
            }
        }
        Ok(())
    }

    fn extension(&mut self, extension: &AnyRef<'_>) -> Result<(), Error> {
        let parts = items(extension, Tag::Sequence)?;
        let (name, value) = match parts.as_slice() {
            [name, value] => (name, value),
            [name, critical, value] => {
                expect(critical, Tag::Boolean)?;
                (name, value)
            }
            _ => return Err(Error::Structure("an extension has a name and a value")),
        };
        expect(value, Tag::OctetString)?;
        let name: ObjectIdentifier = name.decode_as()?;
        // Which of two an authority takes is not known here.
        if self.extensions.iter().any(|(known, _)| *known == name) {
            return Err(Error::Structure("an extension is requested twice"));
        }
        if name == SUBJECT_ALT_NAME {
            self.dns_names = dns_names(value.value())?;
        }
        self.extensions.push((name, value.value().to_vec()));
        Ok(())
    }

    /// The text of an extension: the content of a string, or of anything else the encoding as it is.
    pub(super) fn text(&self, name: ObjectIdentifier) -> Option<Vec<u8>> {
        let mut extensions = self.extensions.iter();
        let (_, value) = extensions.find(|(known, _)| *known == name)?;
        let first = SliceReader::new(value).and_then(|mut reader| AnyRef::decode(&mut reader));
        let text = first.ok().and_then(|first| string(&first));
        Some(text.unwrap_or_else(|| value.clone()))
    }
}

/// The content of a string of one of the types that count, if it is what its type allows.
fn string(value: &AnyRef<'_>) -> Option<Vec<u8>> {
    let bytes = value.value();
    let own = |is_allowed: bool| is_allowed.then(|| bytes.to_vec());
    match value.tag() {
        Tag::Utf8String => own(std::str::from_utf8(bytes).is_ok()),
        Tag::PrintableString => own(bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(byte))),
        Tag::Ia5String => own(bytes.is_ascii()),
        Tag::NumericString => own(bytes
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b' ')),
        Tag::TeletexString => own(true),
        Tag::BmpString => {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
            let text: Result<String, _> = char::decode_utf16(units).collect();
            text.ok()
                .filter(|_| rest.is_empty())
                .map(String::into_bytes)
        }
        _ => None,
    }
}

fn dns_names(value: &[u8]) -> Result<Vec<String>, Error> {
    let names = items(&AnyRef::from_der(value)?, Tag::Sequence)?;
    let names = names.iter().filter(|name| is_context(name, DNS_NAME));
    let text = |name: &AnyRef<'_>| {
        let text = std::str::from_utf8(name.value()).ok();
        let text = text.filter(|text| text.is_ascii());
        text.map(str::to_owned)
            .ok_or(Error::Structure("a DNS name is not ASCII"))
    };
    names.map(text).collect()
}

fn is_context(value: &AnyRef<'_>, number: u32) -> bool {
    value.tag().is_context_specific() && value.tag().number().value() == number
}

fn expect(value: &AnyRef<'_>, tag: Tag) -> Result<(), Error> {
    if value.tag() == tag {
        Ok(())
    } else {
        Err(Error::Structure("a value has another type than expected"))
    }
}

/// The values inside a value of a type.
fn items<'a>(value: &AnyRef<'a>, tag: Tag) -> Result<Vec<AnyRef<'a>>, Error> {
    expect(value, tag)?;
    sequence(value.value())
}

fn sequence(bytes: &[u8]) -> Result<Vec<AnyRef<'_>>, Error> {
    let mut reader = SliceReader::new(bytes)?;
    let mut found = Vec::new();
    while !reader.is_finished() {
        found.push(AnyRef::decode(&mut reader)?);
    }
    Ok(found)
}
