//! `Certificate`: what is asked for, and what is to be done next.
//!
//! Everything here is a decision over facts and a time. The invariants that the decisions keep: a key is stored before
//! its request is sent; a certificate is accepted only if it was made for the stored key; what a Secret holds counts for
//! more than what a status says.

pub mod cleanup;
pub mod connection;
pub mod readiness;
pub mod renewal;
pub mod request;
pub mod signing;
pub mod status;

#[cfg(test)]
mod tests;
