//! Texts from the web.

use std::time::Duration;

use http::{
    HeaderValue, Request, Response, StatusCode, Uri,
    header::{HOST, LOCATION, USER_AGENT},
};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use tokio::time::timeout;

use crate::{
    connection::{self, chain},
    resolve::Resolve,
};

const TIMEOUT: Duration = Duration::from_secs(30);
const BODY_LIMIT: usize = 4 * 1024 * 1024;
const REDIRECT_LIMIT: usize = 10;

/// The body of a page. The texts of failures are the original's.
pub(crate) async fn fetch(resolve: &Resolve, url: &str) -> Result<String, String> {
    let fetched = timeout(TIMEOUT, get_text(resolve, url)).await;
    fetched.unwrap_or_else(|_| {
        Err(format!(
            "Error fetching CA bundle: Get \"{url}\": context deadline exceeded"
        ))
    })
}

async fn get_text(resolve: &Resolve, url: &str) -> Result<String, String> {
    let answer = follow(resolve, url)
        .await
        .map_err(|cause| format!("Error fetching CA bundle: Get \"{url}\": {cause}"))?;
    if answer.status() != StatusCode::OK {
        return Err(format!("Bad status code: {}: ", answer.status().as_u16()));
    }
    let body = Limited::new(answer.into_body(), BODY_LIMIT).collect().await;
    let body = body.map_err(|cause| format!("Error reading response body: {}", chain(&*cause)))?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}

/// The answer at the end of all redirects.
async fn follow(resolve: &Resolve, url: &str) -> Result<Response<Incoming>, String> {
    let mut uri: Uri = url.parse().map_err(|error| chain(&error))?;
    for _ in 0..=REDIRECT_LIMIT {
        let answer = get(resolve, &uri).await?;
        let moved = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
        match answer.headers().get(LOCATION) {
            Some(location) if moved => uri = moved_to(&uri, location)?,
            _ => return Ok(answer),
        }
    }
    Err(format!("stopped after {REDIRECT_LIMIT} redirects"))
}

fn moved_to(uri: &Uri, location: &HeaderValue) -> Result<Uri, String> {
    let location = location.to_str().map_err(|error| chain(&error))?;
    let target: Uri = location.parse().map_err(|error| chain(&error))?;
    if target.scheme().is_some() {
        return Ok(target);
    }
    // A path alone means the same host.
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = target.into_parts().path_and_query;
    Uri::from_parts(parts).map_err(|error| chain(&error))
}

async fn get(resolve: &Resolve, uri: &Uri) -> Result<Response<Incoming>, String> {
    let authority = uri.authority().ok_or("no Host in request URL")?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header(HOST, authority.as_str())
        .header(USER_AGENT, "mainstay")
        .body(Empty::<Bytes>::new())
        .map_err(|error| chain(&error))?;
    let host = authority.host();
    match uri.scheme_str() {
        Some("http") => {
            let port = authority.port_u16().unwrap_or(80);
            connection::exchange(connection::connect(resolve, host, port).await?, request).await
        }
        Some("https") => {
            let port = authority.port_u16().unwrap_or(443);
            connection::exchange(connection::connect_tls(resolve, host, port).await?, request).await
        }
        scheme => Err(format!(
            "unsupported protocol scheme {:?}",
            scheme.unwrap_or_default()
        )),
    }
}
