//! The certificate authority of a Puppet server, as it answers over HTTP.

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{Arc, Mutex},
};

use hyper::Method;
use serde_json::Value;

use super::{
    authority::Authority,
    request::CertificateRequest,
    server::{Answer, Recorded, Server},
};

const TEXT: &str = "text/plain";
const BASE: &str = "/puppet-ca/v1/";

/// The authority; gone when dropped. Its server speaks TLS under a certificate of the authority itself.
///
/// Requests, certificates and the list of those revoked are for everybody. Whoever signs, cleans or renews has to present
/// a certificate of the authority.
#[derive(Debug)]
pub struct CertificateAuthority {
    server: Server,
    nodes: Arc<Mutex<Nodes>>,
    authority: Arc<Authority>,
}

/// What is known of each name.
#[derive(Debug, Default)]
struct Nodes {
    signs_by_itself: bool,
    requested: BTreeMap<String, Vec<u8>>,
    signed: BTreeMap<String, Issued>,
    revoked: Vec<u64>,
    serial: u64,
}

#[derive(Clone, Debug)]
struct Issued {
    serial: u64,
    certificate: String,
}

impl Deref for CertificateAuthority {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        let authority = Arc::new(Authority::default());
        let nodes = Arc::new(Mutex::new(Nodes::default()));
        let handler = {
            let (authority, nodes) = (authority.clone(), nodes.clone());
            move |request: &Recorded| nodes.lock().unwrap().answer(&authority, request)
        };
        Self {
            server: Server::start("127.0.0.1:0", Some(&authority), handler),
            nodes,
            authority,
        }
    }
}

impl CertificateAuthority {
    /// The authority itself: its certificate, and others that it issues.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Whether requests are signed as they come.
    pub fn sign_by_itself(&self, does: bool) {
        self.nodes.lock().unwrap().signs_by_itself = does;
    }

    /// Signs a request that waits, as an administrator would.
    pub fn sign(&self, name: &str) {
        let signed = self.nodes.lock().unwrap().sign(&self.authority, name);
        assert!(signed, "no request for {name}");
    }

    /// Names with a request that waits.
    pub fn requested(&self) -> Vec<String> {
        self.nodes
            .lock()
            .unwrap()
            .requested
            .keys()
            .cloned()
            .collect()
    }

    /// Names with a certificate.
    pub fn signed(&self) -> Vec<String> {
        self.nodes.lock().unwrap().signed.keys().cloned().collect()
    }

    /// How many certificates are revoked.
    pub fn revoked(&self) -> usize {
        self.nodes.lock().unwrap().revoked.len()
    }
}

impl Nodes {
    fn answer(&mut self, authority: &Authority, request: &Recorded) -> Answer {
        let path = request.path().strip_prefix(BASE).unwrap_or_default();
        let (what, name) = path.split_once('/').unwrap_or((path, ""));
        let is_known = request.client_certificate.is_some();
        match (&request.method, what) {
            (&Method::PUT, "certificate_request") => self.request(authority, name, &request.body),
            (&Method::GET, "certificate") if name == "ca" => text(200, authority.certificate()),
            (&Method::GET, "certificate") => match self.signed.get(name) {
                Some(issued) => text(200, &issued.certificate),
                None => text(404, &format!("Could not find certificate {name}")),
            },
            (&Method::GET, "certificate_revocation_list") => {
                text(200, &authority.revocation_list(&self.revoked))
            }
            (&Method::PUT, "certificate_status" | "clean")
            | (&Method::POST, "certificate_renewal")
                if !is_known =>
            {
                text(403, &format!("Forbidden request: {}", request.path()))
            }
            (&Method::PUT, "certificate_status") => self.status(authority, name, &request.body),
            (&Method::PUT, "clean") => self.clean(&request.body),
            (&Method::POST, "certificate_renewal") => self.renew(authority, request),
            _ => text(404, "Not Found"),
        }
    }

    fn request(&mut self, authority: &Authority, name: &str, body: &[u8]) -> Answer {
        let state = if self.requested.contains_key(name) {
            "requested"
        } else if self.signed.contains_key(name) {
            "signed"
        } else {
            self.requested.insert(name.to_owned(), body.to_vec());
            if self.signs_by_itself && !self.sign(authority, name) {
                return text(
                    400,
                    "The request body could not be read as a certificate request",
                );
            }
            return text(200, "");
        };
        let reason =
            format!("{name} already has a {state} certificate; ignoring certificate request");
        text(400, &reason)
    }

    fn sign(&mut self, authority: &Authority, name: &str) -> bool {
        let Some(request) = self.requested.get(name) else {
            return false;
        };
        let Some(request) = CertificateRequest::from_pem(request) else {
            return false;
        };
        self.serial += 1;
        let issued = Issued {
            serial: self.serial,
            certificate: authority.sign(name, &request, self.serial),
        };
        self.requested.remove(name);
        self.signed.insert(name.to_owned(), issued);
        true
    }

    fn status(&mut self, authority: &Authority, name: &str, body: &[u8]) -> Answer {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let is_done = match body["desired_state"].as_str() {
            Some("signed") => self.sign(authority, name),
            Some("revoked") => self.revoke(name),
            _ => return text(400, "State must be signed or revoked"),
        };
        if is_done {
            text(204, "")
        } else {
            text(404, "Invalid certificate subject.")
        }
    }

    fn revoke(&mut self, name: &str) -> bool {
        let issued = self.signed.get(name);
        self.revoked.extend(issued.map(|issued| issued.serial));
        issued.is_some()
    }

    fn clean(&mut self, body: &[u8]) -> Answer {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        for name in body["certnames"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            self.revoke(name);
            self.signed.remove(name);
            self.requested.remove(name);
        }
        text(200, "Successfully cleaned all certificates.")
    }

