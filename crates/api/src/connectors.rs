//! Connectors: an application that is packaged as YAML, installed with adjustments, and the record of what was installed.

pub mod connector;
pub mod install_manifest;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use self::{
    connector::{Connector, ConnectorSpec, ConnectorStatus},
    install_manifest::{InstallManifest, InstallManifestSpec, InstallManifestStatus},
};
use crate::{
    definition::{self, Rule},
    word::word,
};

word! {
    /// What is recorded of each installed object.
    pub enum ManifestType {
        /// Its identity.
        Metadata = "Metadata",
        /// All of it.
        All = "All",
    }
}

impl ManifestType {
    /// Whether whole objects are recorded; identities are unless something else is said.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// The custom resource definitions of both kinds.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let connector = definition::complete(Connector::crd());
    let connector = definition::with_root_rules(connector, &connector::RULES);
    let sets = definition::complete(InstallManifest::crd());
    vec![connector, sets]
}

const fn rule(rule: &'static str, message: &'static str) -> Rule {
    Rule { rule, message }
}

#[cfg(test)]
mod tests;
