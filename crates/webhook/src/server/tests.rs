use http_body_util::channel::Channel;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::review::{self, allowed};

const APP_PATH: &str = "/validate-app";
const POD_PATH: &str = "/mutate-pod";

static WEBHOOKS: [Webhook; 2] = [
    Webhook {
        path: APP_PATH,
        judge: |_| allowed(),
    },
    Webhook {
        path: POD_PATH,
        judge: |_| allowed(),
    },
];

fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post(path);
    request.body(Full::new(body.into())).unwrap()
}

/// A server of its own.
fn shared(answer: Answer) -> Shared {
    Shared::new(&WEBHOOKS, answer, WebhookMetrics::new(&WEBHOOKS))
}

async fn said(response: Response<Full<Bytes>>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn asked(request: Request<Full<Bytes>>) -> (u16, String) {
    said(respond(request, &shared(review::answer)).await).await
}

/// Answers as it should, but for a body that it stumbles over.
fn failing(webhook: &Webhook, body: &[u8]) -> Result<Value, ReviewError> {
    match body.strip_prefix(b"defect") {
        Some(rest) => Ok(Value::from(rest[0])),
        None => review::answer(webhook, body),
    }
}

#[tokio::test]
async fn a_question_is_answered_and_everything_else_is_told_what_is_wrong() {
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "u-1", "operation": "CREATE", "object": {"metadata": {}, "spec": {}}},
    });
    let (status, text) = asked(post(POD_PATH, body.to_string())).await;
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["response"], json!({"uid": "u-1", "allowed": true}));

    let get = Request::get(APP_PATH).body(Full::default()).unwrap();
    for (request, status, words) in [
        (post("/elsewhere", ""), 404, "404 page not found\n"),
        (get, 405, "GET is not allowed; questions are posted\n"),
        (post(APP_PATH, ""), 400, "the body is empty"),
        (
            post(APP_PATH, "{"),
            400,
            "the body is no AdmissionReview: EOF",
        ),
        (
            post(APP_PATH, vec![b' '; LONGEST_BODY + 1]),
            413,
            "the body is longer than 4194304 bytes\n",
        ),
    ] {
        let (code, text) = asked(request).await;
        assert_eq!(code, status, "{text}");
        assert!(text.starts_with(words), "{text}");
    }
}

#[tokio::test]
async fn a_defect_is_an_answer_and_the_next_question_finds_the_server_alive() {
    let shared = shared(failing);
    for _ in 0..2 {
        let response = respond(post(APP_PATH, "defect"), &shared).await;
        let (status, text) = said(response).await;
        assert_eq!(status, 500);
        assert!(text.contains("a defect of the operator"), "{text}");
    }
    let response = respond(post(APP_PATH, ""), &shared).await;
    assert_eq!(response.status(), 400, "asked as if nothing had happened");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_not_waited_for() {
    let (_sender, body) = Channel::<Bytes, Infallible>::new(1);
    let request = Request::post(APP_PATH).body(body).unwrap();
    let (status, text) = said(respond(request, &shared(review::answer)).await).await;
    assert_eq!(status, 408);
    assert_eq!(text, "the body did not arrive within 5 seconds\n");
}

#[tokio::test]
async fn a_body_of_unknown_length_has_the_same_limit() {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        let part = Bytes::from(vec![b' '; 1024 * 1024]);
        while sender.send_data(part.clone()).await.is_ok() {}
    });
    let request = Request::post(APP_PATH).body(body).unwrap();
    let (status, _) = said(respond(request, &shared(review::answer)).await).await;
    assert_eq!(status, 413);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_never_ends_closes_the_connection() {
    let (mut client, server) = tokio::io::duplex(1024);
    let talking = tokio::spawn(async move { talk(server, &shared(review::answer)).await });
    client
        .write_all(b"POST /mutate-pod HTTP/1.1\r\n")
        .await
        .unwrap();
    talking.await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_asks_is_closed_and_one_that_has_asked_may_be_idle() {
    let start = tokio::time::Instant::now();
    let (mut silent, server) = tokio::io::duplex(1024);
    let talking = tokio::spawn(async move { talk(server, &shared(review::answer)).await });
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap(), 0, "closed");
    talking.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), HANDSHAKE.as_secs());

    let (mut known, server) = tokio::io::duplex(1024);
    let talking = tokio::spawn(async move { talk(server, &shared(review::answer)).await });
    let question = b"GET /elsewhere HTTP/1.1\r\nhost: a\r\n\r\n";
    for _ in 0..2 {
        known.write_all(question).await.unwrap();
        let mut answer = [0; 12];
        known.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 404");
        // The rest of the answer, and a pause longer than a first question may take.
        let _ = known.read(&mut [0; 1000]).await.unwrap();
        tokio::time::sleep(HANDSHAKE * 2).await;
    }
    drop(known);
    talking.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_is_told_so_and_small_questions_find_some() {
    let shared = shared(review::answer);
    let large = || {
        let (sender, body) = Channel::<Bytes, Infallible>::new(1);
        (sender, Request::post(APP_PATH).body(body).unwrap())
    };
    // Seven bodies of unknown length, and one unit: what is left is too little for an eighth.
    let small = shared.reserve(Some(1)).await.unwrap();
    let mut open: Vec<_> = (0..8).map(|_| large()).collect();
    let (last, request) = open.pop().unwrap();
    let reading = async {
        let requests = open.into_iter().map(|(sender, request)| {
            let answer = respond(request, &shared);
            async move {
                let answer = answer.await;
                drop(sender);
                answer.status()
            }
        });
        futures::future::join_all(requests).await
    };
    let refused = async {
        tokio::task::yield_now().await;
        drop(last);
        let (status, text) = said(respond(request, &shared).await).await;
        assert_eq!(status, 503);
        assert_eq!(text, "too much is asked at the same time; ask again\n");
        let (status, _) = said(respond(post(APP_PATH, "{}"), &shared).await).await;
        assert_eq!(status, 400, "small ones are still answered");
    };
    let (statuses, ()) = tokio::join!(reading, refused);
    assert_eq!(statuses, [StatusCode::REQUEST_TIMEOUT; 7]);
    drop(small);
    assert_eq!(
        shared.room.available_permits(),
        ROOM / UNIT,
        "all is free again"
    );
}
