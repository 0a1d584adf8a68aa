//! The ports of Clowder: real clients for what its pure part asks for outside the Kubernetes API.
//!
//! An [`Effect`] comes in as a value, and a text goes out: the result, or the complete cause of a failure as a condition
//! shows it. Effects are idempotent, so one that was lost is simply run again.
#![deny(missing_docs)]

mod bucket;
mod database;
mod fetch;
mod words;

use std::time::Duration;

use mainstay_clowder::providers::effect::Effect;
use tokio::time::Instant;

pub use mainstay_http::Resolve;

/// How long an effect may take with all its requests, the reading of answers included.
const DEADLINE: Duration = Duration::from_secs(30);
/// A new database is a copy of a whole template.
const DATABASE_DEADLINE: Duration = Duration::from_mins(1);

/// The clients.
#[derive(Debug, Default)]
pub struct Ports {
    resolve: Resolve,
    deadline: Option<Duration>,
}

impl Ports {
    /// Clients that reach some hosts elsewhere than their names say.
    pub fn new(resolve: Resolve) -> Self {
        Self {
            resolve,
            deadline: None,
        }
    }

    /// The same with another limit of time for every effect.
    #[must_use]
    pub fn within(self, deadline: Duration) -> Self {
        Self {
            deadline: Some(deadline),
            ..self
        }
    }

    fn deadline(&self, usual: Duration) -> Instant {
        Instant::now() + self.deadline.unwrap_or(usual)
    }

    /// Carries an effect out, or says why not, before its deadline. Dropping the future abandons it.
    pub async fn run(&self, effect: &Effect) -> Result<String, String> {
        match effect {
            Effect::Database {
                host,
                port,
                admin_password,
                maintenance,
                name,
                owner,
            } => {
                let server = database::Server {
                    resolve: &self.resolve,
                    deadline: self.deadline(DATABASE_DEADLINE),
                    host,
                    port: *port,
                    password: &admin_password.0,
                };
                server.ensure(name, owner, maintenance).await?;
                Ok(String::new())
            }
            Effect::Bucket {
                host,
                port,
                access_key,
                secret_key,
                name,
            } => {
                let server = bucket::Server {
                    resolve: &self.resolve,
                    deadline: self.deadline(DEADLINE),
                    host,
                    port: *port,
                    access_key: &access_key.0,
                    secret_key: &secret_key.0,
                };
                server.ensure(name).await?;
                Ok(String::new())
            }
            Effect::Fetch { url } => {
                fetch::fetch(&self.resolve, url, self.deadline(DEADLINE)).await
            }
        }
    }
}
