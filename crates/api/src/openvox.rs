//! OpenVox: Puppet servers with their certificate authority, certificates, pools and database.
//!
//! The field names, words and zero values are those of the original operator. A default that a definition states is
//! filled in by the API server, and only if the block around the field was written: without `spec.puppet` nothing in
//! it has a value. See `object!` for how these types read what is absent.

pub mod certificate;
pub mod certificate_authority;
pub mod config;
pub mod database;
pub mod node_classifier;
pub mod pool;
pub mod report_processor;
pub mod server;
pub mod shared;
pub mod signing_policy;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use self::{
    certificate::{Certificate, CertificateSpec, CertificateStatus},
    certificate_authority::{
        CertificateAuthority, CertificateAuthoritySpec, CertificateAuthorityStatus,
    },
    config::{Config, ConfigSpec, ConfigStatus},
    database::{Database, DatabaseSpec, DatabaseStatus},
    node_classifier::{NodeClassifier, NodeClassifierSpec, NodeClassifierStatus},
    pool::{Pool, PoolSpec, PoolStatus},
    report_processor::{ReportProcessor, ReportProcessorSpec, ReportProcessorStatus},
    server::{Server, ServerSpec, ServerStatus},
    signing_policy::{SigningPolicy, SigningPolicySpec, SigningPolicyStatus},
};
use crate::definition;

/// The custom resource definitions of the nine kinds.
pub fn crds() -> Vec<CustomResourceDefinition> {
    [
        CertificateAuthority::crd(),
        Certificate::crd(),
        Config::crd(),
        Database::crd(),
        NodeClassifier::crd(),
        Pool::crd(),
        ReportProcessor::crd(),
        Server::crd(),
        SigningPolicy::crd(),
    ]
    .map(definition::complete)
    .into()
}

#[cfg(test)]
mod tests;
