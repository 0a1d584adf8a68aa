//! What stands around a Puppet server, for tests: its certificate authority, a classifier, receivers of reports, PuppetDB
//! and Splunk, over plain HTTP or with certificates on both sides.
//!
//! [`CertificateAuthority`] and [`Services`] answer as these do, keep every request, and can be told to be slow, to hang or
//! to talk nonsense. They run on threads of their own, so that programs which block can be tested in one.

mod authority;
mod certificate_authority;
mod request;
mod server;
mod services;

pub use self::{
    authority::{Authority, KeyAndCertificate},
    certificate_authority::CertificateAuthority,
    server::{Answer, Behaviour, Recorded, Server},
    services::{Classification, Services, Settings},
};
