//! What the answers of an authority mean for a Certificate that is asked for or renewed.

use mainstay_api::openvox::certificate::CertificatePhase;
use mainstay_pki::Certificate;

use super::readiness;
use crate::effect::Reply;

/// Pauses in seconds after something went wrong.
pub mod pause {
    /// The connection cannot be made.
    pub const NO_CONNECTION: i64 = 5;
    /// The authority cannot be reached, or key or request cannot be used.
    pub const UNREACHABLE: i64 = 15;
    /// The authority refused.
    pub const REFUSED: i64 = 30;
    /// The certificate could not be fetched.
    pub const NOT_FETCHED: i64 = 10;
    /// A renewal failed.
    pub const RENEWAL: i64 = 15;
}

/// From this many attempts on somebody has to sign.
const PATIENCE: u32 = 10;

/// What came of a request that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// The authority has it now.
    Accepted,
    /// It has a certificate under that name already: it counts if it was made for our key.
    AlreadySigned(String),
    /// It does not want it.
    Refused(String),
}

/// What the answer to a request means.
pub fn submitted(reply: &Reply) -> Submitted {
    let refusal = || format!("CA rejected CSR (HTTP {}): {}", reply.code, reply.body);
    match reply.code {
        200 => Submitted::Accepted,
        400 if reply.body.contains("already has a requested certificate") => Submitted::Accepted,
        400 if reply.body.contains("already has a signed certificate") => {
            Submitted::AlreadySigned(refusal())
        }
        _ => Submitted::Refused(refusal()),
    }
}

/// What came of fetching a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// It is there and was made for our key.
    Signed(String),
    /// One is there, and was made for another key.
    Foreign,
    /// None is there.
    NotSigned,
}

/// What the answer with a certificate means for a key.
pub fn fetched(reply: &Reply, key: &[u8]) -> Result<Fetched, mainstay_pki::Error> {
    if reply.code != 200 || !Certificate::is_announced(reply.body.as_bytes()) {
        return Ok(Fetched::NotSigned);
    }
    Ok(if readiness::belongs_to(reply.body.as_bytes(), key)? {
        Fetched::Signed(reply.body.clone())
    } else {
        Fetched::Foreign
    })
}

/// What the answer to a renewal means: the new certificate, or why there is none.
pub fn renewed(reply: &Reply, key: &[u8]) -> Result<String, String> {
    if reply.code != 200 {
        let Reply { code, body } = reply;
        return Err(format!("CA rejected renewal request (HTTP {code}): {body}"));
    }
    if !Certificate::is_announced(reply.body.as_bytes()) {
        return Err("renewal response is not a valid PEM certificate".to_owned());
    }
    match readiness::belongs_to(reply.body.as_bytes(), key) {
        Ok(true) => Ok(reply.body.clone()),
        Ok(false) => Err("renewal response is a certificate for another key".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What follows if an authority has not signed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Attempts by now, for the annotation.
    pub attempts: u32,
    /// Seconds until the next one.
    pub pause: i64,
    /// The phase, if somebody has to sign.
    pub phase: Option<CertificatePhase>,
    /// Message of the condition, if somebody has to sign.
    pub message: Option<String>,
    /// What the event says, if somebody has to sign.
    pub event: Option<String>,
}

/// After one more attempt.
pub fn waiting(attempts_before: u32, certname: &str) -> Waiting {
    let attempts = attempts_before.saturating_add(1);
    let pause = match attempts {
        0..3 => 5,
        3..6 => 30,
        6..PATIENCE => 120,
        _ => 300,
    };
    let message = (attempts >= PATIENCE)
        .then(|| format!("CSR submitted but not yet signed after {attempts} attempts"));
    Waiting {
        attempts,
        pause,
        phase: message
            .is_some()
            .then_some(CertificatePhase::WaitingForSigning),
        event: message.as_ref().map(|message| {
            format!("{message}. To sign manually: puppetserver ca sign --certname {certname}")
        }),
        message,
    }
}
