use std::net::SocketAddr;

use mainstay_http::{Client, Error, Proxy, Request, Rules};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

use crate::server::{listen, read_head, rules};

/// A proxy that tells what it is asked for and answers everything so.
async fn proxy(answer: &'static str) -> (SocketAddr, mpsc::Receiver<String>) {
    let (listener, address): (TcpListener, _) = listen().await;
    let (tell, asked) = mpsc::channel(4);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = read_head(&mut stream).await;
            let _ = tell.send(head).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
    });
    (address, asked)
}

fn client(address: SocketAddr) -> Client {
    let server = format!("http://me:word@{address}");
    let variable = |name: &str| {
        name.ends_with("_PROXY")
            .then(|| server.clone())
            .filter(|_| name != "NO_PROXY")
    };
    Client::default().with_proxy(Proxy::from_variables(variable))
}

#[tokio::test]
async fn a_proxy_is_given_the_whole_url_and_our_credentials_for_it() {
    let (address, mut asked) =
        proxy("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi").await;
    let request = Request::get("http://bundles.example.com/a?b=c").unwrap();
    let answer = client(address).send(&request, &rules()).await.unwrap();
    assert_eq!(&*answer.body, b"hi");
    let head = asked.recv().await.unwrap();
    assert!(
        head.starts_with("GET http://bundles.example.com/a?b=c HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("proxy-authorization: Basic bWU6d29yZA==\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn a_proxy_that_refuses_a_tunnel_is_named() {
    let (address, mut asked) = proxy("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    let request = Request::get("https://bundles.example.com/a").unwrap();
    let failure = client(address)
        .send(&request, &Rules::default())
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        format!("the proxy `{address}` refused: 403 Forbidden")
    );
    assert!(
        asked
            .recv()
            .await
            .unwrap()
            .starts_with("CONNECT bundles.example.com:443 HTTP/1.1\r\n")
    );
}

#[tokio::test]
async fn no_proxy_is_asked_for_an_address_that_is_not_allowed() {
    let (address, _asked) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    let request = Request::get("https://169.254.169.254/latest").unwrap();
    let failure = client(address)
        .send(&request, &Rules::default())
        .await
        .unwrap_err();
    assert!(
        matches!(failure, Error::AddressNotAllowed { .. }),
        "{failure}"
    );
}
