//! Much at the same time, from whoever reaches the port.

use std::{fs, sync::Arc};

use futures::future::join_all;
use mainstay_clowder::admission::{APP_PATH, POD_PATH};
use mainstay_testkit::certificates::Certificates;
use rustls::{
    ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    version::{TLS12, TLS13},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{
    Hooked,
    transport::{post, question},
};

const MIB: usize = 1024 * 1024;
/// What the pod of the operator may take in all is 256 MiB.
const MOST_KIB: u64 = 128 * 1024;

/// The most memory that a process ever had, in KiB.
fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse().unwrap()
}

/// A question about an app that is as long as it may be, made of as many parts as fit. What is opened in front of them
/// is closed behind them.
fn dense_app(open: &str, part: &str, close: &str) -> Vec<u8> {
    let head = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","operation":"CREATE","object":{"metadata":{},"spec":{"#;
    let tail = format!("{close}}}}}}}}}");
    let room = 4 * MIB - head.len() - open.len() - tail.len();
    let parts = vec![part; (room + 1) / (part.len() + 1)];
    format!("{head}{open}{}{tail}", parts.join(",")).into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn forty_large_questions_at_once_take_little_memory_and_the_next_one_is_answered() {
    let hooked = Hooked::start("load").await;
    let ask = async |path: &str, body: Vec<u8>| {
        let client = hooked.certificates.client(&hooked.address);
        post(&client, path, body).await
    };
    // A program without optimization on a busy machine may take longer over the first ones than others may wait.
    let sidecars = r#""deployments":[{"podSpec":{"sidecars":["#;
    for (name, body, statuses) in [
        ("too long", vec![b' '; 7 * MIB], [413].as_slice()),
        ("of nothing", vec![b' '; 4 * MIB], &[400, 408, 503]),
        (
            "of parts",
            dense_app(r#""jobs":["#, "{}", "]"),
            &[200, 408, 503],
        ),
        (
            "of sidecars",
            dense_app(sidecars, "{}", "]}}]"),
            &[200, 408, 503],
        ),
    ] {
        let answers = (0..40).map(|_| ask(APP_PATH, body.clone()));
        let answers = join_all(answers).await;
        let mut seen = Vec::new();
        for answer in answers {
            let (status, text) = answer.unwrap();
            assert!(
                statuses.contains(&status.as_u16()),
                "{name}: {status} {text}"
            );
            seen.push(status.as_u16());
        }
        assert!(seen.contains(&statuses[0]), "{name}: {seen:?}");
        let (status, text) = ask(POD_PATH, question()).await.unwrap();
        assert_eq!(status, 200, "{name}: {text}");
        let peak = peak(hooked.operator.process.id());
        println!(
            "after 40 questions {name}: {} KiB now, {peak} KiB at most",
            hooked.operator.process.memory()
        );
        assert!(peak < MOST_KIB, "{name}: {peak} KiB");
    }
    hooked.registered.remove().await;
}

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
