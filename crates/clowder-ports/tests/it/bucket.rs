//! Against an S3 server that checks signatures.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use mainstay_clowder::providers::effect::{Effect, Hidden};
use mainstay_clowder_ports::{Ports, Resolve};
use mainstay_testkit::servers::S3;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

const ACCESS: &str = "access";
const SECRET: &str = "secret/+=";

fn ports(server: &S3) -> Ports {
    Ports::new(Resolve::parse(&format!("stage-minio.stage.svc:9000={}", server.address)).unwrap())
}

fn effect(name: &str, secret_key: &str) -> Effect {
    Effect::Bucket {
        host: "stage-minio.stage.svc".to_owned(),
        port: 9000,
        access_key: Hidden(ACCESS.to_owned()),
        secret_key: Hidden(secret_key.to_owned()),
        name: name.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_made_once_however_many_ask_for_it() {
    let server = S3::start(ACCESS, SECRET);
    let ports = ports(&server);
    let wanted = effect("golden-photos", SECRET);
    for _ in 0..2 {
        assert_eq!(ports.run(&wanted).await, Ok(String::new()));
    }
    let same = effect("raced", SECRET);
    let (a, b, c, d) = tokio::join!(
        ports.run(&same),
        ports.run(&same),
        ports.run(&same),
        ports.run(&same)
    );
    assert_eq!([a, b, c, d], [const { Ok(String::new()) }; 4]);
    let made = server.buckets(2).await;
    assert_eq!(made, ["golden-photos", "raced"], "each once");
    let wrong = ports
        .run(&effect("golden-photos", "other"))
        .await
        .unwrap_err();
    assert_eq!(
        wrong,
        "bucket \"golden-photos\" -- failed to check if bucket exists: Access Denied."
    );
}

#[tokio::test]
async fn a_bad_name_is_refused_before_anything_is_sent() {
    let ports = Ports::default();
    let failure = ports.run(&effect("ab", "s")).await.unwrap_err();
    assert_eq!(
        failure,
        "bucket \"ab\" -- failed to check if bucket exists: Bucket name cannot be shorter than 3 characters"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_old_times_can_be_found_but_not_made() {
    let server = S3::start(ACCESS, SECRET);
    let failure = ports(&server)
        .run(&effect("Golden_Photos", SECRET))
        .await
        .unwrap_err();
    assert_eq!(
        failure,
        "bucket \"Golden_Photos\" -- failed to create bucket: Bucket name contains invalid characters"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let ports = Ports::new(Resolve::parse("stage-minio.stage.svc=127.0.0.1:1").unwrap());
    let failure = ports.run(&effect("golden-photos", "s")).await.unwrap_err();
    let start = "bucket \"golden-photos\" -- failed to check if bucket exists: Head \
        \"http://stage-minio.stage.svc:9000/golden-photos/\": dial tcp 127.0.0.1:1: ";
    assert!(failure.starts_with(start), "{failure}");
}

/// A server that knows no bucket and answers PUT with these bytes, and then keeps the connection open. Tells of every
/// connection that its client has closed.
async fn lazy(answer: &'static str) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, closed) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                request.truncate(length);
                let request = String::from_utf8_lossy(&request).into_owned();
                let method = request.split(' ').next().unwrap_or_default().to_owned();
                let absent = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
                let words = if method == "HEAD" { absent } else { answer };
                let _ = stream.write_all(words.as_bytes()).await;
                while stream
                    .read(&mut [0; 64])
                    .await
                    .is_ok_and(|length| length > 0)
                {}
                let _ = tell.send(method).await;
            });
        }
    });
    (address, closed)
}

#[tokio::test]
async fn an_answer_that_never_ends_ends_by_the_deadline() {
    let answers = [
        ("", "i/o timeout"),
        (
            "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 100\r\n\r\n<Err",
            "i/o timeout",
        ),
        (
            "HTTP/1.1 500 Internal Server Error\r\ntransfer-encoding: chunked\r\n\r\n4\r\n<Err\r\n",
            "i/o timeout",
        ),
        (
            "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n",
            "500 Internal Server Error",
        ),
    ];
    for (answer, why) in answers {
        let (address, mut closed) = lazy(answer).await;
        let resolve = format!("stage-minio.stage.svc:9000={address}");
        let ports =
            Ports::new(Resolve::parse(&resolve).unwrap()).within(Duration::from_millis(500));
        let failure = ports.run(&effect("golden-photos", "s")).await;
        let failure = failure.unwrap_err();
        let start = "bucket \"golden-photos\" -- failed to create bucket: ";
        assert!(failure.starts_with(start), "{failure}");
        assert!(failure.ends_with(why), "{failure}");
        // Nobody is left at the other end.
        let methods = [closed.recv().await.unwrap(), closed.recv().await.unwrap()];
        assert_eq!(methods, ["HEAD", "PUT"], "{answer}");
    }
}
