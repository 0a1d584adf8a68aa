//! What has to be done outside the Kubernetes API, as values.
//!
//! The pure part asks for an effect and gets its result with the other answers; a port runs it.

use std::fmt;

use mainstay_engine::ObjectKey;

use crate::{kinds, providers::confighash::hexadecimal_sha256};

/// A password or key that must not be shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hidden(pub String);

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hidden(…)")
    }
}

/// Something to be done outside the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The PostgreSQL server has a database of this name; created for its owner if it is missing. Result: empty.
    Database {
        /// Host name of the server.
        host: String,
        /// Its port.
        port: u16,
        /// Password of the role `postgres`.
        admin_password: Hidden,
        /// A database that exists, to connect to while creating.
        maintenance: String,
        /// The wanted database.
        name: String,
        /// Role that owns it.
        owner: String,
    },
    /// The S3 server has a bucket of this name; created if it is missing. Result: empty. The error text is complete.
    Bucket {
        /// Host name of the server.
        host: String,
        /// Its port.
        port: u16,
        /// Access key.
        access_key: Hidden,
        /// Secret key.
        secret_key: Hidden,
        /// The wanted bucket.
        name: String,
    },
    /// The body of an HTTP GET. Result: the text. The error text is complete.
    Fetch {
        /// Address.
        url: String,
    },
}

impl mainstay_engine::snapshot::Effect for Effect {
    /// A hash of all that it consists of, passwords included.
    fn fingerprint(&self) -> String {
        let number;
        let parts: Vec<&str> = match self {
            Self::Database {
                host,
                port,
                admin_password,
                maintenance,
                name,
                owner,
            } => {
                number = port.to_string();
                let password = &admin_password.0;
                vec![
                    "database",
                    host,
                    &number,
                    password,
                    maintenance,
                    name,
                    owner,
                ]
            }
            Self::Bucket {
                host,
                port,
                access_key,
                secret_key,
                name,
            } => {
                number = port.to_string();
                vec!["bucket", host, &number, &access_key.0, &secret_key.0, name]
            }
            Self::Fetch { url } => vec!["fetch", url],
        };
        hexadecimal_sha256(parts.join("\0").as_bytes())
    }

    /// The Deployment of the server, which is named like the first label of its host. What it held in memory is gone
    /// when it was not ready.
    fn held_by(&self) -> Option<ObjectKey> {
        let (Self::Database { host, .. } | Self::Bucket { host, .. }) = self else {
            return None;
        };
        let mut labels = host.split('.');
        let (name, namespace) = (labels.next()?, labels.next()?);
        Some(ObjectKey::new(kinds::DEPLOYMENT, namespace, name))
    }

    /// By server: each environment has its own.
    fn share(&self) -> String {
        match self {
            Self::Database { host, .. } | Self::Bucket { host, .. } => host.clone(),
            Self::Fetch { url } => url.clone(),
        }
    }

    /// Only certificates are ever fetched.
    fn dry_run(&self) -> String {
        match self {
            Self::Fetch { url } => {
                format!(
                    "-----BEGIN CERTIFICATE-----\nplaceholder for {url}\n-----END CERTIFICATE-----\n"
                )
            }
            Self::Database { .. } | Self::Bucket { .. } => String::new(),
        }
    }
}
