//! Connections, and one request over one of them.

use std::{net::SocketAddr, pin::pin, time::Duration};

use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::timeout,
};

use crate::{addresses::AddressRule, error::Error, request::Response, resolve::Resolve};

/// Opens a connection to one of the addresses of a host that the rule allows. The address that was judged is the one
/// that is used: a name that is looked up twice may have two answers. Addresses given by the table are not judged: whoever
/// runs the program chose them.
pub async fn dial(
    resolve: &Resolve,
    host: &str,
    port: u16,
    rule: AddressRule,
) -> Result<TcpStream, Error> {
    let (name, number) = resolve.target(host, port);
    let target = format!("{name}:{number}");
    let is_given = resolve.address(host, port).is_some();
    let addresses = lookup_host((name.as_str(), number)).await;
    let addresses: Vec<SocketAddr> = match addresses {
        Ok(addresses) => addresses.collect(),
        Err(source) => return Err(Error::Lookup { target, source }),
    };
    let mut failure = Error::NoAddress {
        target: target.clone(),
    };
    for address in addresses {
        let target = target.clone();
        if !is_given && !rule(address.ip()) {
            failure = Error::AddressNotAllowed { target };
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(source) => failure = Error::Connect { target, source },
        }
    }
    Err(failure)
}

/// The same within a time.
pub(crate) async fn dial_within(
    limit: Duration,
    resolve: &Resolve,
    host: &str,
    port: u16,
    rule: AddressRule,
) -> Result<TcpStream, Error> {
    let dialed = timeout(limit, dial(resolve, host, port, rule)).await;
    dialed.unwrap_or_else(|_| {
        let target = format!("{host}:{port}");
        Err(Error::ConnectTimeout { target, limit })
    })
}

/// Which body is read, and how much of it.
#[derive(Clone, Copy)]
pub(crate) struct BodyRule {
    pub(crate) reads: fn(StatusCode) -> bool,
    pub(crate) limit: usize,
}

/// Sends a request. The connection is driven by this future alone, so that whoever drops it (a deadline) closes the
/// connection, whatever the other end does.
pub(crate) async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    target: &str,
    rule: BodyRule,
) -> Result<Response, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |error: hyper::Error| Error::Exchange {
        target: target.to_owned(),
        source: Box::new(error),
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let mut answer = pin!(async move {
        let answer = sender.send_request(request).await;
        let (head, body) = answer.map_err(failed)?.into_parts();
        let body = if (rule.reads)(head.status) {
            let body = Limited::new(body, rule.limit).collect().await;
            body.map_err(|cause| broken(cause, target, head.status, rule.limit))?
                .to_bytes()
        } else {
            Bytes::new()
        };
        Ok(Response {
            status: head.status,
            headers: head.headers,
            body,
        })
    });
    tokio::select! {
        answer = &mut answer => answer,
        // What has arrived by then is still to be read.
        _ = connection => answer.await,
    }
}

fn broken(
    cause: Box<dyn std::error::Error + Send + Sync>,
    target: &str,
    status: StatusCode,
    limit: usize,
) -> Error {
    let target = target.to_owned();
    if cause.is::<LengthLimitError>() {
        Error::TooLarge {
            target,
            status,
            limit,
        }
    } else {
        Error::Body {
            target,
            status,
            source: cause,
        }
    }
}
