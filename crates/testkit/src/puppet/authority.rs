//! An authority, and the certificates that it issues.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber,
    date_time_ymd,
};

use super::request::CertificateRequest;

/// An authority with a key of its own; no two are alike.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Authority")
    }
}

/// A certificate and its key, both in PEM.
#[derive(Clone, Debug)]
pub struct KeyAndCertificate {
    /// The key.
    pub key: String,
    /// The certificate.
    pub certificate: String,
}

impl Default for Authority {
    fn default() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = params("Puppet CA", &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().pem();
        Self {
            certificate,
            issuer: Issuer::new(params, key),
        }
    }
}

impl Authority {
    /// Its own certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for a name, valid for hosts and addresses.
    pub fn issue(&self, common_name: &str, hosts: &[&str]) -> KeyAndCertificate {
        let key = KeyPair::generate().unwrap();
        let mut params = params(common_name, hosts);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        KeyAndCertificate {
            key: key.serialize_pem(),
            certificate: certificate.pem(),
        }
    }
}

impl Authority {
    /// A certificate for a name, with the key and the extensions of a request.
    pub(super) fn sign(&self, name: &str, request: &CertificateRequest, serial: u64) -> String {
        let mut params = params(name, &[]);
        params.serial_number = Some(SerialNumber::from(serial));
        params.custom_extensions.clone_from(&request.extensions);
        params.signed_by(request, &self.issuer).unwrap().pem()
    }

    /// The list of certificates that are no longer good, in PEM.
    pub(super) fn revocation_list(&self, revoked: &[u64]) -> String {
        let revoked = revoked.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2099, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

fn params(common_name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params
}
