//! Pages from small servers of our own: fetched once, asked for again, and kept when they cannot be fetched.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mainstay_http::{Client, Resolve};
use mainstay_manifest::{
    LoadError, LoadLimits, Source,
    source::{
        FetchPolicy, Fetcher, Freshness,
        additional::{Allowed, Place},
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

const OBJECT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";

/// A server that has a page until it is told otherwise: 0 a page, 1 a failure, 2 something else.
async fn serve() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let state = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&state);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap_or(0);
            request.truncate(length);
            let request = String::from_utf8_lossy(&request).to_lowercase();
            let page = |body: &str| {
                let length = body.len();
                format!(
                    "HTTP/1.1 200 OK\r\netag: \"one\"\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
            };
            let answer = match shared.load(Ordering::Relaxed) {
                0 if request.contains("if-none-match: \"one\"") => {
                    "HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_owned()
                }
                0 => page(OBJECT),
                1 => "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret".to_owned(),
                _ => page("kind: broken\n"),
            };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, state)
}

fn policy(address: SocketAddr) -> FetchPolicy {
    let resolve = Resolve::parse(&format!("bundles.example.com={address}")).unwrap();
    let policy = FetchPolicy {
        client: Client::default().with_resolve(resolve),
        ..FetchPolicy::default()
    };
    policy.allow_http()
}

const URL: &str = "http://bundles.example.com/a.yaml?token=hidden";

#[tokio::test]
async fn a_page_is_a_source_and_what_is_no_success_is_an_error() {
    let (address, state) = serve().await;
    let source = Source::url(URL, policy(address));
    let set = source.load(&LoadLimits::default()).await.unwrap();
    assert_eq!(set.len(), 1);
    let origin = set.objects().first().unwrap().origin().unwrap().to_string();
    assert_eq!(origin, "http://bundles.example.com/a.yaml:1: document 1");
    state.store(1, Ordering::Relaxed);
    let failure = source.load(&LoadLimits::default()).await.unwrap_err();
    let text = mainstay_http::causes(&failure);
    assert_eq!(
        text,
        "could not fetch `http://bundles.example.com/a.yaml`: the server answered 503 Service Unavailable"
    );
    let small = LoadLimits {
        bytes: 10,
        ..LoadLimits::default()
    };
    state.store(0, Ordering::Relaxed);
    assert!(matches!(
        source.load(&small).await,
        Err(LoadError::Fetch(_))
    ));
}

#[tokio::test]
async fn a_page_is_asked_for_again_and_kept_while_it_cannot_be_fetched() {
    let (address, state) = serve().await;
    let fetcher = Fetcher::new(policy(address));
    let first = fetcher.fetch(URL).await.unwrap();
    assert!(matches!(first.freshness, Freshness::Fetched));
    let second = fetcher.fetch(URL).await.unwrap();
    assert!(matches!(second.freshness, Freshness::NotModified));
    assert_eq!((&second.body, &second.digest), (&first.body, &first.digest));
    state.store(1, Ordering::Relaxed);
    let third = fetcher.fetch(URL).await.unwrap();
    let Freshness::Stale(error) = &third.freshness else {
        unreachable!("it could not be fetched")
    };
    assert!(!format!("{error:?}").contains("hidden"), "{error:?}");
    assert_eq!(third.digest, first.digest);
    assert!(
        fetcher
            .fetch("http://bundles.example.com/other")
            .await
            .is_err(),
        "a copy is for its own URL"
    );
    fetcher.retain(|_| false);
    assert!(fetcher.fetch(URL).await.is_err(), "it was forgotten");
}

#[tokio::test]
async fn additional_manifests_tell_digests_and_what_is_stale() {
    let (address, state) = serve().await;
    let fetcher = Fetcher::new(policy(address));
    let allowed = Allowed {
        http: true,
        ..Allowed::default()
    };
    let places = [Place::Url(URL.to_owned())];
    let load = async || {
        allowed
            .load(&places, &fetcher, &LoadLimits::default())
            .await
    };
    let fresh = load().await.unwrap();
    assert_eq!(
        (fresh.set.len(), fresh.digests.len(), fresh.stale.len()),
        (1, 1, 0)
    );
    state.store(1, Ordering::Relaxed);
    let stale = load().await.unwrap();
    assert_eq!(stale.digests, fresh.digests);
    let [(name, why)] = stale.stale.as_slice() else {
        unreachable!("one page is stale")
    };
    assert_eq!(name, "http://bundles.example.com/a.yaml");
    assert!(
        why.ends_with("the server answered 503 Service Unavailable"),
        "{why}"
    );
    state.store(2, Ordering::Relaxed);
    let failure = load().await.unwrap_err();
    assert!(!failure.to_string().contains("hidden"), "{failure}");
}
