//! Much at the same time, from whoever reaches the port.

use futures::future::join_all;
use mainstay_clowder::admission::{APP_PATH, POD_PATH};
use mainstay_testkit::{certificates::Certificates, operator::free_port};
use tempfile::TempDir;

use crate::shared::clowder::{
    stage::Stage,
    webhooks::{operator, post, question},
};

const MIB: usize = 1024 * 1024;
/// What the pod of the operator may take in all is 256 MiB.
const MOST_KIB: u64 = 128 * 1024;

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
    let stage = Stage::alone("load").await;
    let certificates = Certificates::issue(&stage.plane);
    let directory = TempDir::new().unwrap();
    certificates.install(directory.path());
    let address = format!("127.0.0.1:{}", free_port());
    let mut operator = operator(&stage, &address, directory.path(), &[]);
    operator.process.ready().await;
    let ask = async |path: &str, body: Vec<u8>| {
        let client = certificates.client(&address);
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
        let peak = operator.process.peak_memory();
        println!(
            "after 40 questions {name}: {} KiB now, {peak} KiB at most",
            operator.process.memory()
        );
        assert!(peak < MOST_KIB, "{name}: {peak} KiB");
    }
}
