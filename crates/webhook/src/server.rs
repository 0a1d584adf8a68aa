//! Connections, limits, timeouts, and a wall around panics.

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::{Body, Bytes},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    metrics::WebhookMetrics,
    review::{ReviewError, Webhook},
};

/// Longest body. An object that can be stored has 1.5 MiB at most, and an update carries two of them.
pub const LONGEST_BODY: usize = 4 * 1024 * 1024;
/// How much of a body that is too long is read and thrown away, so that whoever sends it can hear the answer.
const DISCARDED: usize = 16 * 1024 * 1024;
/// Room for all bodies that are being read or judged at the same time.
const ROOM: usize = 8 * LONGEST_BODY;
/// The unit in which room is given away.
const UNIT: usize = 64 * 1024;
/// Time to wait for room; the API server is better told that there is none than kept.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time for a client to prove that it speaks TLS, and then to ask its first question.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time for a body to arrive. The API server sends it at once.
const BODY: Duration = Duration::from_secs(5);
/// Time for a head to arrive, which is also how long a connection may be idle. The API server keeps one for 90 seconds:
/// who ends it earlier may do so at the moment of the next question.
const IDLE: Duration = Duration::from_secs(100);
/// Connections at the same time. The API server has one for each question that is open; others must not take all
/// descriptors.
const CONNECTIONS: usize = 256;
/// Longest head, and most that is read ahead of a connection.
const BUFFER: usize = 64 * 1024;
/// Pause after a connection that could not be accepted: there are no descriptors left, for now.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers a question. A value, so that a test can put in one that fails.
pub type Answer = fn(&Webhook, &[u8]) -> Result<Value, ReviewError>;

/// What all connections share.
#[derive(Debug)]
struct Shared {
    webhooks: &'static [Webhook],
    answer: Answer,
    metrics: WebhookMetrics,
    room: Semaphore,
}

impl Shared {
    fn new(webhooks: &'static [Webhook], answer: Answer, metrics: WebhookMetrics) -> Self {
        Self {
            webhooks,
            answer,
            metrics,
            room: Semaphore::new(ROOM / UNIT),
        }
    }

    /// Room for a body of this length; for one of unknown length as much as the longest needs.
    async fn reserve(&self, length: Option<u64>) -> Option<SemaphorePermit<'_>> {
        let most = LONGEST_BODY / UNIT;
        let length = length.and_then(|length| usize::try_from(length).ok());
        let units = length.map_or(most, |length| length.div_ceil(UNIT).clamp(1, most));
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let reserved = timeout(PATIENCE, self.room.acquire_many(units)).await;
        reserved.ok().and_then(Result::ok)
    }
}

/// Accepts connections until dropped.
pub async fn serve(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    webhooks: &'static [Webhook],
    answer: Answer,
    metrics: WebhookMetrics,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let shared = Arc::new(Shared::new(webhooks, answer, metrics));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(error = %error, "Could not accept a connection to the webhooks");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (acceptor, shared) = (acceptor.clone(), shared.clone());
        tokio::spawn(async move {
            // Answers are small; waiting for more to send with them only costs time.
            let _ = stream.set_nodelay(true);
            match timeout(HANDSHAKE, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => talk(stream, &shared).await,
                Ok(Err(error)) => tracing::debug!(error = %error, "A connection ended early"),
                Err(_) => tracing::debug!("A connection never spoke"),
            }
            drop(place);
        });
    }
}

