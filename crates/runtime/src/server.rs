//! HTTP for probes and metrics: on every replica, leader or not.

use std::{fmt, future::Future, io, sync::Arc};

use axum::{
    Router,
    http::{HeaderMap, StatusCode},
    routing::get,
};
use tokio::net::TcpListener;

use crate::{exposition::Exposition, metrics::Metrics, shutdown::Shutdown};

/// Says whether the process is fit; the text names what is not.
pub type Probe = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The questions that the probes ask.
#[derive(Clone)]
pub struct Probes {
    /// Caches are filled.
    pub ready: Probe,
    /// No watch is stuck.
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

/// Binds an [`address`].
pub async fn bind(text: &str) -> Result<Option<TcpListener>, BindError> {
    let Some(full) = address(text) else {
        return Ok(None);
    };
    let bound = TcpListener::bind(&full).await.map_err(|source| BindError {
        address: text.to_owned(),
        source,
    })?;
    Ok(Some(bound))
}

/// Serves probes until the stop.
pub fn serve_probes(
    listener: TcpListener,
    probes: Probes,
    shutdown: Shutdown,
) -> impl Future<Output = io::Result<()>> {
    let answer = |probe: Probe| {
        get(move || async move {
            match probe() {
                Ok(()) => (StatusCode::OK, "ok".to_owned()),
                Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, reason),
            }
        })
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", answer(probes.ready))
        .route("/livez", answer(probes.live));
    serve(listener, router, shutdown)
}

/// Serves metrics until the stop.
pub fn serve_metrics(
    listener: TcpListener,
    metrics: Metrics,
    shutdown: Shutdown,
) -> impl Future<Output = io::Result<()>> {
    let page = get(move |headers: HeaderMap| async move {
        let accept = headers
            .get("accept")
            .and_then(|accept| accept.to_str().ok());
        let format = Exposition::accepted_by(accept.unwrap_or_default());
        let text = format.of(metrics.render());
        ([("content-type", format.content_type())], text)
    });
    serve(listener, Router::new().route("/metrics", page), shutdown)
}

async fn serve(listener: TcpListener, router: Router, mut shutdown: Shutdown) -> io::Result<()> {
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { shutdown.wait().await })
        .await
}
