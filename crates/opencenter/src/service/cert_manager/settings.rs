//! Settings in the config.

use crate::{
    config::{DnsProvider, IssuerType, field::section, format::Format},
    finding::Code,
};

section! {
    /// Settings of cert-manager.
    struct CertManager {
        /// Directory address of the ACME server.
        letsencrypt_server: String [word("https://acme-v02.api.letsencrypt.org/directory")];
        /// Address for notices of the ACME server.
        email: String [word("mpk-support@rackspace.com")];
        /// Region of Route 53 credentials that do not name one.
        region: String [word("us-east-1"), format(Format::Line)];
        /// Zones of issuers whose credential names none.
        dns_zones: Vec<String> [format(Format::DnsName)];
        /// Whether ACME issuers are rendered.
        create_cluster_issuer: bool [flag(true)];
        /// Further issuers.
        issuers: Vec<Issuer>;
        /// Who serves the DNS zones; `designate` renders its issuer.
        dns_provider: Option<DnsProvider>;
        /// Whether the internal CA is rendered.
        internal_ca_enabled: bool [flag(true)];
    }

    /// A further issuer.
    struct Issuer {
        /// Name of the issuer.
        name: Option<String> [required, missing(Code::Oc3104), format(Format::DnsName)];
        /// Kind of the issuer.
        kind as "type": Option<IssuerType> [required, missing(Code::Oc3104)];
        /// Directory address of its ACME server.
        server: Option<String> [format(Format::Url)];
    }
}
