//! Texts in DER.

use der::{
    Any, Tag, Tagged,
    asn1::{PrintableStringRef, Utf8StringRef},
};

/// A text as most programs write it: printable if its characters allow that, else UTF-8.
pub(crate) fn encode(text: &str) -> der::Result<Any> {
    match PrintableStringRef::new(text) {
        Ok(printable) => Any::encode_from(&printable),
        Err(_) => Any::encode_from(&Utf8StringRef::new(text)?),
    }
}

/// The text of a value of one of the types that names have.
pub(crate) fn decode(value: &Any) -> Option<String> {
    match value.tag() {
        Tag::PrintableString | Tag::Utf8String | Tag::Ia5String | Tag::TeletexString => {
            String::from_utf8(value.value().to_vec()).ok()
        }
        _ => None,
    }
}
