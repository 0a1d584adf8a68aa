//! Texts from the web.

use mainstay_http::{
    Client, Error, Request, Resolve, Response, Rules, Schemes, StatusCode, addresses,
};
use tokio::time::Instant;

use crate::words;

const BODY_LIMIT: usize = 4 * 1024 * 1024;
const REDIRECT_LIMIT: usize = 10;

/// The body of a page. The texts of failures are the original's.
pub(crate) async fn fetch(
    resolve: &Resolve,
    url: &str,
    deadline: Instant,
) -> Result<String, String> {
    let answer = match get(resolve, url, deadline).await {
        Ok(answer) => answer,
        Err(error @ (Error::Body { .. } | Error::TooLarge { .. })) => {
            return Err(format!(
                "Error reading response body: {}",
                words::told(&error)
            ));
        }
        Err(error) => {
            let cause = words::told(&error);
            return Err(format!("Error fetching CA bundle: Get \"{url}\": {cause}"));
        }
    };
    if answer.status != StatusCode::OK {
        return Err(format!("Bad status code: {}: ", answer.status.as_u16()));
    }
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

/// Whoever writes an environment may name a server in the cluster, or one of the operator's own pod, but not the node. A
/// server that we were sent to must not send us on to the operator's own pod either.
async fn get(resolve: &Resolve, url: &str, deadline: Instant) -> Result<Response, Error> {
    let left = deadline.saturating_duration_since(Instant::now());
    let rules = Rules {
        schemes: Schemes::HttpAndHttps,
        addresses: addresses::not_link_local,
        redirects: REDIRECT_LIMIT,
        reads_body: |status| status == StatusCode::OK,
        body_limit: BODY_LIMIT,
        connect_timeout: left,
        total_timeout: left,
        ..Rules::default()
    };
    let client = Client::default().with_resolve(resolve.clone());
    client.send(&Request::get(url)?, &rules).await
}
