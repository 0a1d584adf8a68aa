//! `CertificateAuthority`: the objects of one in this cluster, how far it is, and what is due.

pub mod job;
pub mod objects;
pub mod reconciler;
mod report;
pub mod revocations;
pub mod setup;
pub mod signing;
pub mod status;

#[cfg(test)]
mod tests;
