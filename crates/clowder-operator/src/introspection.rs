//! The introspection API: what the operator is configured to do, and whom it looks after. For people on the same
//! machine only.

use std::{future::Future, io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use mainstay_clowder::settings::OperatorConfig;
use tokio::net::TcpListener;

use crate::metrics::{Ident, OperatorMetrics, ReconciledRoots};

/// Where the original serves it.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2019";

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Binds an address; `0` means none. The operator can do without: an address that is taken, or that others could
/// reach, is warned about and not listened on.
pub async fn bind(address: &str) -> Option<TcpListener> {
    if address == "0" || address.is_empty() {
        return None;
    }
    let warn = |reason: &dyn std::fmt::Display| {
        tracing::warn!(address, %reason, "The introspection API is not served");
    };
    match address.parse::<SocketAddr>() {
        Ok(parsed) if parsed.ip().is_loopback() => {}
        Ok(_) => {
            warn(&"it is for this machine only");
            return None;
        }
        Err(error) => {
            warn(&error);
            return None;
        }
    }
    match TcpListener::bind(address).await {
        Ok(listener) => Some(listener),
        Err(error) => {
            warn(&error);
            None
        }
    }
}

/// Serves until dropped.
pub(crate) fn serve(
    listener: TcpListener,
    config: &OperatorConfig,
    metrics: Arc<OperatorMetrics>,
) -> impl Future<Output = io::Result<()>> + use<> {
    let pages = Arc::new(Pages {
        config: serde_json::to_string(config).unwrap_or_default(),
        metrics,
    });
    let answer = move |request: Request| {
        let pages = pages.clone();
        async move { pages.answer(&request) }
    };
    let router = Router::new().fallback(answer);
    async move { axum::serve(listener, router).await }
}

#[derive(Debug)]
struct Pages {
    config: String,
    metrics: Arc<OperatorMetrics>,
}

impl Pages {
    /// Every page answers for everything below it, whatever the method.
    fn answer(&self, request: &Request) -> Response {
        let path = request.uri().path();
        let pages: [(&str, &dyn Fn() -> String); 5] = [
            ("/config", &|| self.config.clone()),
            ("/clowdapps/present", &|| {
                list(self.metrics.apps(), ReconciledRoots::present)
            }),
            ("/clowdapps/managed", &|| {
                list(self.metrics.apps(), ReconciledRoots::managed)
            }),
            ("/clowdenvs/present", &|| {
                list(self.metrics.environments(), ReconciledRoots::present)
            }),
            ("/clowdenvs/managed", &|| {
                list(self.metrics.environments(), ReconciledRoots::managed)
            }),
        ];
        for (page, body) in pages {
            match path.strip_prefix(page) {
                Some("") => return redirect(request, page),
                Some(rest) if rest.starts_with('/') => {
                    return ([(header::CONTENT_TYPE, JSON)], body()).into_response();
                }
                _ => {}
            }
        }
        let headers = [
            (header::CONTENT_TYPE, TEXT),
            (
                header::X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ),
        ];
        (StatusCode::NOT_FOUND, headers, "404 page not found\n").into_response()
    }
}

/// Parity: a set without members is `null`, not an empty list.
fn list(roots: &ReconciledRoots, members: fn(&ReconciledRoots) -> Vec<Ident>) -> String {
    let members = members(roots);
    if members.is_empty() {
        return "null".to_owned();
    }
    let members: Vec<&str> = members.iter().map(|ident| &**ident).collect();
    serde_json::to_string(&members).unwrap_or_default()
}

/// To the same page with a slash at its end.
fn redirect(request: &Request, page: &str) -> Response {
    let target = match request.uri().query() {
        None => format!("{page}/"),
        Some(query) => format!("{page}/?{query}"),
    };
    let Ok(location) = HeaderValue::from_str(&target) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut response = StatusCode::TEMPORARY_REDIRECT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location);
    // Only who reads gets something to read.
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        headers.insert(header::CONTENT_TYPE, HTML);
        let link = escaped(&target);
        *response.body_mut() =
            Body::from(format!("<a href=\"{link}\">Temporary Redirect</a>.\n\n"));
    }
    response
}

fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&#34;".to_owned(),
        '\'' => "&#39;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests;
