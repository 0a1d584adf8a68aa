//! Against small servers of our own: what matters is how bad answers are told.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use mainstay_clowder::providers::effect::Effect;
use mainstay_clowder_ports::{Ports, Resolve};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// Answers each connection by what its request asks for.
async fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                let request =
                    String::from_utf8_lossy(request.get(..length).unwrap_or_default()).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default();
                let _ = stream.write_all(&answer(path, &request)).await;
            });
        }
    });
    address
}

fn answer(path: &str, request: &str) -> Vec<u8> {
    let head = |status: &str, more: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n")
            .into_bytes()
    };
    match path {
        "/bundle" => {
            let body = request
                .lines()
                .find(|line| line.starts_with("host: "))
                .unwrap_or_default();
            [head("200 OK", "", body.len()), body.as_bytes().to_vec()].concat()
        }
        "/moved" => head("302 Found", "location: /bundle\r\n", 0),
        "/round" => head(
            "301 Moved Permanently",
            "location: http://bundles.example.com/round\r\n",
            0,
        ),
        "/metadata" => head(
            "302 Found",
            "location: http://169.254.169.254/latest/meta-data/\r\n",
            0,
        ),
        "/own" => head("302 Found", "location: http://127.0.0.1:1/bundle\r\n", 0),
        "/short" => [head("200 OK", "", 100), b"abc".to_vec()].concat(),
        "/large" => {
            let body = vec![b'x'; 5 * 1024 * 1024];
            [head("200 OK", "", body.len()), body].concat()
        }
        _ => head("404 Not Found", "", 0),
    }
}

async fn fetch(path: &str) -> Result<String, String> {
    let address = serve().await;
    let ports = Ports::new(Resolve::parse(&format!("bundles.example.com={address}")).unwrap());
    let url = format!("http://bundles.example.com{path}");
    ports.run(&Effect::Fetch { url }).await
}

#[tokio::test]
async fn a_body_is_brought_through_redirects_and_by_its_own_name() {
    assert_eq!(
        fetch("/bundle").await,
        Ok("host: bundles.example.com".to_owned())
    );
    assert_eq!(
        fetch("/moved").await,
        Ok("host: bundles.example.com".to_owned())
    );
}

#[tokio::test]
async fn failures_have_the_original_s_words() {
    assert_eq!(
        fetch("/gone").await,
        Err("Bad status code: 404: ".to_owned())
    );
    let round = "Error fetching CA bundle: Get \"http://bundles.example.com/round\": stopped after 10 redirects";
    assert_eq!(fetch("/round").await, Err(round.to_owned()));
    for path in ["/short", "/large"] {
        let failure = fetch(path).await.unwrap_err();
        assert!(
            failure.starts_with("Error reading response body: "),
            "{failure}"
        );
    }
    let ports = Ports::new(Resolve::parse("a=127.0.0.1:1").unwrap());
    let get = async |url: &str| {
        ports
            .run(&Effect::Fetch {
                url: url.to_owned(),
            })
            .await
            .unwrap_err()
    };
    let failure = get("http://a/b").await;
    assert!(
        failure.starts_with("Error fetching CA bundle: Get \"http://a/b\": dial tcp 127.0.0.1:1: "),
        "{failure}"
    );
    let failure = get("ftp://a/b").await;
    assert_eq!(
        failure,
        "Error fetching CA bundle: Get \"ftp://a/b\": unsupported protocol scheme \"ftp\""
    );
}

#[tokio::test]
async fn a_server_without_tls_is_no_server_with_tls() {
    let address = serve().await;
    let ports = Ports::new(Resolve::parse(&format!("bundles.example.com:443={address}")).unwrap());
    let url = "https://bundles.example.com/bundle".to_owned();
    let failure = ports.run(&Effect::Fetch { url }).await.unwrap_err();
    assert!(
        failure.starts_with(
            "Error fetching CA bundle: Get \"https://bundles.example.com/bundle\": tls: "
        ),
        "{failure}"
    );
}

#[tokio::test]
async fn no_redirect_leads_to_the_node_or_into_the_operator_s_own_pod() {
    for (path, target) in [("/metadata", "169.254.169.254:80"), ("/own", "127.0.0.1:1")] {
        let failure = fetch(path).await.unwrap_err();
        let expected = format!(
            "Error fetching CA bundle: Get \"http://bundles.example.com{path}\": dial tcp {target}: this address is not \
             allowed here"
        );
        assert_eq!(failure, expected);
    }
    let url = "http://169.254.169.254/latest/meta-data/".to_owned();
    let ports = Ports::default();
    let failure = ports.run(&Effect::Fetch { url }).await.unwrap_err();
    assert!(failure.ends_with("not allowed here"), "{failure}");
}

#[tokio::test]
async fn a_page_that_never_ends_ends_by_the_deadline() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b"1\r\nx\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let resolve = Resolve::parse(&format!("bundles.example.com={address}")).unwrap();
    let ports = Ports::new(resolve).within(Duration::from_millis(300));
    let url = "http://bundles.example.com/bundle".to_owned();
    let failure = ports.run(&Effect::Fetch { url }).await.unwrap_err();
    assert_eq!(
        failure,
        "Error fetching CA bundle: Get \"http://bundles.example.com/bundle\": context deadline exceeded"
    );
}
