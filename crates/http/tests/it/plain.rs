use std::time::Duration;

use mainstay_http::{
    Client, Error, HeaderValue, Hosts, Method, Request, Rules, Schemes, StatusCode, addresses,
    header,
};
use tokio::io::AsyncWriteExt as _;

use crate::server::{HOST, client, fetch, listen, read_head, rules, serve};

#[tokio::test]
async fn a_page_is_fetched_by_its_own_name_and_through_redirects() {
    for path in ["/echo", "/moved"] {
        let answer = fetch(path, &rules()).await.unwrap();
        let echo = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(echo.starts_with("GET /echo HTTP/1.1\r\n"), "{echo}");
        assert!(echo.contains(&format!("host: {HOST}\r\n")), "{echo}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_success_is_an_answer_without_its_body() {
    let answer = fetch("/gone", &rules()).await.unwrap();
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.body.is_empty());
    let curious = Rules {
        reads_body: |_| true,
        ..rules()
    };
    let answer = fetch("/gone", &curious).await.unwrap();
    assert_eq!(&*answer.body, b"secret!");
    let no_redirects = Rules {
        redirects: 0,
        ..rules()
    };
    let answer = fetch("/moved", &no_redirects).await.unwrap();
    assert_eq!(answer.status, StatusCode::FOUND);
}

#[tokio::test]
async fn broken_large_and_endless_answers_are_refused() {
    let failure = fetch("/large", &rules()).await.unwrap_err();
    assert!(
        matches!(failure, Error::TooLarge { limit: 1000, .. }),
        "{failure}"
    );
    let failure = fetch("/short", &rules()).await.unwrap_err();
    assert!(matches!(failure, Error::Body { .. }), "{failure}");
    let failure = fetch("/garbage", &rules()).await.unwrap_err();
    assert!(matches!(failure, Error::Exchange { .. }), "{failure}");
    let failure = fetch("/round", &rules()).await.unwrap_err();
    assert_eq!(failure.to_string(), "stopped after 5 redirects");
}

#[tokio::test]
async fn a_page_that_never_ends_ends_by_the_deadline() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b"1\r\nx\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let limit = Duration::from_millis(200);
    let rules = Rules {
        total_timeout: limit,
        ..rules()
    };
    let request = Request::get(&format!("http://{HOST}/")).unwrap();
    let failure = client(address).send(&request, &rules).await.unwrap_err();
    assert!(matches!(failure, Error::Deadline { .. }), "{failure}");
}

#[tokio::test]
async fn no_redirect_leads_to_the_node_the_pod_a_file_or_with_credentials() {
    for path in ["/metadata", "/own"] {
        let failure = fetch(path, &rules()).await.unwrap_err();
        assert!(
            matches!(failure, Error::AddressNotAllowed { .. }),
            "{path}: {failure}"
        );
    }
    let failure = fetch("/file", &rules()).await.unwrap_err();
    assert!(
        matches!(
            failure,
            Error::NoHost | Error::Scheme { .. } | Error::BadRedirect(_)
        ),
        "{failure}"
    );
    let failure = fetch("/credentials", &rules()).await.unwrap_err();
    assert!(matches!(failure, Error::Credentials), "{failure}");
    let own_host = Rules {
        hosts: Hosts::only([HOST]),
        ..rules()
    };
    let failure = fetch("/elsewhere", &own_host).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the host `other.example.com` is not allowed"
    );
}

#[tokio::test]
async fn urls_that_are_not_allowed_are_refused_before_anything_is_sent() {
    let refused = async |url: &str| {
        let request = Request::get(url)?;
        Client::default()
            .send(&request, &Rules::default())
            .await
            .map(|_| ())
    };
    for url in [
        "https://127.0.0.1/a",
        "https://localhost/a",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/a",
        "https://[::ffff:127.0.0.1]/a",
        "https://[fe80::1]/a",
        "https://0.0.0.0/a",
        "https://224.0.0.1/a",
        "https://2130706433/a",
        "https://127.1/a",
        "https://0x7f.1/a",
    ] {
        let failure = refused(url).await.unwrap_err();
        let is_refused = matches!(
            failure,
            Error::AddressNotAllowed { .. } | Error::Lookup { .. }
        );
        assert!(is_refused, "{url}: {failure}");
    }
    assert!(matches!(
        refused("http://example.com/a").await,
        Err(Error::Scheme { .. })
    ));
    assert!(matches!(
        refused("ftp://example.com/a").await,
        Err(Error::Scheme { .. })
    ));
    assert!(matches!(
        refused("https://me:word@example.com/a").await,
        Err(Error::Credentials)
    ));
}

#[tokio::test]
async fn what_is_meant_for_one_host_is_not_told_to_another() {
    let address = serve().await;
    let secret = HeaderValue::from_static("Bearer secret");
    let request = |path: &str| {
        let request = Request::get(&format!("http://{HOST}{path}")).unwrap();
        request.with_header(header::AUTHORIZATION, secret.clone())
    };
    let echo = async |path: &str| {
        let answer = client(address)
            .send(&request(path), &rules())
            .await
            .unwrap();
        String::from_utf8_lossy(&answer.body).into_owned()
    };
    assert!(echo("/moved").await.contains("Bearer secret"));
    assert!(!echo("/elsewhere").await.contains("Bearer secret"));
}

#[tokio::test]
async fn a_body_is_sent_with_its_length() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_head(&mut stream).await;
        let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        head
    });
    let request = Request::new(Method::PUT, &format!("http://{HOST}/")).unwrap();
    let answer = client(address)
        .send(&request.with_body("hello"), &rules())
        .await
        .unwrap();
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert!(server.await.unwrap().contains("content-length: 5\r\n"));
}

#[tokio::test]
async fn a_host_that_is_not_there_is_named_without_the_query() {
    let rules = Rules {
        schemes: Schemes::HttpAndHttps,
        addresses: addresses::any,
        ..Rules::default()
    };
    let request = Request::get("http://127.0.0.1:1/a?token=secret").unwrap();
    let failure = Client::default().send(&request, &rules).await.unwrap_err();
    assert_eq!(failure.to_string(), "could not connect to `127.0.0.1:1`");
    assert!(!format!("{failure:?}").contains("secret"));
}
