//! Databases in a PostgreSQL server.

use std::{pin::pin, time::Duration};

use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_postgres::{
    Client, Config, Connection, Error, NoTls, config::SslMode, error::SqlState, tls::NoTlsStream,
};

use mainstay_http::{Resolve, addresses, causes, dial};

use crate::words;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A server, and how to log in to it.
pub(crate) struct Server<'effect> {
    pub(crate) resolve: &'effect Resolve,
    /// When all of it has to be over.
    pub(crate) deadline: Instant,
    pub(crate) host: &'effect str,
    pub(crate) port: u16,
    /// Of the role `postgres`.
    pub(crate) password: &'effect str,
}

enum Failure {
    /// There is no such database.
    Absent,
    Other(String),
}

type Session = (Client, Connection<TcpStream, NoTlsStream>);

impl Server<'_> {
    /// Makes sure that the database exists. One that is there is not looked at any further, whoever owns it.
    pub(crate) async fn ensure(
        &self,
        name: &str,
        owner: &str,
        maintenance: &str,
    ) -> Result<(), String> {
        match self.log_in(name).await {
            Ok(_) => Ok(()),
            Err(Failure::Absent) => self.create(name, owner, maintenance).await,
            Err(Failure::Other(cause)) => Err(cause),
        }
    }

    async fn create(&self, name: &str, owner: &str, maintenance: &str) -> Result<(), String> {
        let session = self.log_in(maintenance).await;
        let (client, connection) = session.map_err(|failure| match failure {
            Failure::Absent => format!("database \"{maintenance}\" does not exist"),
            Failure::Other(cause) => cause,
        })?;
        let statement = format!(
            "CREATE DATABASE {} WITH OWNER={}",
            identifier(name)?,
            identifier(owner)?
        );
        // The connection is driven here and nowhere else: with the deadline it goes, whatever the server does.
        let created = timeout_at(self.deadline, async {
            let mut created = pin!(client.batch_execute(&statement));
            tokio::select! {
                created = &mut created => created,
                _ = connection => created.await,
            }
        });
        match created.await {
            Err(_) => Err(format!("creating database \"{name}\" took too long")),
            Ok(Err(error)) if !another_was_faster(&error) => Err(told(&error)),
            Ok(_) => Ok(()),
        }
    }

    async fn log_in(&self, database: &str) -> Result<Session, Failure> {
        let session = timeout(CONNECT_TIMEOUT, self.session(database));
        let session = timeout_at(self.deadline, session).await;
        session.flatten().unwrap_or_else(|_| {
            let (host, port) = (self.host, self.port);
            Err(Failure::Other(format!(
                "dial tcp {host}:{port}: i/o timeout"
            )))
        })
    }

    async fn session(&self, database: &str) -> Result<Session, Failure> {
        let stream = dial(self.resolve, self.host, self.port, addresses::any)
            .await
            .map_err(|error| Failure::Other(words::told(&error)))?;
        let mut config = Config::new();
        config
            .user("postgres")
            .password(self.password)
            .dbname(database)
            .ssl_mode(SslMode::Disable);
        config.connect_raw(stream, NoTls).await.map_err(|error| {
            if error.code() == Some(&SqlState::INVALID_CATALOG_NAME) {
                Failure::Absent
            } else {
                Failure::Other(told(&error))
            }
        })
    }
}

/// Several apps may ask for the same database at once.
fn another_was_faster(error: &Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::DUPLICATE_DATABASE) || code == Some(&SqlState::UNIQUE_VIOLATION)
}

/// What the server said, if it said anything.
fn told(error: &Error) -> String {
    match error.as_db_error() {
        Some(answer) => format!("pq: {}", answer.message()),
        None => causes(error),
    }
}

/// A quoted name: users choose them.
fn identifier(name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains('\0') {
        return Err(format!("{name:?} is no name for a database or role"));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(identifier("shop").unwrap(), "\"shop\"");
        assert_eq!(
            identifier("a\"; DROP TABLE b; --").unwrap(),
            "\"a\"\"; DROP TABLE b; --\""
        );
        assert!(identifier("a\0b").is_err());
        assert!(identifier("").is_err());
    }
}
