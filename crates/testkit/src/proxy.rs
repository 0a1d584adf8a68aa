//! A way to the API server that a test controls: the operator talks to the proxy, the proxy's client carries the faults.

use std::{
    fs,
    path::{Path, PathBuf},
};

use axum::{
    Router,
    body::Body as AxumBody,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use kube::{Client, client::Body, client::ClientBuilder};
use tempfile::TempDir;

use crate::{
    fault::{Fault, FaultLayer, Seen},
    plane::Plane,
};

/// A running proxy; gone when dropped.
#[derive(Debug)]
pub struct Proxy {
    directory: TempDir,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy in front of a plane. The decision is asked for each request.
    pub async fn start(
        plane: &Plane,
        decide: impl Fn(&Seen) -> Fault + Send + Sync + 'static,
    ) -> Self {
        let mut config = plane.config().await;
        config.default_retry = false;
        let client = ClientBuilder::try_from(config)
            .unwrap()
            .with_layer(&FaultLayer::new(decide))
            .build();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(forward).with_state(client);
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        let directory = TempDir::new().unwrap();
        fs::write(
            directory.path().join("kubeconfig"),
            kubeconfig(&format!("http://{address}")),
        )
        .unwrap();
        Self { directory, task }
    }

    /// A kubeconfig that leads to the proxy.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }

    /// Directory of the proxy's files.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Forwards a request with the proxy's own credentials; a broken way is a broken connection for the caller as well.
async fn forward(State(client): State<Client>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove("host");
    parts.headers.remove("accept-encoding");
    let path = parts
        .uri
        .path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default();
    parts.uri = path.parse().unwrap();
    let Ok(body) = axum::body::to_bytes(body, 16 << 20).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let request = http::Request::from_parts(parts, Body::from(body.to_vec()));
    // In a task of its own: what was sent is carried out, even if the sender dies meanwhile.
    let sent = tokio::spawn(async move { client.send(request).await });
    if let Ok(Ok(answer)) = sent.await {
        return answer.map(AxumBody::new).into_response();
    }
    // A body that breaks off after the head: the caller sees a connection error, not an answer.
    let broken = futures::stream::once(async { Err::<Vec<u8>, _>(std::io::Error::other("fault")) });
    AxumBody::from_stream(broken).into_response()
}

fn kubeconfig(server: &str) -> String {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
        "clusters": [{"name": "proxy", "cluster": {"server": server}}],
        "users": [{"name": "proxy", "user": {}}],
        "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
    })
    .to_string()
}
