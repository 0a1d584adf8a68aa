//! Connections, and one request over one of them: errands are too rare to keep any open.

use std::{error::Error, sync::Arc};

use http::{Request, Response};
use http_body_util::Empty;
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::ServerName,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::resolve::Resolve;

/// Opens a connection.
pub(crate) async fn connect(resolve: &Resolve, host: &str, port: u16) -> Result<TcpStream, String> {
    let (name, number) = resolve.target(host, port);
    TcpStream::connect((name.as_str(), number))
        .await
        .map_err(|error| format!("dial tcp {name}:{number}: {error}"))
}

/// Opens a connection that is encrypted, and whose other end has proved who it is.
pub(crate) async fn connect_tls(
    resolve: &Resolve,
    host: &str,
    port: u16,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| chain(&error))?;
    let connector = TlsConnector::from(Arc::new(tls_config()?));
    let stream = connect(resolve, host, port).await?;
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

/// Sends a request without a body, and returns the answer as soon as its head is there.
pub(crate) async fn exchange<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
) -> Result<Response<Incoming>, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| chain(&error))?;
    // It ends by itself when the answer has been read or dropped.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await;
    answer.map_err(|error| chain(&error))
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
