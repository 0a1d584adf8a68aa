//! Bodies that are no questions, certificates that come and go, replicas that do not lead.

use mainstay_clowder::admission::{APP_PATH, POD_PATH};
use mainstay_testkit::{
    certificates::Certificates, operator::free_port, operator::http_get_text, wait::eventually,
};
use serde_json::json;
use tempfile::TempDir;

use super::{Hooked, Registered, operator, refusal, try_app, violating};
use crate::{
    clowder::stage::Stage,
    shared::clowder::webhooks::{post, question},
};

#[tokio::test]
async fn bodies_that_are_no_questions_are_told_so_and_the_next_question_is_answered() {
    let hooked = Hooked::start("bodies").await;
    // Each on a connection of its own: the server hangs up on who says too much.
    let ask = async |path: &str, body: Vec<u8>| {
        let client = hooked.certificates.client(&hooked.address);
        post(&client, path, body).await
    };
    let mut cut = question();
    cut.truncate(40);
    let old = json!({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"});
    let deep = "[".repeat(100_000);
    for (path, body, status, words) in [
        (APP_PATH, Vec::new(), 400, "the body is empty"),
        (
            APP_PATH,
            b"\xff\xfe".to_vec(),
            400,
            "the body is no AdmissionReview",
        ),
        (POD_PATH, cut, 400, "the body is no AdmissionReview: EOF"),
        (
            POD_PATH,
            deep.into_bytes(),
            400,
            "the body is no AdmissionReview",
        ),
        (
            APP_PATH,
            old.to_string().into_bytes(),
            400,
            "only AdmissionReview of admission.k8s.io/v1 is understood",
        ),
        (
            APP_PATH,
            vec![b' '; 8 * 1024 * 1024],
            413,
            "the body is longer than 4194304 bytes",
        ),
        ("/elsewhere", question(), 404, "404 page not found"),
    ] {
        let (code, text) = ask(path, body).await.unwrap();
        assert_eq!(code, status, "{text}");
        assert!(text.contains(words), "{text}");
        let (code, text) = ask(POD_PATH, question()).await.unwrap();
        assert_eq!(code, 200, "{text}");
    }
    hooked.registered.remove().await;
}

#[tokio::test]
async fn a_new_certificate_is_taken_over_and_a_broken_one_is_not() {
    let hooked = Hooked::start("renewal").await;
    let path = hooked.directory.path();
    // What cannot be used changes nothing.
    std::fs::write(path.join("tls.crt"), "half a certificate").unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let old = || hooked.certificates.client(&hooked.address);
    let answer = post(&old(), POD_PATH, question()).await;
    assert_eq!(answer.unwrap().0, 200);

    let renewed = Certificates::issue(&hooked.stage.plane);
    renewed.install(path);
    eventually("the new certificate is used", || async {
        let client = renewed.client(&hooked.address);
        post(&client, POD_PATH, question()).await.ok()
    })
    .await;
    let refused = post(&old(), POD_PATH, question()).await;
    assert!(refused.is_err(), "the old authority does not vouch for it");

    // The API server gets on with it as soon as it is told the new authority.
    hooked.registered.remove().await;
    let (stage, address) = (&hooked.stage, &hooked.address);
    let registered = Registered::create(stage, address, &renewed.authority()).await;
    hooked.wait().await;
    registered.remove().await;
}

#[tokio::test]
async fn nothing_is_served_before_there_is_a_certificate_and_a_half_one_is_named() {
    let stage = Stage::alone("later").await;
    let directory = TempDir::new().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let mut operator = operator(&stage, &address, directory.path(), &[]);
    operator.process.ready().await;
    assert!(tokio::net::TcpStream::connect(&address).await.is_err());

    let certificates = Certificates::issue(&stage.plane);
    std::fs::write(directory.path().join("tls.crt"), certificates.authority()).unwrap();
    eventually("the probe names what is missing", || async {
        let answer = http_get_text(operator.process.probe(), "/readyz").await?;
        (answer.contains(" 503 ") && answer.contains("tls.key")).then_some(())
    })
    .await;
    certificates.install(directory.path());
    eventually("the webhooks are served", || async {
        let client = certificates.client(&address);
        post(&client, POD_PATH, question()).await.ok()
    })
    .await;
    operator.process.ready().await;
}

#[tokio::test]
async fn a_replica_that_does_not_lead_answers_too() {
    let stage = Stage::alone("standby").await;
    let lease = ["--leader-election-namespace", &stage.namespace.name];
    let mut operators = Vec::new();
    for leads in [true, false] {
        let certificates = Certificates::issue(&stage.plane);
        let directory = TempDir::new().unwrap();
        certificates.install(directory.path());
        let address = format!("127.0.0.1:{}", free_port());
        let mut operator = operator(&stage, &address, directory.path(), &lease);
        operator.process.ready().await;
        if leads {
            let log = || async {
                operator
                    .process
                    .log()
                    .contains("Became leader")
                    .then_some(())
            };
            eventually("the first one leads", log).await;
        }
        operators.push((operator, address, certificates, directory));
    }
    let (standby, address, certificates, _) = &operators[1];
    let registered = Registered::create(&stage, address, &certificates.authority()).await;
    eventually("the standby refuses", || async {
        let error = try_app(&stage, "shop", violating()).await.err()?;
        (refusal(error).code == 422).then_some(())
    })
    .await;
    assert!(!standby.process.log().contains("Became leader"));
    registered.remove().await;
}
