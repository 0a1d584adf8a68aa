//! The serving certificate: two files that somebody else writes, and may replace at any time.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::SystemTime,
};

use rustls::{
    crypto::CryptoProvider,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

/// Name of the file with the certificate and those that vouch for it.
pub const CERTIFICATE_FILE: &str = "tls.crt";
/// Name of the file with the key.
pub const KEY_FILE: &str = "tls.key";

/// Where controller-runtime looks for the files.
pub fn default_directory() -> PathBuf {
    std::env::temp_dir().join("k8s-webhook-server/serving-certs")
}

/// Why files are no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// They are not there.
    #[error("there is no `{0}`")]
    Absent(PathBuf),
    /// They cannot be read.
    #[error("could not read `{path}`: {source}")]
    Unreadable {
        /// Which of the two.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// They hold something else.
    #[error("`{path}` holds no {what} in PEM form: {source}")]
    Malformed {
        /// Which of the two.
        path: PathBuf,
        /// What is expected.
        what: &'static str,
        /// Cause.
        #[source]
        source: pem::Error,
    },
    /// They do not belong together.
    #[error("certificate and key in `{directory}` cannot be used: {source}")]
    Unusable {
        /// Where they are.
        directory: PathBuf,
        /// Cause.
        #[source]
        source: rustls::Error,
    },
}

/// What changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

/// The certificate that new connections get.
#[derive(Debug)]
pub struct Certificate {
    directory: PathBuf,
    provider: Arc<CryptoProvider>,
    current: RwLock<Option<Arc<CertifiedKey>>>,
}

/// The certificate and what its files looked like.
#[derive(Debug)]
pub struct Watched {
    certificate: Arc<Certificate>,
    /// `None` before the first look.
    seen: Option<[Option<Stamp>; 2]>,
}

impl Watched {
    /// A certificate in a directory; nothing is read yet.
    pub fn new(directory: PathBuf, provider: Arc<CryptoProvider>) -> Self {
        let certificate = Certificate {
            directory,
            provider,
            current: RwLock::new(None),
        };
        Self {
            certificate: Arc::new(certificate),
            seen: None,
        }
    }

    /// What connections are given.
    pub fn certificate(&self) -> Arc<Certificate> {
        self.certificate.clone()
    }

    /// Whether the last look found neither file.
    pub fn is_empty(&self) -> bool {
        self.seen == Some([None, None])
    }

    /// Looks at the files: `None` if nobody touched them since the last look. What cannot be used does not replace what
    /// can: while two files are written one after the other, they do not belong together.
    pub fn look(&mut self) -> Option<Result<(), CertificateError>> {
        let directory = &self.certificate.directory;
        let stamps = [CERTIFICATE_FILE, KEY_FILE].map(|name| stamp(&directory.join(name)));
        if self.seen == Some(stamps) {
            return None;
        }
        self.seen = Some(stamps);
        Some(self.certificate.load())
    }
}

impl Certificate {
    fn load(&self) -> Result<(), CertificateError> {
        let chain_path = self.directory.join(CERTIFICATE_FILE);
        let key_path = self.directory.join(KEY_FILE);
        let malformed = |path: &Path, what, source| CertificateError::Malformed {
            path: path.to_owned(),
            what,
            source,
        };
        let text = read(&chain_path)?;
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&text)
            .collect::<Result<_, _>>()
            .map_err(|source| malformed(&chain_path, "certificate", source))?;
        if chain.is_empty() {
            let nothing = pem::Error::NoItemsFound;
            return Err(malformed(&chain_path, "certificate", nothing));
        }
        let key = PrivateKeyDer::from_pem_slice(&read(&key_path)?)
            .map_err(|source| malformed(&key_path, "key", source))?;
        let certified = CertifiedKey::from_der(chain, key, &self.provider).map_err(|source| {
            CertificateError::Unusable {
                directory: self.directory.clone(),
                source,
            }
        })?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
        Ok(())
    }

    /// Whether there is one.
    pub fn is_loaded(&self) -> bool {
        self.current().is_some()
    }

    fn current(&self) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    // Mounted Secrets are links, which are replaced; what they lead to counts.
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        length: metadata.len(),
        modified: metadata.modified().ok(),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => CertificateError::Absent(path.to_owned()),
        _ => CertificateError::Unreadable {
            path: path.to_owned(),
            source,
        },
    })
}

#[cfg(test)]
mod tests {
    use rustls::crypto::aws_lc_rs;
    use tempfile::TempDir;

    use super::*;

    fn watched(directory: &TempDir) -> Watched {
        let provider = Arc::new(aws_lc_rs::default_provider());
        Watched::new(directory.path().to_owned(), provider)
    }

    fn said(watched: &mut Watched) -> String {
        watched.look().unwrap().unwrap_err().to_string()
    }

    #[test]
    fn each_way_to_have_no_certificate_is_named_once() {
        let directory = TempDir::new().unwrap();
        let mut watched = watched(&directory);
        assert!(said(&mut watched).starts_with("there is no `"));
        assert!(watched.look().is_none(), "nothing has changed");
        fs::write(directory.path().join(CERTIFICATE_FILE), "half a").unwrap();
        let text = said(&mut watched);
        assert!(
            text.contains("tls.crt` holds no certificate in PEM form"),
            "{text}"
        );
        let block = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        fs::write(directory.path().join(CERTIFICATE_FILE), block).unwrap();
        let text = said(&mut watched);
        assert!(text.ends_with("tls.key`"), "{text}");
        fs::write(directory.path().join(KEY_FILE), block).unwrap();
        let text = said(&mut watched);
        assert!(text.contains("tls.key` holds no key in PEM form"), "{text}");
        assert!(!watched.certificate().is_loaded());
    }

    #[test]
    fn a_directory_in_the_place_of_a_file_is_named() {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join(CERTIFICATE_FILE)).unwrap();
        let text = said(&mut watched(&directory));
        assert!(text.starts_with("could not read `"), "{text}");
    }
}
