//! Requests through redirects, under rules.

use http::{
    HeaderMap, HeaderValue, Uri,
    header::{
        AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, LOCATION, PROXY_AUTHORIZATION,
        USER_AGENT,
    },
};
use http_body_util::Full;
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

use crate::{
    addresses::AddressRule,
    connection::{self, BodyRule},
    error::Error,
    proxy::{self, Proxy},
    request::{self, Request, Response},
    resolve::Resolve,
    rules::{Rules, Schemes},
    tls::Tls,
};

/// The client. Cheap to make and to clone; it keeps no connection.
#[derive(Clone, Debug, Default)]
pub struct Client {
    resolve: Resolve,
    tls: Tls,
    proxy: Proxy,
}

/// One hop of a request.
struct Hop<'rules> {
    url: &'rules Uri,
    scheme: &'rules str,
    host: &'rules str,
    port: u16,
    addresses: AddressRule,
    rules: &'rules Rules,
}

impl Client {
    /// With other addresses for some hosts.
    #[must_use]
    pub fn with_resolve(self, resolve: Resolve) -> Self {
        Self { resolve, ..self }
    }

    /// With other trust, or an identity.
    #[must_use]
    pub fn with_tls(self, tls: Tls) -> Self {
        Self { tls, ..self }
    }

    /// Through proxies. What goes through one is looked up by it, so that of addresses only those that stand in the URL
    /// are judged.
    #[must_use]
    pub fn with_proxy(self, proxy: Proxy) -> Self {
        Self { proxy, ..self }
    }

    /// Sends a request, follows redirects, and gives the last answer. Dropping the future closes the connection.
    pub async fn send(&self, request: &Request, rules: &Rules) -> Result<Response, Error> {
        let limit = rules.total_timeout;
        let answer = timeout(limit, self.follow(request, rules)).await;
        answer.unwrap_or(Err(Error::Deadline { limit }))
    }

    async fn follow(&self, request: &Request, rules: &Rules) -> Result<Response, Error> {
        let mut request = request.clone();
        let mut addresses = rules.addresses;
        for _ in 0..=rules.redirects {
            let answer = self.once(&request, addresses, rules).await?;
            let moved = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
            match answer.headers.get(LOCATION) {
                Some(location) if moved && rules.redirects > 0 => {
                    let keeps_method = matches!(answer.status.as_u16(), 307 | 308);
                    redirect(&mut request, location, keeps_method)?;
                }
                _ => return Ok(answer),
            }
            addresses = rules.redirected_addresses;
        }
        Err(Error::TooManyRedirects {
            limit: rules.redirects,
        })
    }

    async fn once(
        &self,
        request: &Request,
        addresses: AddressRule,
        rules: &Rules,
    ) -> Result<Response, Error> {
        let hop = Hop::of(&request.url, addresses, rules)?;
        let target = hop.target();
        let body = BodyRule {
            reads: rules.reads_body,
            limit: rules.body_limit,
        };
        let proxy = self.proxy_of(&hop);
        let stream = match proxy {
            Some(server) => self.to_proxy(server, &hop).await?,
            None => self.to_host(&hop).await?,
        };
        if hop.scheme != "https" {
            return connection::exchange(stream, built(request, proxy)?, &target, body).await;
        }
        let stream = match proxy {
            Some(server) => tunnel(stream, server, &target).await?,
            None => stream,
        };
        let stream = self.protect(stream, &hop).await?;
        connection::exchange(stream, built(request, None)?, &target, body).await
    }

    /// Hosts of the table are reached directly.
    fn proxy_of(&self, hop: &Hop<'_>) -> Option<&proxy::Server> {
        if self.resolve.address(hop.host, hop.port).is_some() {
            return None;
        }
        self.proxy.of(hop.scheme, hop.host, hop.port)
    }

    async fn to_host(&self, hop: &Hop<'_>) -> Result<TcpStream, Error> {
        let limit = hop.rules.connect_timeout;
        connection::dial_within(limit, &self.resolve, hop.host, hop.port, hop.addresses).await
    }

    async fn to_proxy(&self, server: &proxy::Server, hop: &Hop<'_>) -> Result<TcpStream, Error> {
        let literal = crate::resolve::unbracketed(hop.host).parse();
        if literal.is_ok_and(|address| !(hop.addresses)(address)) {
            let target = hop.target();
            return Err(Error::AddressNotAllowed { target });
        }
        let limit = hop.rules.connect_timeout;
        let any = crate::addresses::any;
        connection::dial_within(limit, &self.resolve, &server.host, server.port, any).await
    }

