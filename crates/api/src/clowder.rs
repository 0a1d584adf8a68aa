//! Clowder: applications declare what they need, environments say how it is provided.
//!
//! The types mirror what users have written for years, so field names, words and zero values are those of the original
//! operator: an absent text is empty, an absent switch is off, an absent block is a block of zero values. Only where
//! the original tells absence from zero is a field an [`Option`].

pub mod access;
pub mod app;
pub mod app_reference;
pub mod environment;
pub mod job_invocation;
pub mod reference;
pub mod sidecar;
pub mod web_services;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use self::{
    app::{ClowdApp, ClowdAppSpec, ClowdAppStatus},
    app_reference::{ClowdAppRef, ClowdAppRefSpec, ClowdAppRefStatus},
    environment::{ClowdEnvironment, ClowdEnvironmentSpec, status::ClowdEnvironmentStatus},
    job_invocation::{ClowdJobInvocation, ClowdJobInvocationSpec, ClowdJobInvocationStatus},
};
use crate::definition;

/// The custom resource definitions of the four kinds.
pub fn crds() -> Vec<CustomResourceDefinition> {
    [
        ClowdAppRef::crd(),
        ClowdApp::crd(),
        ClowdEnvironment::crd(),
        ClowdJobInvocation::crd(),
    ]
    .map(definition::complete)
    .into()
}

#[cfg(test)]
mod tests;
