//! One request to a server that a user named: how we prove who we are, whom we trust, what comes back.

use std::{path::Path, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mainstay_http::{
    Bytes, Client, HeaderName, HeaderValue, Identity, Method, Request, Rules, Schemes, StatusCode,
    Tls, Trust, addresses, causes, header,
};

use crate::{
    config::{Auth, Ssl},
    files,
};

mod secrets;
mod url;

use secrets::Secrets;
use url::Url;

/// Largest answer that is read.
const LARGEST_ANSWER: usize = 10 * 1024 * 1024;
/// How much of an answer that is a failure is repeated.
const LONGEST_COMPLAINT: usize = 64 * 1024;
/// The original stops before the eleventh request.
const REQUESTS: usize = 10;

/// Headers that belong to the connection or follow from the request.
const OWN_HEADERS: [HeaderName; 4] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TRAILER,
];

/// What is sent where.
pub(crate) struct Delivery<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    /// Headers in order; a later one replaces an earlier one of the same name.
    pub(crate) headers: Vec<(&'a str, &'a str)>,
    /// Headers that also replace what authentication says.
    pub(crate) final_headers: Vec<(&'a str, &'a str)>,
    pub(crate) body: Bytes,
    /// For all of it.
    pub(crate) timeout: Duration,
    pub(crate) auth: &'a Auth,
    pub(crate) ssl: &'a Ssl,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
    secrets: Secrets,
}

/// Why there is no answer, or not the one that is wanted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("building HTTP client: {0}")]
    Client(String),
    #[error("creating request: {0}")]
    Request(String),
    #[error("HTTP request failed: {0}")]
    Exchange(String),
    #[error("HTTP {status}: {body}")]
    Status { status: u16, body: String },
}

impl Answer {
    /// The body, if the status says that all is well.
    pub(crate) fn accepted(self) -> Result<Bytes, Failure> {
        if self.status.is_success() {
            return Ok(self.body);
        }
        let shown = self.body.get(..LONGEST_COMPLAINT).unwrap_or(&self.body);
        let body = self.secrets.hidden_in(&String::from_utf8_lossy(shown));
        let status = self.status.as_u16();
        Err(Failure::Status { status, body })
    }
}

impl Delivery<'_> {
    /// Sends it and waits for the answer.
    pub(crate) fn send(self) -> Result<Answer, Failure> {
        let client = Client::default().with_tls(self.tls()?);
        let url = Url::parse(self.url);
        let about = |cause: &str| {
            let method = in_title_case(self.method);
            Failure::Exchange(format!("{method} \"{}\": {cause}", url.shown))
        };
        let method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| Failure::Request(format!("invalid method {:?}", self.method)))?;
        let request = Request::new(method, &url.wire).map_err(|error| match error {
            mainstay_http::Error::Url(_) if url.has_scheme() => {
                Failure::Request(format!("parse \"{}\": {}", url.shown, causes(&error)))
            }
            error => about(&causes(&error)),
        })?;
        let request = self
            .with_headers(request, &url)
            .map_err(|cause| about(&cause))?;
        let rules = Rules {
            schemes: Schemes::HttpAndHttps,
            addresses: addresses::any,
            redirected_addresses: addresses::any,
            redirects: REQUESTS - 1,
            reads_body: |_| true,
            body_limit: LARGEST_ANSWER,
            connect_timeout: self.timeout,
            total_timeout: self.timeout,
            ..Rules::default()
        };
        let request = request.with_body(self.body.clone());
        let answer = wait_for(client.send(&request, &rules))
            .map_err(|error| about(&error.to_string()))?
            .map_err(|error| match error {
                mainstay_http::Error::TooManyRedirects { .. } => {
                    about(&format!("stopped after {REQUESTS} redirects"))
                }
                error => about(&causes(&error)),
            })?;
        Ok(Answer {
            status: answer.status,
            body: answer.body,
            secrets: Secrets::of(self.auth, url.credentials.as_ref(), &self.final_headers),
        })
    }

    fn tls(&self) -> Result<Tls, Failure> {
        let mut tls = Tls::default();
        let read = |path: &str| files::read(Path::new(path), files::SMALL);
        if !self.ssl.authority.is_empty() {
            let failed = |cause| Failure::Client(format!("reading CA cert: {cause}"));
            let pem = read(&self.ssl.authority).map_err(failed)?;
            let certificates = Trust::certificates(&pem)
                .map_err(|_| Failure::Client("failed to parse CA certificate".to_owned()))?;
            tls.trust = Trust::Only(certificates);
        }
        if self.auth.kind == "mtls" {
            let failed = |cause| Failure::Client(format!("loading client certificate: {cause}"));
            let chain = read(&self.ssl.certificate).map_err(failed)?;
            let key = read(&self.ssl.key).map_err(failed)?;
            let identity = Identity::from_pem(&chain, &key).map_err(|error| failed(causes(&error)));
            tls.identity = Some(identity?);
        }
        Ok(tls)
    }

    fn with_headers(&self, request: Request, url: &Url) -> Result<Request, String> {
        let mut request = request;
        for (name, value) in &self.headers {
            request = with_header(request, name, value, false)?;
        }
        let auth = self.auth;
        let basic = |user: &str, password: &str| {
            format!(
                "Basic {}",
                BASE64_STANDARD.encode(format!("{user}:{password}"))
            )
        };
        let own = match auth.kind.as_str() {
            "token" => Some((auth.header.as_str(), auth.token.clone())),
            "bearer" => Some(("Authorization", format!("Bearer {}", auth.token))),
            "basic" => Some(("Authorization", basic(&auth.username, &auth.password))),
            _ => None,
        };
        let credentials = url.credentials.as_ref();
        let from_url = credentials.map(|(user, password)| ("Authorization", basic(user, password)));
        // What the configuration says replaces what the URL carries.
        for (name, value) in from_url.into_iter().chain(own) {
            request = with_header(request, name, &value, true)?;
        }
        for (name, value) in &self.final_headers {
            request = with_header(request, name, value, true)?;
        }
        Ok(request)
    }
}

fn with_header(
    request: Request,
    name: &str,
    value: &str,
    is_sensitive: bool,
) -> Result<Request, String> {
    let shown = name;
    let name = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("invalid header field name {shown:?}"))?;
    let mut value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| format!("invalid header field value for {shown:?}"))?;
    if OWN_HEADERS.contains(&name) {
        return Ok(request);
    }
    value.set_sensitive(is_sensitive);
    Ok(request.with_header(name, value))
}

/// `GET` as `Get`.
fn in_title_case(method: &str) -> String {
    let mut letters = method.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let others = letters.map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(others).collect()
}

/// Runs a future on this thread.
fn wait_for<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let output = runtime.block_on(future);
    // A lookup of a name cannot be cut short; nobody waits for its end.
    runtime.shutdown_background();
    Ok(output)
}