    async fn protect(
        &self,
        stream: TcpStream,
        hop: &Hop<'_>,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Error> {
        let host = crate::resolve::unbracketed(hop.host);
        let target = hop.target();
        let limit = hop.rules.connect_timeout;
        let protected = timeout(limit, self.tls.protect(stream, &host, &target)).await;
        protected.unwrap_or(Err(Error::ConnectTimeout { target, limit }))
    }
}

impl<'rules> Hop<'rules> {
    fn of(url: &'rules Uri, addresses: AddressRule, rules: &'rules Rules) -> Result<Self, Error> {
        request::check(url)?;
        let scheme = url.scheme_str().unwrap_or_default();
        let port = match (scheme, rules.schemes) {
            ("https", _) => 443,
            ("http", Schemes::HttpAndHttps) => 80,
            _ => {
                let scheme = scheme.to_owned();
                return Err(Error::Scheme { scheme });
            }
        };
        let authority = url.authority().ok_or(Error::NoHost)?;
        let host = authority.host();
        if !rules.hosts.allow(host) {
            let host = host.to_owned();
            return Err(Error::HostNotAllowed { host });
        }
        Ok(Self {
            url,
            scheme,
            host,
            port: url.port_u16().unwrap_or(port),
            addresses,
            rules,
        })
    }

    fn target(&self) -> String {
        format!("{}:{}", self.url.host().unwrap_or_default(), self.port)
    }
}

/// Changes a request to what it is after a redirect: what is meant for one host, credentials and every header that is
/// marked as sensitive, is not told to another.
fn redirect(
    request: &mut Request,
    location: &HeaderValue,
    keeps_method: bool,
) -> Result<(), Error> {
    let target = request::redirected(&request.url, location)?;
    if target.authority() != request.url.authority() {
        for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
            request.headers.remove(name);
        }
        let own = std::mem::take(&mut request.headers);
        let own = own.iter().filter(|(_, value)| !value.is_sensitive());
        request.headers = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
    }
    let is_safe = request.method.is_safe();
    if !keeps_method && !is_safe {
        request.method = http::Method::GET;
        request.body = Bytes::new();
        request.headers.remove(CONTENT_TYPE);
        request.headers.remove(CONTENT_LENGTH);
    }
    request.url = target;
    Ok(())
}

/// The request as it goes over the wire; to a proxy with the whole URL.
fn built(
    request: &Request,
    proxy: Option<&proxy::Server>,
) -> Result<http::Request<Full<Bytes>>, Error> {
    let authority = request.url.authority().ok_or(Error::NoHost)?;
    let path = request
        .url
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let uri = match proxy {
        Some(_) => request.url.to_string(),
        None => path.to_owned(),
    };
    let mut headers = HeaderMap::new();
    let host = HeaderValue::from_str(authority.as_str());
    headers.insert(HOST, host.map_err(|error| Error::Url(Box::new(error)))?);
    headers.insert(USER_AGENT, HeaderValue::from_static("mainstay"));
    for (name, value) in &request.headers {
        headers.insert(name, value.clone());
    }
    if let Some(authorization) = proxy.and_then(|server| server.authorization.clone()) {
        headers.insert(PROXY_AUTHORIZATION, authorization);
    }
    let mut built = http::Request::builder()
        .method(&request.method)
        .uri(uri)
        .body(Full::new(request.body.clone()))
        .map_err(|error| Error::Url(Box::new(error)))?;
    *built.headers_mut() = headers;
    Ok(built)
}

/// Asks a proxy for a tunnel to the target.
async fn tunnel(
    stream: TcpStream,
    server: &proxy::Server,
    target: &str,
) -> Result<TcpStream, Error> {
    let refused = |reason: String| Error::Proxy {
        proxy: server.target(),
        reason,
    };
    let failed = |error: hyper::Error| refused(crate::causes(&error));
    let mut request = http::Request::connect(target).header(HOST, target);
    if let Some(authorization) = &server.authorization {
        request = request.header(PROXY_AUTHORIZATION, authorization);
    }
    let request = request.body(Full::<Bytes>::default());
    let request = request.map_err(|error| Error::Url(Box::new(error)))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let mut connection = std::pin::pin!(connection.with_upgrades());
    let answer = tokio::select! {
        answer = sender.send_request(request) => answer.map_err(failed)?,
        _ = &mut connection => return Err(refused("it closed the connection".to_owned())),
    };
    if !answer.status().is_success() {
        return Err(refused(answer.status().to_string()));
    }
    let (upgraded, _) = tokio::join!(hyper::upgrade::on(answer), connection);
    let parts = upgraded.map_err(failed)?.downcast::<TokioIo<TcpStream>>();
    match parts {
        Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io.into_inner()),
        _ => Err(refused("it spoke before it was asked".to_owned())),
    }
}
