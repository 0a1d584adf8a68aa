//! Whom we trust, and how we prove who we are.

use std::{fmt, io, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use zeroize::Zeroizing;

use crate::error::Error;

/// Certificates in PEM that are trusted.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Those of the machine.
    #[default]
    Machine,
    /// Those of the machine, and these.
    MachineAnd(Vec<CertificateDer<'static>>),
    /// These alone.
    Only(Vec<CertificateDer<'static>>),
}

impl Trust {
    /// Reads the certificates of a PEM text.
    pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let setup = |source| Error::TlsSetup {
            what: "the trusted certificates are not PEM",
            source,
        };
        let read = read.map_err(|error| setup(Box::new(error)))?;
        if read.is_empty() {
            return Err(setup("there is no certificate in it".into()));
        }
        Ok(read)
    }
}

/// The certificate and key with which we prove who we are.
#[derive(Clone)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<Zeroizing<Vec<u8>>>,
}

impl Identity {
    /// Reads a chain of certificates and a key, both in PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        let chain = Trust::certificates(chain)?;
        let key = Zeroizing::new(key.to_vec());
        parsed(&key)?;
        Ok(Self {
            chain,
            key: Arc::new(key),
        })
    }
}

/// The key is not shown.
impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Identity with {} certificates", self.chain.len())
    }
}

fn parsed(pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    // What is wrong with a key is not told in detail.
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| Error::TlsSetup {
        what: "the private key is not PEM",
        source: "no key could be read".into(),
    })
}

/// How connections are protected. There is no way to trust everybody.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Who is trusted.
    pub trust: Trust,
    /// Who we are, if servers ask.
    pub identity: Option<Identity>,
}

impl Tls {
    /// Certificates of the machine are read anew each time: they may have been replaced.
    fn config(&self) -> Result<ClientConfig, Error> {
        let mut roots = RootCertStore::empty();
        let own = match &self.trust {
            Trust::Machine => &[][..],
            Trust::MachineAnd(certificates) | Trust::Only(certificates) => certificates,
        };
        if !matches!(self.trust, Trust::Only(_)) {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        for certificate in own {
            let added = roots.add(certificate.clone());
            added.map_err(setup("a trusted certificate cannot be used"))?;
        }
        let provider = CryptoProvider::get_default()
            .cloned()
            .unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(setup("no version of TLS can be used"))?
            .with_root_certificates(roots);
        match &self.identity {
            None => Ok(config.with_no_client_auth()),
            Some(identity) => config
                .with_client_auth_cert(identity.chain.clone(), parsed(&identity.key)?)
                .map_err(setup("our certificate and key do not belong together")),
        }
    }

    /// Protects a connection to a host that has to prove that it is the one.
    pub(crate) async fn protect(
        &self,
        stream: TcpStream,
        host: &str,
        target: &str,
    ) -> Result<TlsStream<TcpStream>, Error> {
        let wrap = |source| Error::Tls {
            target: target.to_owned(),
            source,
        };
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| wrap(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let connector = TlsConnector::from(Arc::new(self.config()?));
        connector.connect(name, stream).await.map_err(wrap)
    }
}

fn setup(what: &'static str) -> impl FnOnce(rustls::Error) -> Error {
    move |error| Error::TlsSetup {
        what,
        source: Box::new(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_or_key_is_refused_without_showing_it() {
        let failure = Trust::certificates(b"hello").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "could not prepare TLS: the trusted certificates are not PEM"
        );
        let failure = parsed(b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n").unwrap_err();
        assert!(!format!("{failure:?}").contains("c2VjcmV0"), "{failure:?}");
    }
}
