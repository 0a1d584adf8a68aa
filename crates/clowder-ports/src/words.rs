//! Failures of the HTTP client in the words of the original's.

use mainstay_http::{Error, causes};

/// What went wrong, as the client of Go tells it.
pub(crate) fn told(error: &Error) -> String {
    match error {
        Error::NoHost => "no Host in request URL".to_owned(),
        Error::Scheme { scheme } => format!("unsupported protocol scheme {scheme:?}"),
        Error::Lookup { target, source } | Error::Connect { target, source } => {
            format!("dial tcp {target}: {source}")
        }
        Error::NoAddress { target } => format!("dial tcp {target}: no such host"),
        Error::AddressNotAllowed { target } => {
            format!("dial tcp {target}: this address is not allowed here")
        }
        Error::Tls { source, .. } => format!("tls: {source}"),
        Error::Url(source)
        | Error::BadRedirect(source)
        | Error::Exchange { source, .. }
        | Error::Body { source, .. } => causes(&**source),
        Error::Downgrade { target } => format!("redirect from https to {target} refused"),
        Error::ConnectTimeout { .. } | Error::Deadline { .. } => {
            "context deadline exceeded".to_owned()
        }
        other => causes(other),
    }
}
