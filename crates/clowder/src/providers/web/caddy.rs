//! What every Caddy that terminates TLS is told about its certificate.

use serde::Serialize;

/// The tag by which connections choose the certificate.
pub const CERTIFICATE_TAG: &str = "cert0";

/// Part `apps.tls` of a configuration.
#[derive(Debug, Serialize)]
pub struct TlsApp {
    certificates: Certificates,
}

#[derive(Debug, Serialize)]
struct Certificates {
    load_files: [CertificateFile; 1],
}

#[derive(Debug, Serialize)]
struct CertificateFile {
    certificate: String,
    key: String,
    tags: [&'static str; 1],
}

impl TlsApp {
    /// The certificate of a Secret that is mounted in a directory.
    pub fn of_directory(directory: &str) -> Self {
        Self {
            certificates: Certificates {
                load_files: [CertificateFile {
                    certificate: format!("{directory}/tls.crt"),
                    key: format!("{directory}/tls.key"),
                    tags: [CERTIFICATE_TAG],
                }],
            },
        }
    }
}
