//! What can go wrong, as values. Texts name hosts and ports, never a query, a credential, a header or a body.

use std::{io, time::Duration};

use http::StatusCode;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A request that came to no answer, or to one that may not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL cannot be read.
    #[error("the URL is not valid")]
    Url(#[source] Cause),
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The URL carries a user name or password.
    #[error("the URL must not carry credentials")]
    Credentials,
    /// The scheme is not allowed.
    #[error("the scheme `{scheme}` is not allowed")]
    Scheme {
        /// The scheme; empty if there is none.
        scheme: String,
    },
    /// The host is not in the list of those that are allowed.
    #[error("the host `{host}` is not allowed")]
    HostNotAllowed {
        /// The host.
        host: String,
    },
    /// The name has no address.
    #[error("could not look up `{target}`")]
    Lookup {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The name has no address at all.
    #[error("`{target}` has no address")]
    NoAddress {
        /// Host and port.
        target: String,
    },
    /// All addresses of the name are forbidden.
    #[error("the address of `{target}` is not allowed")]
    AddressNotAllowed {
        /// Host and port.
        target: String,
    },
    /// Nobody answers at the address.
    #[error("could not connect to `{target}`")]
    Connect {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The connection took too long.
    #[error("could not connect to `{target}` within {} seconds", limit.as_secs_f32())]
    ConnectTimeout {
        /// Host and port.
        target: String,
        /// The limit.
        limit: Duration,
    },
    /// The other end did not prove who it is, or speaks no TLS.
    #[error("could not agree on TLS with `{target}`")]
    Tls {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// Certificates or keys of our own cannot be used.
    #[error("could not prepare TLS: {what}")]
    TlsSetup {
        /// What cannot be used.
        what: &'static str,
        /// Cause.
        #[source]
        source: Cause,
    },
    /// The proxy does not let us through.
    #[error("the proxy `{proxy}` refused: {reason}")]
    Proxy {
        /// Host and port of the proxy.
        proxy: String,
        /// What it said.
        reason: String,
    },
    /// The exchange of request and answer failed.
    #[error("the exchange with `{target}` failed")]
    Exchange {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        source: Cause,
    },
    /// The body of the answer broke off.
    #[error("the answer of `{target}` broke off")]
    Body {
        /// Host and port.
        target: String,
        /// Status of the answer.
        status: StatusCode,
        /// Cause.
        #[source]
        source: Cause,
    },
    /// The body of the answer is larger than allowed.
    #[error("the answer of `{target}` is larger than {limit} bytes")]
    TooLarge {
        /// Host and port.
        target: String,
        /// Status of the answer.
        status: StatusCode,
        /// The limit.
        limit: usize,
    },
    /// Too many redirects.
    #[error("stopped after {limit} redirects")]
    TooManyRedirects {
        /// The limit.
        limit: usize,
    },
    /// A redirect leads to a place that cannot be read.
    #[error("the redirect leads nowhere")]
    BadRedirect(#[source] Cause),
    /// A redirect leads from https to something else.
    #[error("the redirect from https to `{target}` is not followed")]
    Downgrade {
        /// Scheme, host and path.
        target: String,
    },
    /// All of it took too long.
    #[error("it took longer than {} seconds", limit.as_secs_f32())]
    Deadline {
        /// The limit.
        limit: Duration,
    },
}

/// An error with all its causes in one line, each once.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}
