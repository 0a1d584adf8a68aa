//! Texts from the web.

use std::net::IpAddr;

use http::{
    HeaderValue, Request, StatusCode, Uri,
    header::{HOST, LOCATION, USER_AGENT},
};
use http_body_util::Empty;
use hyper::body::Bytes;
use tokio::time::{Instant, timeout_at};

use crate::{
    connection::{self, AddressRule, Answer, BodyRule, chain},
    resolve::Resolve,
};

const BODY: BodyRule = BodyRule {
    read: |status| status == StatusCode::OK,
    limit: 4 * 1024 * 1024,
};
const REDIRECT_LIMIT: usize = 10;

/// The body of a page. The texts of failures are the original's.
pub(crate) async fn fetch(
    resolve: &Resolve,
    url: &str,
    deadline: Instant,
) -> Result<String, String> {
    let fetched = timeout_at(deadline, get_text(resolve, url)).await;
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
    if answer.status != StatusCode::OK {
        return Err(format!("Bad status code: {}: ", answer.status.as_u16()));
    }
    let body = answer
        .body
        .map_err(|cause| format!("Error reading response body: {cause}"))?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// The answer at the end of all redirects.
async fn follow(resolve: &Resolve, url: &str) -> Result<Answer, String> {
    let mut uri: Uri = url.parse().map_err(|error| chain(&error))?;
    let mut rule: AddressRule = chosen_by_the_environment;
    for _ in 0..=REDIRECT_LIMIT {
        let answer = get(resolve, &uri, rule).await?;
        let moved = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        match answer.headers.get(LOCATION) {
            Some(location) if moved => uri = moved_to(&uri, location)?,
            _ => return Ok(answer),
        }
        rule = chosen_by_a_server;
    }
    Err(format!("stopped after {REDIRECT_LIMIT} redirects"))
}

fn moved_to(uri: &Uri, location: &HeaderValue) -> Result<Uri, String> {
    let location = location.to_str().map_err(|error| chain(&error))?;
    let target: Uri = location.parse().map_err(|error| chain(&error))?;
    let target = if target.scheme().is_some() {
        target
    } else {
        // A path alone means the same host.
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = target.into_parts().path_and_query;
        Uri::from_parts(parts).map_err(|error| chain(&error))?
    };
    // Who asked for certificates over TLS must not get them from anybody on the way.
    if uri.scheme_str() == Some("https") && target.scheme_str() != Some("https") {
        return Err(format!("redirect from https to {target} refused"));
    }
    Ok(target)
}

/// Link-local addresses belong to the node: the cloud's metadata service, with the node's credentials, is there.
fn chosen_by_the_environment(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !address.is_link_local(),
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    }
}

/// A server that we were sent to must not send us on to the operator's own pod either.
fn chosen_by_a_server(address: IpAddr) -> bool {
    let address = address.to_canonical();
    chosen_by_the_environment(address)
        && !address.is_loopback()
        && !address.is_unspecified()
        && !address.is_multicast()
}

async fn get(resolve: &Resolve, uri: &Uri, rule: AddressRule) -> Result<Answer, String> {
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
            let stream = connection::connect_by(resolve, host, port, rule).await?;
            connection::exchange(stream, request, BODY).await
        }
        Some("https") => {
            let port = authority.port_u16().unwrap_or(443);
            let stream = connection::connect_tls(resolve, host, port, rule).await?;
            connection::exchange(stream, request, BODY).await
        }
        scheme => Err(format!(
            "unsupported protocol scheme {:?}",
            scheme.unwrap_or_default()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_redirect_leads_from_tls_to_plain_text() {
        let moved = |from: &str, to: &str| {
            let to = HeaderValue::from_str(to).unwrap();
            moved_to(&from.parse().unwrap(), &to).map(|uri| uri.to_string())
        };
        let refused = moved("https://a.example/b", "http://a.example/b").unwrap_err();
        assert_eq!(refused, "redirect from https to http://a.example/b refused");
        assert!(moved("https://a.example/b", "ftp://a.example/b").is_err());
        let kept = Ok("https://a.example/c".to_owned());
        assert_eq!(moved("https://a.example/b", "/c"), kept);
        assert_eq!(moved("http://a.example/b", "https://a.example/c"), kept);
    }

    #[test]
    fn nobody_is_asked_who_only_the_node_may_ask() {
        let judged = |text: &str| {
            let address = text.parse().unwrap();
            (
                chosen_by_the_environment(address),
                chosen_by_a_server(address),
            )
        };
        for metadata in ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254"] {
            assert_eq!(judged(metadata), (false, false), "{metadata}");
        }
        for own in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"] {
            assert_eq!(judged(own), (true, false), "{own}");
        }
        for other in ["10.1.2.3", "52.216.1.1", "fd00::1", "2600::1"] {
            assert_eq!(judged(other), (true, true), "{other}");
        }
    }
}
