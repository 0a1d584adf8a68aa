//! The effective config of one cluster, as later steps read it.

use std::{fmt, ops::Deref};

use serde_json::Value;

use super::{
    origin::{Origin, Origins},
    root::Root,
    services::{Common, ManagedServices, Services},
};

/// A cluster config after references and defaults: typed for code, and as a value for conditions and export.
///
/// Dereferences to [`Root`], so `config.opencenter.meta.region` works.
#[derive(Clone)]
pub struct ClusterConfig {
    pub(crate) root: Root,
    pub(crate) effective: Value,
    pub(crate) origins: Origins,
}

impl fmt::Debug for ClusterConfig {
    /// Nothing of the content: values from outside are secret in whichever field they stand.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClusterConfig")
            .finish_non_exhaustive()
    }
}

impl Deref for ClusterConfig {
    type Target = Root;

    fn deref(&self) -> &Root {
        &self.root
    }
}

impl ClusterConfig {
    /// The name in paths: the overlay directory and every Flux path.
    pub fn cluster_name(&self) -> &str {
        &self.opencenter.cluster.cluster_name
    }

    /// The domain of the cluster.
    pub fn fqdn(&self) -> &str {
        &self.opencenter.cluster.cluster_fqdn
    }

    /// The region of the infrastructure.
    pub fn region(&self) -> &str {
        &self.opencenter.meta.region
    }

    /// The platform services.
    pub fn services(&self) -> &Services {
        &self.opencenter.services
    }

    /// The managed services.
    pub fn managed_services(&self) -> &ManagedServices {
        &self.opencenter.managed_services
    }

    /// Whether a platform service is rendered. The structural ones count as active when they are absent.
    pub fn is_active(&self, service: &str) -> bool {
        match self.services().get(service) {
            Some(common) => common.is_active(),
            None => is_structural(service),
        }
    }

    /// Whether somebody else runs a platform service.
    pub fn is_external(&self, service: &str) -> bool {
        self.services()
            .get(service)
            .is_some_and(Common::is_external)
    }

    /// The effective config as a value, secrets included: for conditions, never for display.
    pub fn effective(&self) -> &Value {
        &self.effective
    }

    /// A value of the effective config by its dotted path, such as `opencenter.services.loki.enabled`.
    pub fn lookup(&self, path: &str) -> Option<&Value> {
        super::path::get(&self.effective, path)
    }

    /// Where every value of the effective config comes from.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Whether the file itself sets the value at a dotted path.
    pub fn is_explicit(&self, path: &str) -> bool {
        self.origins
            .get(path)
            .as_ref()
            .is_some_and(Origin::is_explicit)
    }
}

fn is_structural(service: &str) -> bool {
    matches!(service, "fluxcd" | "sources")
}
