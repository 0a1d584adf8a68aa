//! Connections, limits, timeouts, and a wall around panics.

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
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
    sync::Semaphore,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::review::{Question, ReviewError};

/// Longest body. Objects have 3 MiB at most on their way to the API server, and an update carries two of them.
pub const LONGEST_BODY: usize = 7 * 1024 * 1024;
/// Time for a client to prove that it speaks TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Time for a body to arrive; the API server does not wait longer for an answer.
const BODY: Duration = Duration::from_secs(10);
/// Time for a head to arrive, which is also how long a connection may be idle. The API server keeps one for 90 seconds:
/// who ends it earlier may do so at the moment of the next question.
const IDLE: Duration = Duration::from_secs(100);
/// Connections at the same time. The API server needs a handful; others must not take all descriptors.
const CONNECTIONS: usize = 512;
/// Pause after a connection that could not be accepted: there are no descriptors left, for now.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers a question. A value, so that a test can put in one that fails.
pub type Judge = fn(Question, &[u8]) -> Result<Value, ReviewError>;

/// Accepts connections until dropped.
pub async fn serve(listener: TcpListener, acceptor: TlsAcceptor, judge: Judge) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
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
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // Answers are small; waiting for more to send with them only costs time.
            let _ = stream.set_nodelay(true);
            match timeout(HANDSHAKE, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => talk(stream, judge).await,
                Ok(Err(error)) => tracing::debug!(error = %error, "A connection ended early"),
                Err(_) => tracing::debug!("A connection never spoke"),
            }
            drop(place);
        });
    }
}

/// Answers everything that is asked over one connection.
async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, judge: Judge) {
    let answer =
        service_fn(
            move |request| async move { Ok::<_, Infallible>(respond(request, judge).await) },
        );
    let ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
    if let Err(error) = ended {
        tracing::debug!(error = %error, "A connection ended early");
    }
}

async fn respond<B>(request: Request<B>, judge: Judge) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let Some(question) = Question::at(request.uri().path()) else {
        return text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned());
    };
    if request.method() != Method::POST {
        let words = format!(
            "{} is not allowed; questions are posted\n",
            request.method()
        );
        return text(StatusCode::METHOD_NOT_ALLOWED, words);
    }
    let body = match collect(request.into_body()).await {
        Ok(body) => body,
        Err((status, words)) => return text(status, format!("{words}\n")),
    };
    // The rules know no chance and no clock: what fails here fails for this object only, and every time.
    match catch_unwind(AssertUnwindSafe(|| judge(question, &body))) {
        Ok(Ok(answer)) => json(&answer),
        Ok(Err(error)) => text(StatusCode::BAD_REQUEST, format!("{error}\n")),
        Err(_) => {
            tracing::error!(?question, "A webhook panicked; this is a defect");
            let words = "the webhook failed on this object; this is a defect of the operator\n";
            text(StatusCode::INTERNAL_SERVER_ERROR, words.to_owned())
        }
    }
}

async fn collect<B>(body: B) -> Result<Bytes, (StatusCode, String)>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let too_long = || {
        let words = format!("the body is longer than {LONGEST_BODY} bytes");
        (StatusCode::PAYLOAD_TOO_LARGE, words)
    };
    if body.size_hint().lower() > LONGEST_BODY as u64 {
        return Err(too_long());
    }
    let collected = timeout(BODY, Limited::new(body, LONGEST_BODY).collect());
    match collected.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => Err((
            StatusCode::BAD_REQUEST,
            format!("the body cannot be read: {error}"),
        )),
        Err(_) => {
            let words = format!("the body did not arrive within {} seconds", BODY.as_secs());
            Err((StatusCode::REQUEST_TIMEOUT, words))
        }
    }
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
