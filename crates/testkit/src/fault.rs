//! Faults between client and API server: a layer on the client's service.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::StreamExt;
use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use serde_json::json;
use tower::{BoxError, Layer, Service};

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: it passes.
    None,
    /// Answered with this code and a proper Status; never sent.
    Refuse(u16),
    /// Never sent, no answer: the connection breaks.
    Drop,
    /// Sent and carried out, but the answer is lost.
    Cut,
    /// Sent and carried out; then this happens, and the answer is lost.
    CutThen(Blow),
    /// Sent and answered; this happens a moment after the answer is there.
    AnswerThen(Blow),
    /// Sent and answered, but the body of the answer breaks off after this time: the end of a watch.
    Break(Duration),
    /// Sent after a pause.
    Delay(Duration),
}

/// Something that happens between a write and its answer, such as the end of the process that waits for it.
#[derive(Clone)]
pub struct Blow(Arc<dyn Fn() + Send + Sync>);

impl Blow {
    /// A blow that runs this.
    pub fn new(run: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(run))
    }
}

impl fmt::Debug for Blow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Blow")
    }
}

impl PartialEq for Blow {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Blow {}

/// A request, as far as a decision needs it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method.
    pub method: Method,
    /// Path with query.
    pub path: String,
}

impl Seen {
    /// Whether the request asks for a change.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// Whether the answer is a stream of changes.
    pub fn is_watch(&self) -> bool {
        self.path.contains("watch=true")
    }

    /// Path without the query.
    pub fn resource(&self) -> &str {
        self.path
            .split_once('?')
            .map_or(self.path.as_str(), |(resource, _)| resource)
    }
}

/// Decides about each request.
pub type Decide = Arc<dyn Fn(&Seen) -> Fault + Send + Sync>;

/// The layer.
#[derive(Clone)]
pub struct FaultLayer {
    decide: Decide,
}

impl fmt::Debug for FaultLayer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FaultLayer")
    }
}

impl FaultLayer {
    /// A layer with a decision.
    pub fn new(decide: impl Fn(&Seen) -> Fault + Send + Sync + 'static) -> Self {
        Self {
            decide: Arc::new(decide),
        }
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = FaultService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        FaultService {
            inner,
            decide: self.decide.clone(),
        }
    }
}

/// The service that the layer makes.
#[derive(Clone)]
pub struct FaultService<S> {
    inner: S,
    decide: Decide,
}

impl<S> fmt::Debug for FaultService<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FaultService")
    }
}

impl<S, B> Service<Request<Body>> for FaultService<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: axum::body::HttpBody<Data = axum::body::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<axum::body::Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let seen = Seen {
            method: request.method().clone(),
            path: request
                .uri()
                .path_and_query()
                .map(ToString::to_string)
                .unwrap_or_default(),
        };
        let fault = (self.decide)(&seen);
        match fault {
            Fault::Refuse(code) => Box::pin(async move { Ok(refusal(code)) }),
            Fault::Drop => Box::pin(async move { Err(broken()) }),
            fault => {
                let answer = self.inner.call(request);
                Box::pin(async move {
                    if let Fault::Delay(pause) = fault {
                        tokio::time::sleep(pause).await;
                    }
                    let answer = answer.await.map_err(Into::into)?;
                    match fault {
                        Fault::Cut => Err(broken()),
                        Fault::CutThen(Blow(run)) => {
                            run();
                            Err(broken())
                        }
                        Fault::AnswerThen(blow) => answered(answer, blow).await,
                        Fault::Break(after) => Ok(answer.map(|body| breaking(body, after))),
                        _ => Ok(answer.map(axum::body::Body::new)),
                    }
                })
            }
        }
    }
}

/// How long a whole answer takes at most from here to who asked: both are on this machine.
const DELIVERY: Duration = Duration::from_millis(20);

/// The whole answer, and the blow when it has arrived.
async fn answered<B>(
    answer: Response<B>,
    Blow(run): Blow,
) -> Result<Response<axum::body::Body>, BoxError>
where
    B: axum::body::HttpBody<Data = axum::body::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (head, body) = answer.into_parts();
    let body = axum::body::to_bytes(axum::body::Body::new(body), usize::MAX).await?;
    tokio::spawn(async move {
        tokio::time::sleep(DELIVERY).await;
        run();
    });
    Ok(Response::from_parts(head, axum::body::Body::from(body)))
}

/// A body that ends in an error after this time.
fn breaking<B>(body: B, after: Duration) -> axum::body::Body
where
    B: axum::body::HttpBody<Data = axum::body::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let data = axum::body::Body::new(body).into_data_stream();
    let end = futures::stream::once(async { Err(axum::Error::new(broken())) });
    let whole = data
        .take_until(Box::pin(tokio::time::sleep(after)))
        .chain(end);
    axum::body::Body::from_stream(whole)
}

fn broken() -> BoxError {
    std::io::Error::new(
        std::io::ErrorKind::ConnectionReset,
        "fault: connection broke",
    )
    .into()
}

/// A proper Status, as the API server words it.
fn refusal(code: u16) -> Response<axum::body::Body> {
    let reason = match code {
        403 => "Forbidden",
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": format!("fault: {reason}"),
    });
    Response::builder()
        .status(StatusCode::from_u16(code).unwrap())
        .header("content-type", "application/json")
        .body(axum::body::Body::from(status.to_string()))
        .unwrap()
}
