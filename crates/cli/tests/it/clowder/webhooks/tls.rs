//! Which TLS is spoken. Much at the same time is in `cargo xtask test --memory`.

use std::sync::Arc;

use mainstay_testkit::certificates::Certificates;
use rustls::{
    ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    version::{TLS12, TLS13},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::Hooked;

/// The version of TLS that a client who knows these gets.
async fn negotiated(
    certificates: &Certificates,
    address: &str,
    versions: &[&'static SupportedProtocolVersion],
) -> Option<ProtocolVersion> {
    let mut roots = RootCertStore::empty();
    let authority = certificates.authority();
    roots
        .add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream);
    stream.await.unwrap().get_ref().1.protocol_version()
}

#[tokio::test]
async fn the_newest_tls_that_a_client_knows_is_spoken() {
    let hooked = Hooked::start("tls").await;
    let (certificates, address) = (&hooked.certificates, &hooked.address);
    for (known, spoken) in [
        ([&TLS12, &TLS13].as_slice(), ProtocolVersion::TLSv1_3),
        (&[&TLS12], ProtocolVersion::TLSv1_2),
    ] {
        let version = negotiated(certificates, address, known).await;
        assert_eq!(version, Some(spoken));
    }
    hooked.registered.remove().await;
}
