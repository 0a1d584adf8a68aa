//! What a Certificate waits for: a chain of checks, each with a name, a reason and a message.
//!
//! The first check that does not hold says what is to be done next. `why` shows the whole chain.

use mainstay_api::openvox::{
    certificate::CertificatePhase, certificate_authority::CertificateAuthorityPhase,
};
use mainstay_pki::{Certificate, PrivateKey};

use crate::names::keys;
use crate::views::{Data, SignerAuthority};

/// What is known when a Certificate is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'facts> {
    /// Its phase.
    pub phase: &'facts CertificatePhase,
    /// Name of its authority.
    pub authority_ref: &'facts str,
    /// Its authority.
    pub authority: Option<&'facts SignerAuthority>,
    /// The Secret with key and certificate.
    pub stored: Option<&'facts Data>,
    /// The Secret with a key whose certificate is not there yet.
    pub pending: Option<&'facts Data>,
}

/// What is to be done with a Certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing until its authority is there.
    AwaitAuthority,
    /// Nothing until its authority can sign; it is `Pending` meanwhile.
    AwaitReadyAuthority,
    /// It is asked to be renewed.
    Renew,
    /// It is there and is said to be: see when it is to be renewed.
    Schedule,
    /// It is there and nobody knows: say so, and make the Secret ours.
    Adopt,
    /// A key is to be made and stored. Nothing is sent before that.
    MakeKey,
    /// The authority is to be asked, with the key that is stored.
    Ask,
}

/// A check that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// One word for programs.
    pub reason: &'static str,
    /// What it is waiting for.
    pub message: String,
    /// What is to be done.
    pub next: Next,
}

/// One check: `None` if it holds.
type Check = fn(&Facts<'_>) -> Option<(&'static str, String, Next)>;

/// The chain, in order.
const CHECKS: [(&str, Check); 5] = [
    ("authority exists", authority_exists),
    ("authority can sign", authority_can_sign),
    ("no renewal is due", no_renewal_is_due),
    ("certificate is not stored yet", not_stored),
    ("key is stored", key_is_stored),
];

/// The first check that does not hold.
pub fn first(facts: &Facts<'_>) -> Finding {
    unfulfilled(facts).next().unwrap_or_else(not_signed)
}

/// All checks that do not hold, in order.
pub fn all(facts: &Facts<'_>) -> Vec<Finding> {
    unfulfilled(facts).chain([not_signed()]).collect()
}

fn unfulfilled<'facts>(facts: &'facts Facts<'facts>) -> impl Iterator<Item = Finding> + 'facts {
    CHECKS.iter().filter_map(|(check, holds)| {
        let (reason, message, next) = holds(facts)?;
        Some(Finding {
            check,
            reason,
            message,
            next,
        })
    })
}

type Found = Option<(&'static str, String, Next)>;

fn authority_exists(facts: &Facts<'_>) -> Found {
    let name = facts.authority_ref;
    facts.authority.is_none().then(|| {
        let message = format!("there is no CertificateAuthority {name}");
        ("AuthorityMissing", message, Next::AwaitAuthority)
    })
}

fn authority_can_sign(facts: &Facts<'_>) -> Found {
    use CertificateAuthorityPhase::{External, Ready};
    let authority = facts.authority?;
    let phase = &authority.status.phase;
    (!matches!(phase, Ready | External)).then(|| {
        let phase = match phase.as_str() {
            "" => "Pending",
            phase => phase,
        };
        let message = format!("CertificateAuthority {} is {phase}", authority.name);
        ("AuthorityNotReady", message, Next::AwaitReadyAuthority)
    })
}

fn no_renewal_is_due(facts: &Facts<'_>) -> Found {
    // A renewal shows the certificate that it renews: without one there is nothing to renew, and the certificate is lost.
    let renews = *facts.phase == CertificatePhase::Renewing && facts.certificate().is_some();
    let message = || "the certificate is being renewed".to_owned();
    renews.then(|| ("Renewing", message(), Next::Renew))
}

fn not_stored(facts: &Facts<'_>) -> Found {
    facts.certificate()?;
    let next = match facts.phase {
        CertificatePhase::Signed => Next::Schedule,
        _ => Next::Adopt,
    };
    Some(("Stored", "the certificate is stored".to_owned(), next))
}

fn key_is_stored(facts: &Facts<'_>) -> Found {
    let message = || "no key is stored yet".to_owned();
    let is_stored = facts.pending_key().is_some();
    (!is_stored).then(|| ("KeyMissing", message(), Next::MakeKey))
}

/// Whoever gets through the chain asks the authority.
fn not_signed() -> Finding {
    Finding {
        check: "certificate was asked for",
        reason: "NotSigned",
        message: "the authority has not handed out a certificate for the stored key".to_owned(),
        next: Next::Ask,
    }
}

impl Facts<'_> {
    /// The certificate that is stored, readable or not.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.stored?.bytes(keys::CERTIFICATE)
    }

    /// The key that waits for its certificate. One that cannot be read counts: it may be the only copy, and is for people
    /// to look at.
    pub fn pending_key(&self) -> Option<&[u8]> {
        let key = self.pending?.bytes(keys::KEY)?;
        (!key.is_empty()).then_some(key)
    }

    /// How often the authority was asked.
    pub fn attempts(&self) -> u32 {
        let attempts = self.pending.and_then(|pending| {
            let counted = pending
                .annotations
                .get(crate::names::annotations::POLL_ATTEMPTS)?;
            counted.parse().ok()
        });
        attempts.unwrap_or(0)
    }
}

/// Whether a text is a certificate for a key. Whatever an authority answers is stored only then.
pub fn belongs_to(certificate: &[u8], key: &[u8]) -> Result<bool, mainstay_pki::Error> {
    let key = PrivateKey::from_pem(key)?;
    Ok(Certificate::from_pem(certificate).is_ok_and(|certificate| certificate.belongs_to(&key)))
}
