//! Calls of a certificate authority, as values. A port carries them out; what they mean is decided here.

use std::fmt;

use mainstay_engine::{ObjectKey, snapshot};
use mainstay_pki::Request;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{kinds, names};

/// A key or certificate with a key that must not be shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hidden(pub Vec<u8>);

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hidden(…)")
    }
}

/// Whom a connection trusts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// These certificates, in PEM, and nobody else.
    Only(Vec<u8>),
    /// Whom the system trusts.
    System,
    /// Whoever answers.
    Anybody,
}

/// The certificate that a connection shows, with its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Certificate in PEM.
    pub certificate: Vec<u8>,
    /// Its key in PEM.
    pub key: Hidden,
}

/// How to reach an authority. TLS 1.2 at least, names are checked, no proxy, 30 seconds in all, at most 10 MiB.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// Its address, as it was given.
    pub base: String,
    /// Namespace and name of its Service, if it is one of this cluster.
    pub service: Option<(String, String)>,
    /// Whom to trust.
    pub trust: Trust,
    /// What to show.
    pub identity: Option<Identity>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Asks for a certificate. The key is stored before.
    Submit {
        /// What the certificate shall say.
        request: Request,
        /// The key that it is for.
        key: Hidden,
    },
    /// Fetches a certificate.
    Fetch {
        /// Its common name.
        certname: String,
    },
    /// Signs a request that waits.
    Sign {
        /// Its common name.
        certname: String,
    },
    /// Asks for a certificate in place of the one that the connection shows.
    Renew {
        /// What it shall say.
        request: Request,
        /// The key, which stays.
        key: Hidden,
    },
    /// Revokes a certificate and forgets its request.
    Clean {
        /// Its common name.
        certname: String,
    },
    /// Fetches the revocation list.
    Revocations,
}

/// A call of an authority.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    /// How to reach it.
    pub connection: Connection,
    /// What to do.
    pub call: Call,
    /// Tells calls apart that are the same but for what came before them: a certificate is fetched before its request is
    /// sent, after that, and after it was signed.
    pub position: u16,
}

/// Method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Replaces.
    Put,
    /// Does something.
    Post,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'call> {
    /// Nothing.
    Empty,
    /// A text.
    Json(String),
    /// A certificate request, which is signed with the key where the call is carried out.
    CertificateRequest(&'call Request, &'call Hidden),
}

/// A call as HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest<'call> {
    /// Method.
    pub method: Method,
    /// Address.
    pub url: String,
    /// Header with its value.
    pub header: (&'static str, &'static str),
    /// Body.
    pub body: Body<'call>,
}

impl Effect {
    /// The call as HTTP.
    pub fn http(&self) -> HttpRequest<'_> {
        const TEXT: (&str, &str) = ("Content-Type", "text/plain");
        const JSON: (&str, &str) = ("Content-Type", "application/json");
        const ACCEPT: (&str, &str) = ("Accept", "text/plain");
        let (method, path, header, body) = match &self.call {
            Call::Submit { request, key } => (
                Method::Put,
                format!("certificate_request/{}", request.common_name),
                TEXT,
                Body::CertificateRequest(request, key),
            ),
            Call::Fetch { certname } => (
                Method::Get,
                format!("certificate/{certname}"),
                ACCEPT,
                Body::Empty,
            ),
            Call::Sign { certname } => (
                Method::Put,
                format!("certificate_status/{certname}"),
                JSON,
                Body::Json(r#"{"desired_state": "signed"}"#.to_owned()),
            ),
            Call::Renew { request, key } => (
                Method::Post,
                "certificate_renewal".to_owned(),
                TEXT,
                Body::CertificateRequest(request, key),
            ),
            Call::Clean { certname } => (
                Method::Put,
                "clean".to_owned(),
                JSON,
                Body::Json(format!(
                    r#"{{"certnames":[{}]}}"#,
                    serde_json::json!(certname)
                )),
            ),
            Call::Revocations => (
                Method::Get,
                "certificate_revocation_list/ca".to_owned(),
                ACCEPT,
                Body::Empty,
            ),
        };
        HttpRequest {
            method,
            // Parity: a slash at the end of the address stays, and there are two then.
            url: format!(
                "{}/puppet-ca/v1/{path}?environment=production",
                self.connection.base
            ),
            header,
            body,
        }
    }

