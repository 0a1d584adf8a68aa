//! Certificates and bundles of them.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, UnparsedPublicKey,
    VerificationAlgorithm,
};
use der::{Decode, Encode};
use jiff::Timestamp;
use x509_cert::{TbsCertificate, ext::pkix::SubjectAltName, name::Name};

use crate::{Error, PrivateKey, pem_block, request::dns_names, time::timestamp};

const WHAT: &str = "certificate";
const LABEL: &str = "CERTIFICATE";

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Common name of the subject; empty if it has none.
    pub common_name: String,
    /// DNS names.
    pub dns_names: Vec<String>,
    /// From when on it counts.
    pub not_before: Timestamp,
    /// Until when it counts.
    pub not_after: Timestamp,
    /// Serial number, as it stands in the certificate.
    pub serial_number: Vec<u8>,
    inner: x509_cert::Certificate,
}

impl Certificate {
    /// Reads the first block of a PEM text, which has to be a certificate.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        Self::from_der(&pem_block::first(text, WHAT, LABEL)?)
    }

    /// Reads all certificates of a PEM text, of which there is at least one.
    pub fn bundle(text: &[u8]) -> Result<Vec<Self>, Error> {
        let blocks = pem_block::all(text, WHAT, LABEL)?;
        blocks.iter().map(|block| Self::from_der(block)).collect()
    }

    /// Whether the first block of a PEM text says that it is a certificate, readable or not.
    pub fn is_announced(text: &[u8]) -> bool {
        pem_block::first(text, WHAT, LABEL).is_ok()
    }

    fn from_der(contents: &[u8]) -> Result<Self, Error> {
        let inner = x509_cert::Certificate::from_der(contents).map_err(malformed)?;
        let signed = inner.tbs_certificate();
        let validity = signed.validity();
        Ok(Self {
            common_name: common_name(signed.subject()),
            dns_names: names(signed)?,
            not_before: timestamp(validity.not_before),
            not_after: timestamp(validity.not_after),
            serial_number: signed.serial_number().as_bytes().to_vec(),
            inner,
        })
    }

    /// Whether it was made for this key.
    pub fn belongs_to(&self, key: &PrivateKey) -> bool {
        let ours = self.tbs().subject_public_key_info().to_der().ok();
        ours.is_some() && ours == key.public_key().ok()
    }

    /// Whether one of these certificates signed it: by name and by signature. Whether any of them still counts is
    /// another question.
    pub fn is_signed_by_one_of(&self, issuers: &[Self]) -> bool {
        issuers.iter().any(|issuer| self.is_signed_by(issuer))
    }

    fn is_signed_by(&self, issuer: &Self) -> bool {
        let Some(algorithm) = algorithm(&self.inner.signature_algorithm().oid.to_string()) else {
            return false;
        };
        let key = issuer.tbs().subject_public_key_info();
        let (Some(key), Some(signature), Ok(signed)) = (
            key.subject_public_key.as_bytes(),
            self.inner.signature().as_bytes(),
            self.tbs().to_der(),
        ) else {
            return false;
        };
        self.tbs().issuer() == issuer.tbs().subject()
            && UnparsedPublicKey::new(algorithm, key)
                .verify(&signed, signature)
                .is_ok()
    }

    /// Whether it counts at a time.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.not_before <= now && now <= self.not_after
    }

    fn tbs(&self) -> &TbsCertificate {
        self.inner.tbs_certificate()
    }
}

fn common_name(subject: &Name) -> String {
    let name = subject.common_name().ok().flatten();
    name.map_or_else(String::new, |name| name.value().into_owned())
}

fn names(signed: &TbsCertificate) -> Result<Vec<String>, Error> {
    let names = signed
        .get_extension::<SubjectAltName>()
        .map_err(malformed)?;
    Ok(names.map_or_else(Vec::new, |(_, names)| dns_names(&names).collect()))
}

fn algorithm(oid: &str) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match oid {
        "1.2.840.113549.1.1.11" => &RSA_PKCS1_2048_8192_SHA256,
        "1.2.840.113549.1.1.12" => &RSA_PKCS1_2048_8192_SHA384,
        "1.2.840.113549.1.1.13" => &RSA_PKCS1_2048_8192_SHA512,
        "1.2.840.10045.4.3.2" => &ECDSA_P256_SHA256_ASN1,
        "1.2.840.10045.4.3.3" => &ECDSA_P384_SHA384_ASN1,
        _ => return None,
    })
}

fn malformed(cause: der::Error) -> Error {
    Error::Malformed {
        what: WHAT,
        cause: cause.to_string(),
    }
}
