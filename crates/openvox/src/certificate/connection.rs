//! How an authority is reached: whom to trust, and what to show.

use mainstay_api::openvox::certificate_authority::ExternalAuthority;
use mainstay_pki::{Certificate, PrivateKey};

use crate::{
    effect::{self, Connection, Hidden, Identity, Trust},
    names::{self, keys},
    quote,
    references::{Unresolved, Values},
    views::SignerAuthority,
};

/// A Secret with a certificate and its key, and the names of the two.
struct Pair<'secret> {
    secret: &'secret str,
    certificate: &'static str,
    key: &'static str,
}

/// For what everybody may do: submit, fetch, read the revocation list.
pub fn open(authority: &SignerAuthority, values: &Values<'_>) -> Result<Connection, Unresolved> {
    match &authority.spec.external {
        None => internal(authority, values, None),
        Some(external) => outside(external, values, outside_pair(external)),
    }
}

/// For what needs a certificate of the authority itself: sign and clean with that of the operator, renew with the one
/// that is to be renewed. An outside authority is reached with its own settings.
pub fn identified(
    authority: &SignerAuthority,
    values: &Values<'_>,
    secret: &str,
) -> Result<Connection, Unresolved> {
    let pair = Pair {
        secret,
        certificate: keys::CERTIFICATE,
        key: keys::KEY,
    };
    match &authority.spec.external {
        None => internal(authority, values, Some(pair)),
        Some(external) => outside(external, values, Some(pair)),
    }
}

fn internal(
    authority: &SignerAuthority,
    values: &Values<'_>,
    pair: Option<Pair<'_>>,
) -> Result<Connection, Unresolved> {
    let secret = names::authority_secret(&authority.name);
    let trust = trusted(values, &secret).and_then(|trust| {
        // Whom the system trusts has no say about an authority of this cluster.
        let missing = || {
            let key = quote::go(keys::CA_CERTIFICATE);
            Unresolved::Missing(format!("key {key} not found in Secret {secret}"))
        };
        trust.ok_or_else(missing)
    });
    let trust = trust.map_err(|error| error.context("loading CA certificate"));
    let identity = pair.map(|pair| identity(values, &pair)).transpose();
    Ok(Connection {
        base: effect::internal_base(&authority.name, &authority.namespace),
        service: Some((
            authority.namespace.clone(),
            names::authority_service(&authority.name),
        )),
        trust: trust?,
        identity: identity?,
    })
}

fn outside(
    external: &ExternalAuthority,
    values: &Values<'_>,
    pair: Option<Pair<'_>>,
) -> Result<Connection, Unresolved> {
    let trust = match external.ca_secret_ref.as_str() {
        _ if external.insecure_skip_verify => Ok(Trust::Anybody),
        "" => Ok(Trust::System),
        // Parity: an empty value means the system's.
        secret => trusted(values, secret).map(|trust| trust.unwrap_or(Trust::System)),
    };
    let identity = pair.map(|pair| identity(values, &pair)).transpose();
    Ok(Connection {
        base: external.url.clone(),
        service: None,
        trust: trust?,
        identity: identity?,
    })
}

fn outside_pair(external: &ExternalAuthority) -> Option<Pair<'_>> {
    let secret = external.tls_secret_ref.as_str();
    (!secret.is_empty()).then_some(Pair {
        secret,
        certificate: keys::TLS_CERTIFICATE,
        key: keys::TLS_KEY,
    })
}

/// Certificates to trust; `None` if the Secret has none.
fn trusted(values: &Values<'_>, secret: &str) -> Result<Option<Trust>, Unresolved> {
    let missing = |text: String| Unresolved::Missing(text);
    let Some(data) = values.secret(secret)? else {
        let name = quote::go(secret);
        return Err(missing(format!(
            "getting CA Secret {secret}: Secret {name} not found"
        )));
    };
    match data.bytes(keys::CA_CERTIFICATE) {
        None | Some([]) => Ok(None),
        Some(pem) if Certificate::bundle(pem).is_ok() => Ok(Some(Trust::Only(pem.to_vec()))),
        Some(_) => Err(missing(format!(
            "failed to parse CA certificate from Secret {secret}"
        ))),
    }
}

fn identity(values: &Values<'_>, pair: &Pair<'_>) -> Result<Identity, Unresolved> {
    let Pair {
        secret,
        certificate,
        key,
    } = pair;
    let missing = |text: String| Unresolved::Missing(text);
    let Some(data) = values.secret(secret)? else {
        let name = quote::go(secret);
        return Err(missing(format!(
            "getting TLS Secret {secret}: Secret {name} not found"
        )));
    };
    let given = |name| data.bytes(name).filter(|value| !value.is_empty());
    let (Some(certificate), Some(key)) = (given(certificate), given(key)) else {
        return Err(missing(format!(
            "TLS Secret {secret} missing {certificate} or {key}"
        )));
    };
    let unusable = |error: mainstay_pki::Error| {
        missing(format!(
            "parsing client certificate from Secret {secret}: {error}"
        ))
    };
    let read = Certificate::from_pem(certificate).map_err(unusable)?;
    let private = PrivateKey::from_pem(key).map_err(unusable)?;
    if !read.belongs_to(&private) {
        return Err(missing(format!(
            "parsing client certificate from Secret {secret}: the key is not that of the certificate"
        )));
    }
    Ok(Identity {
        certificate: certificate.to_vec(),
        key: Hidden(key.to_vec()),
    })
}
