//! The ports against real servers: PostgreSQL, S3, HTTP and HTTPS.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml allows these in tests, but not in the functions that tests share"
)]

mod bucket;
mod database;
mod fetch;
