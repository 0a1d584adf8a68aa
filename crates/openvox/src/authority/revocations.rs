//! The revocation list of an authority, fetched again and again.

use k8s_openapi::api::core::v1::Secret;
use mainstay_api::openvox::CertificateAuthoritySpec;
use mainstay_pki::RevocationList;

use super::objects;
use crate::{
    duration,
    effect::Reply,
    names::{self, keys},
    objects::secret,
    quote,
    views::SeenAuthority,
};

/// Seconds between two fetches where nothing else is said.
const DEFAULT_INTERVAL: i64 = 300;
/// Seconds after a failure.
pub const RETRY: i64 = 30;

/// Seconds between two fetches; zero fetches it once.
pub fn interval(spec: &CertificateAuthoritySpec) -> Result<i64, String> {
    let asked = &spec.crl_refresh_interval;
    if asked.is_empty() {
        return Ok(DEFAULT_INTERVAL);
    }
    let interval = duration::parse(asked);
    interval.map_err(|error| format!("parsing crlRefreshInterval {}: {error}", quote::go(asked)))
}

/// The list that an authority answered with, or why there is none. Anything else than a list is not taken: servers would
/// refuse every connection.
pub fn fetched(reply: &Reply) -> Result<&str, String> {
    let Reply { code, body } = reply;
    if *code != 200 {
        return Err(format!(
            "fetching CRL: CA returned HTTP {code} for CRL: {body}"
        ));
    }
    match RevocationList::bundle(body.as_bytes()) {
        Ok(_) => Ok(body),
        Err(error) => Err(format!("fetching CRL: {error}")),
    }
}

/// What the event of a fetch says.
pub fn refreshed_message(interval: i64) -> String {
    let interval = duration::show(interval);
    format!("CRL refreshed successfully, next refresh in {interval}")
}

/// What the event of a failure says.
pub fn failed_message(error: &str) -> String {
    format!("CRL refresh failed: {error}")
}

/// The Secret with the list. Parity: what the setup stored beside it goes.
pub fn revocation_secret(authority: &SeenAuthority, list: &str) -> Secret {
    let name = names::revocation_secret(&authority.name);
    let metadata = objects::owner(authority).metadata(name, objects::labels(&authority.name));
    secret(metadata, [(keys::CA_REVOCATIONS, list.as_bytes())])
}
