//! What has to be done outside the Kubernetes API, as values.
//!
//! The pure part asks for an effect and gets its result with the other facts; a port carries it out. An effect that
//! succeeded is not run again by the same process as long as nothing about it changes.

use std::fmt;

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
