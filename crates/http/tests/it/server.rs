//! A server that answers each connection by the path of its request.

use std::net::{Ipv4Addr, SocketAddr};

use mainstay_http::{Client, Error, Request, Resolve, Response, Rules, Schemes};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
};

/// The name under which tests know the server.
pub(crate) const HOST: &str = "bundles.example.com";

/// A listener on loopback.
pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Starts the server.
pub(crate) async fn serve() -> SocketAddr {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    address
}

/// Reads the head of a request.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            break;
        }
        head.extend(byte);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Answers one request.
pub(crate) async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let request = read_head(&mut stream).await;
    let path = request.split(' ').nth(1).unwrap_or_default();
    let _ = stream.write_all(&answer_to(path, &request)).await;
    let _ = stream.shutdown().await;
}

fn answer_to(path: &str, request: &str) -> Vec<u8> {
    let head = |status: &str, more: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n")
            .into_bytes()
    };
    let moved = |location: &str| head("302 Found", &format!("location: {location}\r\n"), 0);
    match path {
        "/echo" => [
            head("200 OK", "", request.len()),
            request.as_bytes().to_vec(),
        ]
        .concat(),
        "/moved" => moved("echo"),
        "/round" => moved("/round"),
        "/elsewhere" => moved("http://other.example.com/echo"),
        "/metadata" => moved("http://169.254.169.254/latest/meta-data/"),
        "/own" => moved("http://127.0.0.1:1/"),
        "/file" => moved("file:///etc/passwd"),
        "/credentials" => moved("http://me:word@bundles.example.com/echo"),
        "/short" => [head("200 OK", "", 100), b"abc".to_vec()].concat(),
        "/large" => {
            let body = vec![b'x'; 2000];
            [head("200 OK", "", body.len()), body].concat()
        }
        "/garbage" => b"what?\r\n\r\n".to_vec(),
        _ => [head("404 Not Found", "", 7), b"secret!".to_vec()].concat(),
    }
}

/// Rules that let tests speak to loopback without TLS, by its name only.
pub(crate) fn rules() -> Rules {
    Rules {
        schemes: Schemes::HttpAndHttps,
        body_limit: 1000,
        ..Rules::default()
    }
}

/// A client that knows where the server is.
pub(crate) fn client(address: SocketAddr) -> Client {
    let resolve = format!("{HOST}={address},other.example.com={address}");
    Client::default().with_resolve(Resolve::parse(&resolve).unwrap())
}

/// Fetches a path of the server.
pub(crate) async fn fetch(path: &str, rules: &Rules) -> Result<Response, Error> {
    let address = serve().await;
    let request = Request::get(&format!("http://{HOST}{path}"))?;
    client(address).send(&request, rules).await
}
