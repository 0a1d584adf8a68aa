//! What a Certificate has to say of itself.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_api::openvox::{CertificateStatus, certificate::CertificatePhase};
use mainstay_engine::conditions::{self, Wanted};
use mainstay_pki::Certificate;

use crate::names;

/// What became of a Certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Its authority is not ready.
    Pending,
    /// It is being asked for.
    Requesting,
    /// It is there.
    Signed {
        /// When it ends.
        not_after: Option<Timestamp>,
        /// Whether it took the place of another one.
        renewed: bool,
    },
    /// Asking failed.
    Failed(String),
    /// Somebody has to sign.
    Waiting(String),
    /// It is being renewed.
    Renewing,
    /// Its renewal failed and is tried again.
    RenewalFailed(String),
}

/// The status of a Certificate after that.
pub fn status(
    before: &CertificateStatus,
    name: &str,
    state: &State,
    now: &Time,
) -> CertificateStatus {
    let mut status = before.clone();
    let (phase, wanted) = match state {
        State::Pending => (CertificatePhase::Pending, None),
        State::Requesting => (CertificatePhase::Requesting, None),
        State::Renewing => (CertificatePhase::Renewing, None),
        State::Signed { not_after, renewed } => {
            status.secret_name = names::tls_secret(name);
            status.not_after = not_after.map(Time);
            let (reason, message) = if *renewed {
                ("CertificateRenewed", "Certificate has been renewed")
            } else {
                ("CertificateSigned", "Certificate is signed and available")
            };
            let wanted = signed("True", reason, message);
            (CertificatePhase::Signed, Some(wanted))
        }
        State::Failed(message) => {
            let wanted = signed("False", "SigningFailed", message);
            (CertificatePhase::Error, Some(wanted))
        }
        State::Waiting(message) => {
            let wanted = signed("False", "WaitingForManualSigning", message);
            (CertificatePhase::WaitingForSigning, Some(wanted))
        }
        State::RenewalFailed(message) => {
            let wanted = signed("False", "RenewalFailed", message);
            (CertificatePhase::Renewing, Some(wanted))
        }
    };
    status.phase = phase;
    if let Some(wanted) = wanted {
        status.conditions = conditions::merge(&status.conditions, &[wanted], None, now);
    }
    status
}

fn signed(status: &'static str, reason: &'static str, message: &str) -> Wanted {
    Wanted {
        r#type: "CertSigned",
        status,
        reason,
        message: message.to_owned(),
    }
}

/// When a stored certificate ends; `None` if it cannot be read.
pub fn not_after(certificate: &[u8]) -> Option<Timestamp> {
    let certificate = Certificate::from_pem(certificate).ok()?;
    Some(certificate.not_after)
}
