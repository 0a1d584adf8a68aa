//! Revocation lists.

use der::Decode;
use jiff::Timestamp;
use x509_cert::crl::CertificateList;

use crate::{Certificate, Error, pem_block, time::timestamp};

const WHAT: &str = "revocation list";
const LABEL: &str = "X509 CRL";

/// Which certificates an authority takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationList {
    /// When it was made.
    pub this_update: Timestamp,
    /// When the next one is due.
    pub next_update: Option<Timestamp>,
    /// Serial numbers, as they stand in the certificates.
    pub revoked: Vec<Vec<u8>>,
}

impl RevocationList {
    /// Reads all lists of a PEM text, of which there is at least one: an authority below another one has two.
    pub fn bundle(text: &[u8]) -> Result<Vec<Self>, Error> {
        let blocks = pem_block::all(text, WHAT, LABEL)?;
        blocks.iter().map(|block| Self::from_der(block)).collect()
    }

    fn from_der(contents: &[u8]) -> Result<Self, Error> {
        let list: CertificateList =
            CertificateList::from_der(contents).map_err(|cause| Error::Malformed {
                what: WHAT,
                cause: cause.to_string(),
            })?;
        let signed = list.tbs_cert_list;
        let revoked = signed.revoked_certificates.unwrap_or_default();
        Ok(Self {
            this_update: timestamp(signed.this_update),
            next_update: signed.next_update.map(timestamp),
            revoked: revoked
                .iter()
                .map(|entry| entry.serial_number.as_bytes().to_vec())
                .collect(),
        })
    }

    /// Whether it takes a certificate of its authority back.
    pub fn revokes(&self, certificate: &Certificate) -> bool {
        self.revoked.contains(&certificate.serial_number)
    }
}
