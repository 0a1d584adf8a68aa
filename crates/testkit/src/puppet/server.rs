//! A server on the loopback interface that keeps what it was asked, and misbehaves on demand.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_rustls::TlsAcceptor;

use super::authority::Authority;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Method.
    pub method: Method,
    /// Path, with the query.
    pub target: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// The certificate that the client presented, in DER.
    pub client_certificate: Option<Vec<u8>>,
}

impl Recorded {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The text of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: Bytes,
}

impl Answer {
    /// An answer of a type.
    pub fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: body.into(),
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self {
            status,
            headers: vec![("location", location.to_owned())],
            body: Bytes::new(),
        }
    }
}

/// How the server answers.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// As it should.
    #[default]
    Normal,
    /// As it should, after a while.
    Slow(Duration),
    /// Not at all; the connection stays open.
    Hang,
    /// With these bytes instead of HTTP.
    Nonsense(Vec<u8>),
    /// With this, whatever the question is.
    Fixed(Answer),
}

type Handler = Box<dyn FnMut(&Recorded) -> Answer + Send>;

struct Shared {
    behaviour: Behaviour,
    requests: Vec<Recorded>,
    handler: Handler,
}

/// The server; gone when dropped.
pub struct Server {
    address: SocketAddr,
    is_protected: bool,
    shared: Arc<Mutex<Shared>>,
    _stop: oneshot::Sender<()>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Server at {}", self.url())
    }
}

impl Server {
    /// Starts one. With an authority it speaks TLS, under a certificate for `127.0.0.1` of that authority, and takes
    /// certificates of clients from it.
    pub fn start(
        address: &str,
        authority: Option<&Authority>,
        handler: impl FnMut(&Recorded) -> Answer + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            behaviour: Behaviour::Normal,
            requests: Vec::new(),
            handler: Box::new(handler),
        }));
        let acceptor = authority.map(acceptor);
        let is_protected = acceptor.is_some();
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let (ready, started) = mpsc::channel();
        let served = shared.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                ready.send(()).unwrap();
                tokio::select! {
                    () = accept(listener, acceptor, served) => {}
                    _ = stopped => {}
                }
            });
        });
        started.recv().unwrap();
        Self {
            address,
            is_protected,
            shared,
            _stop: stop,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of its root, without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.is_protected { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Changes how it answers from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.lock().unwrap().behaviour = behaviour;
    }

    /// All requests so far, the oldest first.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.lock().unwrap().requests.clone()
    }
}

fn acceptor(authority: &Authority) -> TlsAcceptor {
    let own = authority.issue("server", &["127.0.0.1", "localhost"]);
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate(authority.certificate())).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .allow_unauthenticated()
        .build()
        .unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate(&own.certificate)], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Mutex<Shared>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, shared) = (acceptor.clone(), shared.clone());
        tokio::spawn(async move {
            match acceptor {
                None => serve(stream, None, shared).await,
                // A client that does not trust us goes away.
                Some(acceptor) => protected(stream, &acceptor, shared).await.unwrap_or(()),
            }
        });
    }
}

async fn protected(
    stream: TcpStream,
    acceptor: &TlsAcceptor,
    shared: Arc<Mutex<Shared>>,
) -> Option<()> {
    let stream = acceptor.accept(stream).await.ok()?;
    let certificates = stream.get_ref().1.peer_certificates();
    let certificate = certificates.and_then(|chain| Some(chain.first()?.to_vec()));
    serve(stream, certificate, shared).await;
    Some(())
}

async fn serve<S>(mut stream: S, certificate: Option<Vec<u8>>, shared: Arc<Mutex<Shared>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let behaviour = shared.lock().unwrap().behaviour.clone();
    if let Behaviour::Nonsense(bytes) = behaviour {
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        return;
    }
    let service = service_fn(move |request| {
        let (certificate, shared) = (certificate.clone(), shared.clone());
        async move { Ok::<_, Infallible>(answer(request, certificate, &shared).await) }
    });
    // A client that goes away in the middle is what some tests are about.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    request: Request<Incoming>,
    client_certificate: Option<Vec<u8>>,
    shared: &Mutex<Shared>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let recorded = Recorded {
        method: head.method,
        target: head.uri.to_string(),
        headers: head.headers,
        body: body.unwrap_or_default(),
        client_certificate,
    };
    let behaviour = {
        let mut shared = shared.lock().unwrap();
        shared.requests.push(recorded.clone());
        shared.behaviour.clone()
    };
    let answer = match behaviour {
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Fixed(answer) => answer,
        Behaviour::Slow(time) => {
            tokio::time::sleep(time).await;
            (shared.lock().unwrap().handler)(&recorded)
        }
        Behaviour::Normal | Behaviour::Nonsense(_) => (shared.lock().unwrap().handler)(&recorded),
    };
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(answer.body)).unwrap()
}
