//! Connections, and one request over one of them: effects are too rare to keep any open.

use std::{error::Error, net::IpAddr, pin::pin, sync::Arc};

use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::ServerName,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
};
use tokio_rustls::TlsConnector;

use crate::resolve::Resolve;

/// Which addresses a connection may go to.
pub(crate) type AddressRule = fn(IpAddr) -> bool;

/// Opens a connection.
pub(crate) async fn connect(resolve: &Resolve, host: &str, port: u16) -> Result<TcpStream, String> {
    connect_by(resolve, host, port, |_| true).await
}

/// Opens a connection to one of the addresses of the host that the rule allows. The address that was judged is the one
/// that is used: a name that is looked up twice may have two answers. Addresses given by the person who runs the operator
/// are not judged.
pub(crate) async fn connect_by(
    resolve: &Resolve,
    host: &str,
    port: u16,
    rule: AddressRule,
) -> Result<TcpStream, String> {
    let (name, number) = resolve.target(host, port);
    let dial = |error: &dyn Error| format!("dial tcp {name}:{number}: {error}");
    let given = resolve.address(host, port).is_some();
    let addresses = lookup_host((name.as_str(), number)).await;
    let addresses = addresses.map_err(|error| dial(&error))?;
    let mut failure = format!("dial tcp {name}:{number}: no such host");
    for address in addresses {
        if !given && !rule(address.ip()) {
            failure = format!("dial tcp {name}:{number}: this address is not allowed here");
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = dial(&error),
        }
    }
    Err(failure)
}

/// Opens a connection that is encrypted, and whose other end has proved who it is.
pub(crate) async fn connect_tls(
    resolve: &Resolve,
    host: &str,
    port: u16,
    rule: AddressRule,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| chain(&error))?;
    let connector = TlsConnector::from(Arc::new(tls_config()?));
    let stream = connect_by(resolve, host, port, rule).await?;
    let stream = connector.connect(name, stream).await;
    stream.map_err(|error| format!("tls: {error}"))
}

/// Trusts what the machine trusts. Certificates are read anew each time: they may have been replaced.
fn tls_config() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| chain(&error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// What was read of the body, or why it could not be.
    pub(crate) body: Result<Bytes, String>,
}

/// Which body is read, by the status of the answer, and how much of it at most.
#[derive(Clone, Copy)]
pub(crate) struct BodyRule {
    pub(crate) read: fn(StatusCode) -> bool,
    pub(crate) limit: usize,
}

/// Sends a request without a body. The connection is driven by this future alone, so that whoever drops it (a deadline)
/// closes the connection, whatever the other end does.
pub(crate) async fn exchange<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
    rule: BodyRule,
) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| chain(&error))?;
    let mut answer = pin!(async move {
        let answer = sender.send_request(request).await;
        let (head, body) = answer.map_err(|error| chain(&error))?.into_parts();
        let body = if (rule.read)(head.status) {
            let body = Limited::new(body, rule.limit).collect().await;
            body.map(http_body_util::Collected::to_bytes)
                .map_err(|cause| chain(&*cause))
        } else {
            Ok(Bytes::new())
        };
        Ok(Answer {
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

/// An error with all its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
