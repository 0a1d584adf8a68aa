//! Requests and answers.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use hyper::body::Bytes;

use crate::error::Error;

/// A request. Headers and body are not shown in its debug form.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// A request to a URL; one that carries credentials is refused.
    pub fn new(method: Method, url: &str) -> Result<Self, Error> {
        let uri: Uri = url.parse().map_err(|error| Error::Url(Box::new(error)))?;
        check(&uri)?;
        Ok(Self {
            method,
            url: uri,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        })
    }

    /// A GET.
    pub fn get(url: &str) -> Result<Self, Error> {
        Self::new(Method::GET, url)
    }

    /// With a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// With a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, shown(&self.url))
    }
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body; empty if the rules say that it is not read.
    pub body: Bytes,
}

/// What every URL has to have, or must not have.
pub(crate) fn check(url: &Uri) -> Result<(), Error> {
    let authority = url.authority().ok_or(Error::NoHost)?;
    if authority.as_str().contains('@') {
        return Err(Error::Credentials);
    }
    if authority.host().is_empty() {
        return Err(Error::NoHost);
    }
    Ok(())
}

/// A URL for people: queries may carry signatures.
pub(crate) fn shown(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or_default();
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{authority}{}", url.path())
}

/// Where a redirect leads, seen from the URL that answered.
pub(crate) fn redirected(from: &Uri, location: &HeaderValue) -> Result<Uri, Error> {
    let bad = |cause: Box<dyn std::error::Error + Send + Sync>| Error::BadRedirect(cause);
    let location = location.to_str().map_err(|error| bad(error.into()))?;
    let location = location.split('#').next().unwrap_or_default();
    let scheme = from.scheme_str().unwrap_or_default();
    let authority = from.authority().map_or("", |authority| authority.as_str());
    let text = if has_scheme(location) {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let above = from.path().rsplit_once('/').map_or("", |(above, _)| above);
        format!("{scheme}://{authority}{}", joined(above, location))
    };
    let target: Uri = text
        .parse()
        .map_err(|error: http::uri::InvalidUri| bad(error.into()))?;
    check(&target)?;
    if scheme == "https" && target.scheme_str() != Some("https") {
        let target = shown(&target);
        return Err(Error::Downgrade { target });
    }
    Ok(target)
}

fn has_scheme(location: &str) -> bool {
    location.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A relative path below another, dots resolved; a query stays as it is.
fn joined(above: &str, relative: &str) -> String {
    let (path, query) = match relative.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (relative, String::new()),
    };
    let mut steps: Vec<&str> = above.split('/').skip(1).collect();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    format!("/{}{query}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(from: &str, to: &str) -> Result<String, Error> {
        let to = HeaderValue::from_str(to).unwrap();
        redirected(&from.parse().unwrap(), &to).map(|url| url.to_string())
    }

    #[test]
    fn a_redirect_is_read_from_where_it_was_given() {
        for (to, expected) in [
            ("/c", "https://a.example/c"),
            ("c?d=1", "https://a.example/b/c?d=1"),
            ("../c", "https://a.example/c"),
            ("./c#part", "https://a.example/b/c"),
            ("?x=y", "https://a.example/b/x?x=y"),
            ("//b.example/c", "https://b.example/c"),
            ("https://b.example/c", "https://b.example/c"),
        ] {
            assert_eq!(
                moved("https://a.example/b/x", to).unwrap(),
                expected,
                "{to}"
            );
        }
        assert_eq!(
            moved("http://a.example/", "https://a.example/c").unwrap(),
            "https://a.example/c"
        );
    }

    #[test]
    fn no_redirect_leads_from_tls_to_plain_text_or_carries_credentials() {
        let refused = moved("https://a.example/b", "http://a.example/b?token=1").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the redirect from https to `http://a.example/b` is not followed"
        );
        assert!(moved("https://a.example/b", "ftp://a.example/b").is_err());
        let refused = moved("http://a.example/b", "http://me:word@a.example/b").unwrap_err();
        assert!(matches!(refused, Error::Credentials));
    }

    #[test]
    fn a_url_with_credentials_is_refused_without_repeating_them() {
        for url in ["https://me:word@a.example/b", "https://token@a.example/"] {
            let refused = Request::get(url).unwrap_err();
            assert_eq!(refused.to_string(), "the URL must not carry credentials");
        }
        assert!(matches!(Request::get("/path").unwrap_err(), Error::NoHost));
        let request = Request::get("https://a.example/b?sig=secret").unwrap();
        assert_eq!(format!("{request:?}"), "GET https://a.example/b");
    }
}
