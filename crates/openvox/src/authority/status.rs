//! What a CertificateAuthority has to say of itself.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_api::openvox::{
    CertificateAuthorityStatus, certificate_authority::CertificateAuthorityPhase,
};
use mainstay_engine::{
    conditions::{self, Wanted},
    reconciler::Event,
};
use mainstay_pki::Certificate;

use super::signing::Signing;
use crate::names;

/// How far an authority is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for a Config, or for the Secret of an outside authority.
    Waiting,
    /// It is being set up.
    Initializing,
    /// It is there.
    Ready {
        /// When its certificate ends.
        not_after: Option<Timestamp>,
        /// How far the operator's own certificate is.
        signing: Signing,
        /// The Secret to sign with.
        signing_secret: Option<String>,
    },
    /// It is outside this cluster.
    External {
        /// Its address.
        url: String,
        /// The Secret with its certificate.
        secret: String,
        /// When its certificate ends.
        not_after: Option<Timestamp>,
    },
}

/// Status and events of an authority.
pub fn status(
    before: &CertificateAuthorityStatus,
    name: &str,
    state: &State,
    now: &Time,
) -> (CertificateAuthorityStatus, Vec<Event>) {
    let mut status = before.clone();
    let (wanted, events) = match state {
        State::Waiting => {
            if status.phase.as_str().is_empty() {
                status.phase = CertificateAuthorityPhase::Pending;
            }
            (Vec::new(), Vec::new())
        }
        State::Initializing => {
            status.phase = CertificateAuthorityPhase::Initializing;
            (Vec::new(), Vec::new())
        }
        State::Ready {
            not_after,
            signing,
            signing_secret,
        } => {
            status.phase = CertificateAuthorityPhase::Ready;
            status.ca_secret_name = names::authority_secret(name);
            status.service_name = names::authority_service(name);
            status.not_after = not_after.map(Time);
            if let Some(secret) = signing_secret {
                status.signing_secret_name.clone_from(secret);
            }
            ready(before, name, *signing)
        }
        State::External {
            url,
            secret,
            not_after,
        } => {
            status.phase = CertificateAuthorityPhase::External;
            status.ca_secret_name.clone_from(secret);
            status.not_after = not_after.map(Time);
            let message = format!("External CA configured at {url}");
            let is_new = before.phase != CertificateAuthorityPhase::External;
            let event = is_new.then(|| normal("CAExternal", message.clone()));
            let wanted = condition("CAReady", "ExternalCA", message);
            (vec![wanted], Vec::from_iter(event))
        }
    };
    if !wanted.is_empty() {
        status.conditions = conditions::merge(&status.conditions, &wanted, None, now);
    }
    (status, events)
}

fn ready(
    before: &CertificateAuthorityStatus,
    name: &str,
    signing: Signing,
) -> (Vec<Wanted>, Vec<Event>) {
    let message = "CA is initialized and ready".to_owned();
    let mut events = Vec::new();
    if before.phase != CertificateAuthorityPhase::Ready {
        events.push(normal("CAInitialized", message.clone()));
    }
    let mut wanted = vec![condition("CAReady", "CAInitialized", message)];
    let certificate = names::signing_certificate(name);
    match signing {
        // Told when it was made: see `created_signing`.
        Signing::Create | Signing::Waiting => {}
        Signing::Active => {
            let message = format!("Operator signing certificate {certificate} is active");
            if !is_true(before, OPERATOR_SIGNING) {
                events.push(normal(OPERATOR_SIGNING, message.clone()));
            }
            wanted.push(condition(OPERATOR_SIGNING, OPERATOR_SIGNING, message));
        }
    }
    (wanted, events)
}

/// Type, reason and event of the operator's own certificate.
const OPERATOR_SIGNING: &str = "OperatorSigningReady";

fn is_true(status: &CertificateAuthorityStatus, r#type: &str) -> bool {
    let mut conditions = status.conditions.iter();
    conditions.any(|condition| condition.type_ == r#type && condition.status == "True")
}

/// The event of an authority that no Config names.
pub fn waiting_for_config(name: &str) -> Event {
    normal(
        "WaitingForConfig",
        format!("Waiting for a Config with authorityRef: {name}"),
    )
}

/// The event of the operator's own certificate, when it was made.
pub fn created_signing(name: &str) -> Event {
    let certificate = names::signing_certificate(name);
    normal(
        "OperatorSigningCreated",
        format!("Created operator-signing Certificate {certificate}"),
    )
}

fn condition(r#type: &'static str, reason: &'static str, message: String) -> Wanted {
    Wanted {
        r#type,
        status: "True",
        reason,
        message,
    }
}

fn normal(reason: &'static str, message: String) -> Event {
    Event {
        warning: false,
        reason,
        message,
    }
}

/// When the certificate of an authority ends: that of the first certificate of its Secret.
pub fn not_after(certificates: &[u8]) -> Option<Timestamp> {
    let first = Certificate::from_pem(certificates).ok()?;
    Some(first.not_after)
}
