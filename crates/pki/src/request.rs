//! Certificate requests (PKCS #10).

use der::{
    Decode, Encode,
    asn1::{BitString, Ia5String, ObjectIdentifier, OctetString, SetOfVec},
};
use x509_cert::{
    attr::AttributeTypeAndValue,
    ext::{
        Extension,
        pkix::{SubjectAltName, name::GeneralName},
    },
    name::{Name, RdnSequence, RelativeDistinguishedName},
    request::{CertReq, CertReqInfo, ExtensionReq, Version},
    spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned},
};

use crate::{Error, MOST_NAMES, PrivateKey, pem_block, text};

const WHAT: &str = "certificate request";
const LABEL: &str = "CERTIFICATE REQUEST";
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
const SHA256_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

/// An extension that is asked for: a text under an object identifier, never critical.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestedExtension {
    /// Its identifier, dotted.
    pub oid: String,
    /// Its value.
    pub value: String,
}

/// What a certificate shall say.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// Common name: the whole subject.
    pub common_name: String,
    /// DNS names, in order. Addresses stand here too, as DNS names.
    pub dns_names: Vec<String>,
    /// Further extensions, in order.
    pub extensions: Vec<RequestedExtension>,
}

impl Request {
    /// The request in PEM, signed with the key. The same key gives the same text.
    pub fn to_pem(&self, key: &PrivateKey) -> Result<String, Error> {
        if self.dns_names.len() + self.extensions.len() > MOST_NAMES {
            return Err(Error::TooMany {
                what: "names and extensions of a certificate request",
                limit: MOST_NAMES,
            });
        }
        let info = self.info(key)?;
        let signature = key.sign(&info.to_der().map_err(malformed)?)?;
        let request = CertReq {
            info,
            algorithm: AlgorithmIdentifierOwned {
                oid: SHA256_WITH_RSA,
                parameters: Some(der::Any::null()),
            },
            signature: BitString::from_bytes(&signature).map_err(malformed)?,
        };
        let contents = request.to_der().map_err(malformed)?;
        Ok(pem_block::encode(LABEL, &contents))
    }

    /// Reads a request. Extensions whose value is no text have an empty one.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let contents = pem_block::first(text, WHAT, LABEL)?;
        let request = CertReq::from_der(&contents).map_err(malformed)?;
        let common_name = request.info.subject.common_name().map_err(malformed)?;
        let mut read = Self {
            common_name: common_name.map_or_else(String::new, |name| name.value().into_owned()),
            ..Self::default()
        };
        let asked = request
            .info
            .attributes
            .iter()
            .filter(|attribute| attribute.oid == <ExtensionReq as der::oid::AssociatedOid>::OID)
            .flat_map(|attribute| attribute.values.iter());
        for value in asked {
            let contents = value.to_der().map_err(malformed)?;
            let extensions = Vec::<Extension>::from_der(&contents).map_err(malformed)?;
            for extension in extensions {
                read.take(&extension)?;
            }
        }
        Ok(read)
    }

    fn take(&mut self, extension: &Extension) -> Result<(), Error> {
        if self.dns_names.len() + self.extensions.len() >= MOST_NAMES {
            return Err(Error::TooMany {
                what: "names and extensions of a certificate request",
                limit: MOST_NAMES,
            });
        }
        let contents = extension.extn_value.as_bytes();
        if extension.extn_id == SUBJECT_ALT_NAME {
            let names = SubjectAltName::from_der(contents).map_err(malformed)?;
            self.dns_names.extend(dns_names(&names));
        } else {
            let value = der::Any::from_der(contents).ok();
            self.extensions.push(RequestedExtension {
                oid: extension.extn_id.to_string(),
                value: value.as_ref().and_then(text::decode).unwrap_or_default(),
            });
        }
        Ok(())
    }

    fn info(&self, key: &PrivateKey) -> Result<CertReqInfo, Error> {
        let mut attributes = SetOfVec::new();
        let extensions = self.encoded_extensions()?;
        if !extensions.is_empty() {
            let attribute = ExtensionReq(extensions).try_into().map_err(malformed)?;
            attributes.insert(attribute).map_err(malformed)?;
        }
        Ok(CertReqInfo {
            version: Version::V1,
            subject: subject(&self.common_name).map_err(malformed)?,
            public_key: SubjectPublicKeyInfoOwned::from_der(&key.public_key()?)
                .map_err(malformed)?,
            attributes,
        })
    }

    fn encoded_extensions(&self) -> Result<Vec<Extension>, Error> {
        let mut extensions = Vec::new();
        if !self.dns_names.is_empty() {
            let names = self.dns_names.iter().map(|name| {
                let name = Ia5String::new(name).map_err(|_| Error::Malformed {
                    what: WHAT,
                    cause: format!("the DNS name {name:?} has characters other than ASCII"),
                })?;
                Ok(GeneralName::DnsName(name))
            });
            let names = SubjectAltName(names.collect::<Result<_, Error>>()?);
            let contents = names.to_der().map_err(malformed)?;
            extensions.push(extension(SUBJECT_ALT_NAME, contents)?);
        }
        for wanted in &self.extensions {
            let oid = ObjectIdentifier::new(&wanted.oid).map_err(|_| Error::Malformed {
                what: WHAT,
                cause: format!("{:?} is no object identifier", wanted.oid),
            })?;
            let value = text::encode(&wanted.value).map_err(malformed)?;
            extensions.push(extension(oid, value.to_der().map_err(malformed)?)?);
        }
        Ok(extensions)
    }
}

/// The DNS names among alternative names.
pub(crate) fn dns_names(names: &SubjectAltName) -> impl Iterator<Item = String> {
    names.0.iter().filter_map(|name| match name {
        GeneralName::DnsName(name) => Some(name.as_str().to_owned()),
        _ => None,
    })
}

fn extension(oid: ObjectIdentifier, contents: Vec<u8>) -> Result<Extension, Error> {
    Ok(Extension {
        extn_id: oid,
        critical: false,
        extn_value: OctetString::new(contents).map_err(malformed)?,
    })
}

fn subject(common_name: &str) -> der::Result<Name> {
    let mut part = RelativeDistinguishedName::default();
    part.insert(AttributeTypeAndValue {
        oid: COMMON_NAME,
        value: text::encode(common_name)?,
    })?;
    let mut name = RdnSequence::default();
    name.push(part);
    Name::from_der(&name.to_der()?)
}

fn malformed(cause: der::Error) -> Error {
    Error::Malformed {
        what: WHAT,
        cause: cause.to_string(),
    }
}
