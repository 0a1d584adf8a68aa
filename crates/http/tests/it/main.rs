//! Against small servers of our own: what is refused, how answers end, and who is trusted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod plain;
mod proxied;
mod server;
mod tls;