    /// A certificate for whoever presents one, with a later number. What else the request asks for does not count.
    fn renew(&mut self, authority: &Authority, request: &Recorded) -> Answer {
        let presented = request.client_certificate.as_deref().unwrap_or_default();
        let known = self.signed.iter().find(|(_, issued)| {
            let own = pem::parse(&issued.certificate).unwrap();
            own.contents() == presented
        });
        let name = known.map(|(name, _)| name.clone());
        match (name, CertificateRequest::from_pem(&request.body)) {
            (Some(name), Some(wanted)) => {
                self.serial += 1;
                let certificate = authority.sign(&name, &wanted, self.serial);
                let issued = Issued {
                    serial: self.serial,
                    certificate: certificate.clone(),
                };
                self.signed.insert(name, issued);
                text(200, &certificate)
            }
            _ => text(400, "The certificate cannot be renewed"),
        }
    }
}

fn text(status: u16, text: &str) -> Answer {
    Answer::new(status, TEXT, text.to_owned())
}

#[cfg(test)]
mod tests {
    use mainstay_http::{
        Client, Identity, Method, Request, Response, Rules, Tls, Trust, addresses,
    };
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    struct Caller {
        client: Client,
        url: String,
    }

    impl Caller {
        fn new(authority: &CertificateAuthority, identity: Option<(&str, &str)>) -> Self {
            let trusted = authority.authority().certificate().as_bytes();
            let tls = Tls {
                trust: Trust::Only(Trust::certificates(trusted).unwrap()),
                identity: identity.map(|(certificate, key)| {
                    Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap()
                }),
            };
            Self {
                client: Client::default().with_tls(tls),
                url: format!("{}{BASE}", authority.url()),
            }
        }

        async fn send(&self, method: Method, path: &str, body: &str) -> (u16, String) {
            let request = Request::new(method, &format!("{}{path}", self.url)).unwrap();
            let rules = Rules {
                addresses: addresses::any,
                reads_body: |_| true,
                ..Rules::default()
            };
            let request = request.with_body(body.to_owned());
            let answer: Response = self.client.send(&request, &rules).await.unwrap();
            let text = String::from_utf8(answer.body.to_vec()).unwrap();
            (answer.status.as_u16(), text)
        }
    }

    fn request(key: &KeyPair) -> String {
        let params = CertificateParams::new(vec!["a.svc".to_owned()]).unwrap();
        params.serialize_request(key).unwrap().pem().unwrap()
    }

    #[tokio::test]
    async fn a_request_waits_until_somebody_who_may_signs_it() {
        let authority = CertificateAuthority::default();
        let anybody = Caller::new(&authority, None);
        let key = KeyPair::generate().unwrap();
        let request = request(&key);
        let put = Method::PUT;
        let (status, _) = anybody
            .send(
                put.clone(),
                "certificate_request/n?environment=production",
                &request,
            )
            .await;
        assert_eq!(status, 200);
        let (status, text) = anybody
            .send(put.clone(), "certificate_request/n", &request)
            .await;
        assert_eq!(
            (status, text.as_str()),
            (
                400,
                "n already has a requested certificate; ignoring certificate request"
            )
        );
        assert_eq!(anybody.send(Method::GET, "certificate/n", "").await.0, 404);
        let signed = r#"{"desired_state": "signed"}"#;
        assert_eq!(
            anybody
                .send(put.clone(), "certificate_status/n", signed)
                .await
                .0,
            403
        );
        let own = authority.authority().issue("operator", &[]);
        let operator = Caller::new(&authority, Some((&own.certificate, &own.key)));
        assert_eq!(
            operator
                .send(put.clone(), "certificate_status/n", signed)
                .await
                .0,
            204
        );
        assert_eq!(
            operator
                .send(put.clone(), "certificate_status/other", signed)
                .await
                .0,
            404
        );
        let (status, certificate) = anybody.send(Method::GET, "certificate/n", "").await;
        assert_eq!((status, authority.signed()), (200, vec!["n".to_owned()]));
        let (status, text) = anybody
            .send(put.clone(), "certificate_request/n", &request)
            .await;
        assert_eq!((status, text.contains("already has a signed")), (400, true));

        // The certificate is good for its key: with it comes a new one.
        let node = Caller::new(&authority, Some((&certificate, &key.serialize_pem())));
        let (status, renewed) = node
            .send(Method::POST, "certificate_renewal", &request)
            .await;
        assert_eq!(status, 200);
        assert_ne!(renewed, certificate);
        let (status, _) = operator.send(put, "clean", r#"{"certnames": ["n"]}"#).await;
        assert_eq!(
            (status, authority.signed().len(), authority.revoked()),
            (200, 0, 1)
        );
        let (_, list) = anybody
            .send(Method::GET, "certificate_revocation_list/ca", "")
            .await;
        assert!(list.starts_with("-----BEGIN X509 CRL-----"), "{list}");
    }

    #[tokio::test]
    async fn an_authority_that_signs_by_itself_has_the_certificate_at_once() {
        let authority = CertificateAuthority::default();
        authority.sign_by_itself(true);
        let anybody = Caller::new(&authority, None);
        let request = request(&KeyPair::generate().unwrap());
        assert_eq!(
            anybody
                .send(Method::PUT, "certificate_request/n", &request)
                .await
                .0,
            200
        );
        assert_eq!(anybody.send(Method::GET, "certificate/n", "").await.0, 200);
        assert_eq!(
            anybody
                .send(Method::PUT, "certificate_request/m", "garbage")
                .await
                .0,
            400
        );
        assert_eq!(authority.requests().len(), 3);
    }
}
