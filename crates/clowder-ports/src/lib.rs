//! The ports of Clowder: real clients for what its pure part asks for outside the Kubernetes API.
//!
//! An [`Errand`] comes in as a value, and a text goes out: the result, or the complete cause of a failure as a condition
//! shows it. Errands are idempotent, so one that was lost is simply run again.
#![deny(missing_docs)]

mod bucket;
mod connection;
mod database;
mod fetch;
pub mod resolve;

use mainstay_clowder::errand::Errand;

pub use self::resolve::Resolve;

/// The clients.
#[derive(Debug, Default)]
pub struct Ports {
    resolve: Resolve,
}

impl Ports {
    /// Clients that reach some hosts elsewhere than their names say.
    pub fn new(resolve: Resolve) -> Self {
        Self { resolve }
    }

    /// Carries an errand out. Dropping the future abandons it.
    pub async fn carry_out(&self, errand: &Errand) -> Result<String, String> {
        match errand {
            Errand::Database {
                host,
                port,
                admin_password,
                maintenance,
                name,
                owner,
            } => {
                let server = database::Server {
                    resolve: &self.resolve,
                    host,
                    port: *port,
                    password: &admin_password.0,
                };
                server.ensure(name, owner, maintenance).await?;
                Ok(String::new())
            }
            Errand::Bucket {
                host,
                port,
                access_key,
                secret_key,
                name,
            } => {
                let server = bucket::Server {
                    resolve: &self.resolve,
                    host,
                    port: *port,
                    access_key: &access_key.0,
                    secret_key: &secret_key.0,
                };
                server.ensure(name).await?;
                Ok(String::new())
            }
            Errand::Fetch { url } => fetch::fetch(&self.resolve, url).await,
        }
    }
}
