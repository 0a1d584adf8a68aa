//! HTTP for probes and metrics: on every replica, leader or not.
//!
//! Everybody in the cluster may be able to connect. Whoever does not ask within a few seconds is cut off, and when there
//! are too many connections the oldest goes, so that nobody can keep others from asking.

use std::{
    collections::VecDeque, convert::Infallible, fmt, future::Future, io, net::TcpListener,
    sync::Arc, time::Duration,
};

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    task::{AbortHandle, JoinSet},
};

use crate::{exposition::Exposition, metrics::Metrics, shutdown::Shutdown};

/// Time for the head of a request to arrive, which is also how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(5);
/// Connections at the same time. Kubelet and a few scrapers need a handful.
const CONNECTIONS: usize = 32;
/// Longest head. Nobody has more to say to a probe.
const LONGEST_HEAD: usize = 16 * 1024;
/// Pause after a connection that could not be accepted: there are no descriptors left, for now.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Says whether the process is fit; the text names what is not.
pub type Probe = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The questions that the probes ask.
#[derive(Clone)]
pub struct Probes {
    /// Caches are filled.
    pub ready: Probe,
    /// The workers make progress.
    pub live: Probe,
}

impl fmt::Debug for Probes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Probes")
    }
}

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("could not listen on `{address}`")]
pub struct BindError {
    address: String,
    #[source]
    source: io::Error,
}

/// An address as operators write it: `:8080` means all interfaces, `0` means none.
pub fn address(text: &str) -> Option<String> {
    match text {
        "0" | "" => None,
        port if port.starts_with(':') => Some(format!("0.0.0.0{port}")),
        full => Some(full.to_owned()),
    }
}

/// Binds an [`address`]. The listener belongs to no runtime yet.
pub fn bind(text: &str) -> Result<Option<TcpListener>, BindError> {
    let Some(full) = address(text) else {
        return Ok(None);
    };
    let bind = || {
        let listener = TcpListener::bind(&full)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let bound = bind().map_err(|source| BindError {
        address: text.to_owned(),
        source,
    })?;
    Ok(Some(bound))
}

/// What is answered: a status, a media type and a text.
type Page = (StatusCode, &'static str, String);

const PLAIN: &str = "text/plain; charset=utf-8";

/// Serves probes until the stop.
pub fn serve_probes(
    listener: TcpListener,
    probes: Probes,
    shutdown: Shutdown,
) -> impl Future<Output = io::Result<()>> {
    let page = move |path: &str, _: &HeaderMap| -> Option<Page> {
        let probe = match path {
            "/readyz" => &probes.ready,
            // Installations of the original ask the older name.
            "/livez" | "/healthz" => &probes.live,
            _ => return None,
        };
        Some(match probe() {
            Ok(()) => (StatusCode::OK, PLAIN, "ok".to_owned()),
            Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, reason),
        })
    };
    serve(listener, page, shutdown)
}

/// Serves metrics until the stop.
pub fn serve_metrics(
    listener: TcpListener,
    metrics: Metrics,
    shutdown: Shutdown,
) -> impl Future<Output = io::Result<()>> {
    let page = move |path: &str, headers: &HeaderMap| -> Option<Page> {
        if path != "/metrics" {
            return None;
        }
        let accept = headers.get(header::ACCEPT);
        let accept = accept.and_then(|accept| accept.to_str().ok());
        let format = Exposition::accepted_by(accept.unwrap_or_default());
        let text = format.of(metrics.render());
        Some((StatusCode::OK, format.content_type(), text))
    };
    serve(listener, page, shutdown)
}

async fn serve(
    listener: TcpListener,
    page: impl Fn(&str, &HeaderMap) -> Option<Page> + Send + Sync + 'static,
    mut shutdown: Shutdown,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let page = Arc::new(page);
    let mut connections = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(error = %error, "Could not accept a connection to probes or metrics");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = shutdown.wait() => return Ok(()),
        };
        while connections.try_join_next().is_some() {}
        oldest_first.retain(|connection| !connection.is_finished());
        if oldest_first.len() >= CONNECTIONS
            && let Some(oldest) = oldest_first.pop_front()
        {
            oldest.abort();
        }
        oldest_first.push_back(connections.spawn(talk(stream, page.clone())));
    }
}

/// Answers everything that is asked over one connection.
async fn talk(
    stream: TcpStream,
    page: Arc<impl Fn(&str, &HeaderMap) -> Option<Page> + Send + Sync + 'static>,
) {
    let answer = service_fn(|request| {
        let response = respond(&request, &*page);
        async { Ok::<_, Infallible>(response) }
    });
    let ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
    if let Err(error) = ended {
        tracing::debug!(error = %error, "A connection to probes or metrics ended early");
    }
}

fn respond<B>(
    request: &Request<B>,
    page: &impl Fn(&str, &HeaderMap) -> Option<Page>,
) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let (status, content_type, text) = match page(request.uri().path(), request.headers()) {
        Some(page) if is_read => page,
        Some(_) => (StatusCode::METHOD_NOT_ALLOWED, PLAIN, String::new()),
        None => (StatusCode::NOT_FOUND, PLAIN, "not found".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests;
