use std::{net::SocketAddr, path::Path, process::Command, sync::Arc, time::Duration};

use mainstay_http::{Client, Error, Identity, Request, Resolve, Response, Rules, Tls, Trust};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;

use crate::server::{answer, listen};

/// A name that the certificate of the server is for.
const NAME: &str = "kubernetes.default.svc";

/// Certificates of an authority that is made for one test: `ca`, `apiserver` and `admin`.
struct Certificates(TempDir);

impl Certificates {
    fn issue() -> Self {
        let directory = TempDir::new().unwrap();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../control-plane/pki");
        let made = Command::new("go")
            .args(["run", ".", "--dir"])
            .arg(directory.path())
            .current_dir(program)
            .status()
            .unwrap();
        assert!(made.success(), "certificates can be made");
        Self(directory)
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }

    fn trust(&self) -> Trust {
        Trust::Only(Trust::certificates(&self.file("ca.crt")).unwrap())
    }
}

/// A server with TLS, which may ask for certificates of the same authority.
async fn serve(certificates: &Certificates, asks: bool) -> SocketAddr {
    let chain = Trust::certificates(&certificates.file("apiserver.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(&certificates.file("apiserver.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = if asks {
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(&certificates.file("ca.crt")) {
            roots.add(root.unwrap()).unwrap();
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        config.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        config.with_no_client_auth()
    };
    let config = config.with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    answer(stream).await;
                }
            });
        }
    });
    address
}

async fn fetch(address: SocketAddr, name: &str, tls: Tls) -> Result<Response, Error> {
    let resolve = Resolve::parse(&format!("{name}={address}")).unwrap();
    let client = Client::default().with_resolve(resolve).with_tls(tls);
    let request = Request::get(&format!("https://{name}/echo"))?;
    client.send(&request, &Rules::default()).await
}

#[tokio::test]
async fn only_a_server_that_proves_its_name_is_believed() {
    let certificates = Certificates::issue();
    let address = serve(&certificates, false).await;
    let tls = |trust| Tls {
        trust,
        identity: None,
    };
    let answer = fetch(address, NAME, tls(certificates.trust()))
        .await
        .unwrap();
    assert!(answer.status.is_success());
    let failure = fetch(address, NAME, Tls::default()).await.unwrap_err();
    assert!(
        matches!(failure, Error::Tls { .. }),
        "an authority that nobody knows: {failure}"
    );
    let failure = fetch(address, "other.example.com", tls(certificates.trust()))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, Error::Tls { .. }),
        "another name: {failure}"
    );
    let others = Certificates::issue();
    let failure = fetch(address, NAME, tls(others.trust())).await.unwrap_err();
    assert!(
        matches!(failure, Error::Tls { .. }),
        "another authority: {failure}"
    );
}

#[tokio::test]
async fn a_server_that_asks_who_we_are_is_told() {
    let certificates = Certificates::issue();
    let address = serve(&certificates, true).await;
    let identity = Identity::from_pem(
        &certificates.file("admin.crt"),
        &certificates.file("admin.key"),
    );
    let identity = identity.unwrap();
    assert!(!format!("{identity:?}").contains("BEGIN"));
    let with = |identity| Tls {
        trust: certificates.trust(),
        identity,
    };
    let answer = fetch(address, NAME, with(Some(identity))).await.unwrap();
    assert!(answer.status.is_success());
    assert!(fetch(address, NAME, with(None)).await.is_err());
    let mixed = Identity::from_pem(
        &certificates.file("admin.crt"),
        &certificates.file("apiserver.key"),
    );
    let failure = fetch(address, NAME, with(Some(mixed.unwrap())))
        .await
        .unwrap_err();
    assert!(matches!(failure, Error::TlsSetup { .. }), "{failure}");
}

#[tokio::test]
async fn a_server_without_tls_is_no_server_with_tls() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let failure = fetch(address, NAME, Tls::default()).await.unwrap_err();
    assert!(matches!(failure, Error::Tls { .. }), "{failure}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let mut silent = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            silent.push(stream);
        }
    });
    let resolve = Resolve::parse(&format!("{NAME}={address}")).unwrap();
    let rules = Rules {
        connect_timeout: Duration::from_millis(200),
        ..Rules::default()
    };
    let request = Request::get(&format!("https://{NAME}/echo")).unwrap();
    let sent = Client::default()
        .with_resolve(resolve)
        .send(&request, &rules)
        .await;
    assert!(
        matches!(sent, Err(Error::ConnectTimeout { .. })),
        "{sent:?}"
    );
}
