//! The certificate that the operator signs and revokes with.

use mainstay_api::openvox::certificate::CertificatePhase;
use serde_json::{Value, json};

use super::objects;
use crate::{
    names,
    views::{SeenAuthority, SeenCertificate},
};

/// The Certificate of the operator. The authority knows it by its name alone: see the rules of `auth.conf`.
pub fn certificate(authority: &SeenAuthority) -> Value {
    let name = names::signing_certificate(&authority.name);
    let metadata = objects::owner(authority).metadata(name, std::collections::BTreeMap::new());
    json!({
        "apiVersion": format!("{}/{}", names::GROUP, names::VERSION),
        "kind": "Certificate",
        "metadata": metadata,
        "spec": {
            "authorityRef": authority.name,
            "certname": names::operator_certname(&authority.name),
        },
    })
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// It is to be made.
    Create,
    /// It is not signed yet.
    Waiting,
    /// It is there.
    Active,
}

/// How far it is, by the Certificates of the authority.
pub fn signing<'certificate>(
    authority: &str,
    certificates: impl IntoIterator<Item = &'certificate SeenCertificate>,
) -> Signing {
    let name = names::signing_certificate(authority);
    let mut certificates = certificates.into_iter();
    match certificates.find(|certificate| certificate.name == name) {
        None => Signing::Create,
        Some(certificate) if certificate.status == CertificatePhase::Signed => Signing::Active,
        Some(_) => Signing::Waiting,
    }
}

/// The Secret to sign with: that of the operator, and until it is there the one of the authority's own server, which
/// may do everything. If the Secret of the operator was deleted the server's helps out once more.
pub fn secret_name(
    authority: &str,
    signing: Signing,
    is_stored: bool,
    server_certificate: Option<&str>,
) -> Option<String> {
    match signing {
        Signing::Active if is_stored => {
            Some(names::tls_secret(&names::signing_certificate(authority)))
        }
        _ => server_certificate.map(names::tls_secret),
    }
}