/// Answers everything that is asked over one connection. Who keeps one without ever having asked loses it.
async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, shared: &Shared) {
    let asked = AtomicBool::new(false);
    let answer = service_fn(|request| {
        asked.store(true, Ordering::Relaxed);
        async move { Ok::<_, Infallible>(respond(request, shared).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let ended = match timeout(HANDSHAKE, connection.as_mut()).await {
        Ok(ended) => ended,
        Err(_) if asked.load(Ordering::Relaxed) => connection.await,
        Err(_) => return tracing::debug!("A connection never asked"),
    };
    if let Err(error) = ended {
        tracing::debug!(error = %error, "A connection ended early");
    }
}

async fn respond<B>(request: Request<B>, shared: &Shared) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let path = request.uri().path();
    let mut webhooks = shared.webhooks.iter();
    let Some(webhook) = webhooks.find(|webhook| webhook.path == path) else {
        return text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned());
    };
    let asked = shared.metrics.begin(webhook);
    let response = reply(webhook, request, shared).await;
    asked.answered(response.status());
    response
}

async fn reply<B>(webhook: &Webhook, request: Request<B>, shared: &Shared) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if request.method() != Method::POST {
        let words = format!(
            "{} is not allowed; questions are posted\n",
            request.method()
        );
        return text(StatusCode::METHOD_NOT_ALLOWED, words);
    }
    match read(request.into_body(), shared).await {
        // The room is free again when the answer is there.
        Ok((body, _room)) => judged(webhook, &body, shared),
        Err((status, words)) => text(status, format!("{words}\n")),
    }
}

fn judged(webhook: &Webhook, body: &[u8], shared: &Shared) -> Response<Full<Bytes>> {
    // The rules know no chance and no clock: what fails here fails for this object only, and every time.
    match catch_unwind(AssertUnwindSafe(|| (shared.answer)(webhook, body))) {
        Ok(Ok(answer)) => json(&answer),
        Ok(Err(error)) => text(StatusCode::BAD_REQUEST, format!("{error}\n")),
        Err(_) => {
            shared.metrics.panicked();
            tracing::error!(
                webhook = webhook.path,
                "A webhook panicked; this is a defect"
            );
            let words = "the webhook failed on this object; this is a defect of the operator\n";
            text(StatusCode::INTERNAL_SERVER_ERROR, words.to_owned())
        }
    }
}

/// Why a body was not read: the answer.
type Unread = (StatusCode, String);

/// The body, and the room that it takes.
async fn read<B>(body: B, shared: &Shared) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let length = body.size_hint().exact();
    // What will not be kept needs no room.
    let limit = match length {
        Some(length) if length > LONGEST_BODY as u64 => 0,
        _ => LONGEST_BODY,
    };
    let room = match limit {
        0 => None,
        _ => shared.reserve(length).await,
    };
    let kept = if room.is_some() { limit } else { 0 };
    let collected = timeout(BODY, collect(body, kept)).await;
    let (body, length) = collected.map_err(|_| {
        let words = format!("the body did not arrive within {} seconds", BODY.as_secs());
        (StatusCode::REQUEST_TIMEOUT, words)
    })??;
    if length > LONGEST_BODY {
        let words = format!("the body is longer than {LONGEST_BODY} bytes");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, words));
    }
    let room = room.ok_or_else(|| {
        let words = "too much is asked at the same time; ask again".to_owned();
        (StatusCode::SERVICE_UNAVAILABLE, words)
    })?;
    Ok((body, room))
}

/// Reads a body to its end and keeps it, unless it is longer than what may be kept. Also returns how much was read.
async fn collect<B>(body: B, most: usize) -> Result<(Vec<u8>, usize), Unread>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let promised = usize::try_from(body.size_hint().lower()).unwrap_or(most);
    let mut kept = Vec::with_capacity(promised.min(most));
    let mut length = 0;
    let mut body = pin!(body);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let words = format!("the body cannot be read: {}", error.into());
            (StatusCode::BAD_REQUEST, words)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len();
        if length <= most {
            kept.extend_from_slice(&data);
        } else {
            kept = Vec::new();
        }
        if length > DISCARDED {
            break;
        }
    }
    Ok((kept, length))
}

fn json(value: &Value) -> Response<Full<Bytes>> {
    response(StatusCode::OK, "application/json", value.to_string())
}

fn text(status: StatusCode, words: String) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", words)
}

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests;
