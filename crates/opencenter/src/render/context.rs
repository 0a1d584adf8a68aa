//! What templates may know: the config, the options, and questions that several of them ask.

use crate::{
    catalog,
    config::{ClusterConfig, Common, OpenStack, Secret, Service},
    finding::{Code, Finding},
    overlay::Decision,
};

use super::RenderOptions;

/// Why something cannot be rendered; boxed, because it is rare and large.
pub(crate) type Failure = Box<Finding>;

/// A failure with its code.
pub(crate) fn failure(code: Code, path: impl Into<String>, message: impl Into<String>) -> Failure {
    Box::new(Finding::new(code, path, message))
}

/// The input of templates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'c> {
    /// The effective config.
    pub(crate) config: &'c ClusterConfig,
    /// The options of this render.
    pub(crate) options: &'c RenderOptions,
}

impl<'c> Context<'c> {
    /// The overlay directory in the repository.
    pub(crate) fn overlay_root(&self) -> String {
        format!("applications/overlays/{}", self.config.cluster_name())
    }

    /// Whether a platform service is rendered, as a decision.
    pub(crate) fn service_gate(&self, service: &str) -> Decision {
        decision(
            format!("opencenter.services.{service}.enabled"),
            self.config.is_active(service),
        )
    }

    /// Whether a managed service is rendered, as a decision.
    pub(crate) fn managed_gate(&self, service: &str) -> Decision {
        decision(
            format!("opencenter.managed_services.{service}.enabled"),
            self.config.managed_services().is_active(service),
        )
    }

    /// The first of some services that is not rendered, or the last that is.
    pub(crate) fn all_of(&self, services: &[&str]) -> Decision {
        let mut gates = services.iter().map(|service| self.service_gate(service));
        let refused = gates.clone().find(|gate| !gate.result);
        refused
            .or_else(|| gates.next_back())
            .unwrap_or_else(|| decision("", true))
    }

    /// The first of some services that is rendered, or the first that is not.
    pub(crate) fn any_of(&self, services: &[&str]) -> Decision {
        let mut gates = services.iter().map(|service| self.service_gate(service));
        let admitted = gates.clone().find(|gate| gate.result);
        admitted
            .or_else(|| gates.next())
            .unwrap_or_else(|| decision("", false))
    }

    /// Name and namespace of the shared gateway.
    pub(crate) fn gateway_reference(&self) -> (&'c str, &'c str) {
        match &self.config.services().gateway {
            Some(gateway) => (
                &gateway.settings.gateway_name,
                &gateway.settings.gateway_namespace,
            ),
            None => ("", ""),
        }
    }

    /// The namespace of a platform service.
    pub(crate) fn namespace(&self, service: &str) -> Option<&'c str> {
        let common = self.config.services().get(service);
        // Parity: the original writes `strimzi` into new configs, but installs Kafka into another namespace.
        let configured = common
            .and_then(|common| common.namespace.as_deref())
            .filter(|namespace| !(service == "kafka-cluster" && *namespace == "strimzi"));
        configured.or_else(|| catalog::find_service(service)?.namespace)
    }

    /// The namespace of a managed service.
    pub(crate) fn managed_namespace(&self, service: &str) -> Option<&'c str> {
        let common = self.config.managed_services().get(service);
        common
            .and_then(|common| common.namespace.as_deref())
            .or_else(|| catalog::find_managed(service)?.namespace)
    }

    /// Access to OpenStack, for services that cannot do without.
    pub(crate) fn openstack(&self, service: &str) -> Result<&'c OpenStack, Failure> {
        let openstack = self
            .config
            .opencenter
            .infrastructure
            .cloud
            .openstack
            .as_ref();
        openstack.ok_or_else(|| {
            failure(
                Code::Oc2005,
                "opencenter.infrastructure.cloud.openstack",
                format!("{service} needs access to OpenStack"),
            )
        })
    }

    /// A secret that must be there; a stand-in if the options allow it.
    pub(crate) fn required_secret(
        &self,
        secret: Option<&Secret>,
        service: &str,
        path: &str,
    ) -> Result<String, Failure> {
        match secret.filter(|secret| !secret.is_empty()) {
            Some(secret) => Ok(secret.expose().to_owned()),
            None if self.options.allow_missing_secrets => {
                let field = path.rsplit('.').next().unwrap_or(path);
                Ok(format!("PLACEHOLDER-{service}-{field}")
                    .replace('_', "-")
                    .to_ascii_uppercase())
            }
            None => Err(failure(
                Code::Oc3030,
                path,
                format!("{service} needs this secret"),
            )),
        }
    }
}

/// A decision about a boolean field.
pub(crate) fn decision(field: impl Into<String>, result: bool) -> Decision {
    Decision {
        field: field.into(),
        operator: "true",
        value: None,
        result,
    }
}

/// The block of a service that is being rendered.
pub(crate) fn block<'c, T>(
    service: Option<&'c Service<T>>,
    name: &str,
) -> Result<&'c Service<T>, Failure> {
    service.ok_or_else(|| {
        failure(
            Code::Oc6003,
            format!("opencenter.services.{name}"),
            "the service is not in the config",
        )
    })
}

/// Whether a service block changes the values text of the services that allow it.
pub(crate) fn literal_values(common: Option<&Common>) -> Option<&str> {
    common
        .and_then(|common| common.override_values.as_deref())
        .filter(|text| !text.trim().is_empty())
}