    /// Everything that it consists of, keys included.
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut part = |bytes: &[u8]| {
            digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(bytes);
        };
        let http = self.http();
        part(http.url.as_bytes());
        part(&[http.method as u8]);
        part(&self.position.to_be_bytes());
        match &http.body {
            Body::Empty => {}
            Body::Json(text) => part(text.as_bytes()),
            Body::CertificateRequest(request, key) => {
                part(&key.0);
                part(request.common_name.as_bytes());
                for name in &request.dns_names {
                    part(name.as_bytes());
                }
                for extension in &request.extensions {
                    part(extension.oid.as_bytes());
                    part(extension.value.as_bytes());
                }
            }
        }
        match &self.connection.trust {
            Trust::Only(certificates) => part(certificates),
            Trust::System => part(b"system"),
            Trust::Anybody => part(b"anybody"),
        }
        if let Some(identity) = &self.connection.identity {
            part(&identity.certificate);
            part(&identity.key.0);
        }
        digest.finalize().into()
    }
}

impl snapshot::Effect for Effect {
    fn fingerprint(&self) -> String {
        let digits = self.digest().map(|byte| format!("{byte:02x}"));
        digits.concat()
    }

    /// The Service of an authority in this cluster. An authority that was away may have forgotten what it was told.
    fn held_by(&self) -> Option<ObjectKey> {
        let (namespace, name) = self.connection.service.as_ref()?;
        Some(kinds::key(kinds::SERVICE, namespace, name))
    }

    /// By authority.
    fn share(&self) -> String {
        self.connection.base.clone()
    }

    /// As if the authority knew nothing.
    fn dry_run(&self) -> String {
        Reply {
            code: 404,
            body: String::new(),
        }
        .to_text()
    }
}

/// What an authority answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Status code.
    pub code: u16,
    /// Body, of at most 10 MiB.
    pub body: String,
}

impl Reply {
    /// The reply as the result of an effect.
    pub fn to_text(&self) -> String {
        serde_json::json!({"code": self.code, "body": self.body}).to_string()
    }

    /// Reads the result of an effect.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Whether the call was carried out.
    pub fn is_done(&self) -> bool {
        matches!(self.code, 200 | 204)
    }
}

/// Address of an authority of this cluster.
pub fn internal_base(authority: &str, namespace: &str) -> String {
    let host = names::authority_host(authority, namespace);
    format!("https://{host}:{}", names::SERVER_PORT)
}

#[cfg(test)]
mod tests {
    use mainstay_engine::snapshot::Effect as _;

    use super::*;

    fn effect(call: Call) -> Effect {
        Effect {
            connection: Connection {
                base: internal_base("ca", "estate"),
                service: Some(("estate".to_owned(), "ca-internal".to_owned())),
                trust: Trust::Only(b"pem".to_vec()),
                identity: None,
            },
            call,
            position: 0,
        }
    }

    fn submit(key: &str) -> Effect {
        effect(Call::Submit {
            request: Request {
                common_name: "node".to_owned(),
                ..Request::default()
            },
            key: Hidden(key.as_bytes().to_vec()),
        })
    }

    #[test]
    fn calls_go_where_puppet_listens() {
        let certname = || "node".to_owned();
        let calls = [
            (submit("k"), Method::Put, "certificate_request/node"),
            (
                effect(Call::Fetch {
                    certname: certname(),
                }),
                Method::Get,
                "certificate/node",
            ),
            (
                effect(Call::Sign {
                    certname: certname(),
                }),
                Method::Put,
                "certificate_status/node",
            ),
            (
                effect(Call::Clean {
                    certname: certname(),
                }),
                Method::Put,
                "clean",
            ),
            (
                effect(Call::Revocations),
                Method::Get,
                "certificate_revocation_list/ca",
            ),
        ];
        for (effect, method, path) in calls {
            let http = effect.http();
            assert_eq!(http.method, method);
            assert_eq!(
                http.url,
                format!(
                    "https://ca-internal.estate.svc:8140/puppet-ca/v1/{path}?environment=production"
                )
            );
        }
        let clean = effect(Call::Clean {
            certname: certname(),
        });
        assert_eq!(
            clean.http().body,
            Body::Json(r#"{"certnames":["node"]}"#.to_owned())
        );
    }

    #[test]
    fn a_key_makes_another_effect_and_is_not_shown() {
        assert_ne!(submit("one").fingerprint(), submit("two").fingerprint());
        assert_eq!(submit("one").fingerprint(), submit("one").fingerprint());
        assert!(!format!("{:?}", submit("s3cret")).contains("s3cret"));
        let fetch = |position| Effect {
            position,
            ..effect(Call::Fetch {
                certname: "node".to_owned(),
            })
        };
        assert_ne!(fetch(1).fingerprint(), fetch(2).fingerprint());
    }

    #[test]
    fn a_reply_survives_being_a_result() {
        let reply = Reply {
            code: 400,
            body: "no\n\"x\"".to_owned(),
        };
        assert_eq!(Reply::from_text(&reply.to_text()), Some(reply));
        assert_eq!(Reply::from_text("junk"), None);
    }
}
