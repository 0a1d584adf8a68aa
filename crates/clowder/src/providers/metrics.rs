//! Provider `metrics`: a port for metrics on everything, and who scrapes it.
//!
//! | Module | Content |
//! |---|---|
//! | [`monitor`] | what a Prometheus is told to scrape |
//! | [`prometheus`] | a Prometheus of the environment's own, and its push gateway |

pub mod monitor;
pub mod prometheus;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use mainstay_api::clowder::environment::observability::MetricsMode;
use mainstay_engine::Kind;

use super::{
    deployment, pod,
    service::{self, HTTP},
};
use crate::{
    kinds,
    provider::{AppPass, EnvironmentPass, Provider, ProviderError, Scene},
};

const UNIT: &str = "metrics";
/// Name of the port.
const PORT: &str = "metrics";
/// Where the Prometheus that others run looks for what to scrape.
const SHARED_NAMESPACE: &str = "openshift-customer-monitoring";
/// The label that it looks for.
const SHARED_LABEL: &str = "app-sre";

/// The provider.
#[derive(Debug)]
pub struct Metrics;

impl Provider for Metrics {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, pass: &mut EnvironmentPass<'_>) -> Result<(), ProviderError> {
        let mode = set_up(pass.scene)?;
        for kind in registered(mode) {
            pass.set.prune_left_over(kind);
        }
        match mode {
            Mode::Operator => prometheus::render(pass),
            Mode::None | Mode::AppInterface => Ok(()),
        }
    }

    fn app(&self, pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
        let mode = set_up(pass.scene)?;
        for kind in registered(mode) {
            pass.set.prune_left_over(kind);
        }
        add_ports(pass)?;
        let monitors = pass.scene.settings.config.features.create_service_monitor;
        let scene = pass.scene;
        match mode {
            Mode::None => {}
            Mode::AppInterface => {
                if monitors {
                    monitor::render(pass, SHARED_NAMESPACE, SHARED_LABEL)?;
                }
            }
            Mode::Operator => {
                prometheus::configure(pass)?;
                if monitors {
                    monitor::render(pass, scene.target_namespace, scene.environment_name())?;
                    prometheus::admit(pass)?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    None,
    Operator,
    AppInterface,
}

fn set_up(scene: Scene<'_>) -> Result<Mode, ProviderError> {
    match &scene.environment.spec.providers.metrics.mode {
        MetricsMode::None => Ok(Mode::None),
        MetricsMode::Operator => Ok(Mode::Operator),
        MetricsMode::AppInterface => Ok(Mode::AppInterface),
        MetricsMode::Other(text) if text.is_empty() => Ok(Mode::None),
        // Parity: no colon after the message.
        MetricsMode::Other(text) => Err(ProviderError::Setup(format!(
            "No matching metrics mode for {text}"
        ))),
    }
}

/// Kinds whose left-overs a mode removes.
fn registered(mode: Mode) -> Vec<Kind> {
    let mut registered = vec![kinds::SERVICE_MONITOR];
    if mode == Mode::Operator {
        registered.extend([
            kinds::PROMETHEUS,
            kinds::SUBSCRIPTION,
            kinds::ROLE_BINDING,
            kinds::SERVICE_ACCOUNT,
            kinds::DEPLOYMENT,
            kinds::SERVICE,
        ]);
    }
    registered
}

/// The port for metrics comes last, in every mode.
fn add_ports(pass: &mut AppPass<'_>) -> Result<(), ProviderError> {
    let metrics = &pass.scene.environment.spec.providers.metrics;
    // An environment without the block: the API server would refuse the Service with less to go by.
    if metrics.port == 0 && !pass.app.spec.deployments.is_empty() {
        return Err(ProviderError::Failed(format!(
            "ClowdEnvironment {} has no spec.providers.metrics.port",
            pass.scene.environment_name()
        )));
    }
    pass.config.metrics_port = metrics.port;
    pass.config.metrics_path.clone_from(&metrics.path);
    for deployment in &pass.app.spec.deployments {
        let key = pass.service_key(&deployment.name);
        let scene = pass.scene;
        pass.set.amend::<Service>(UNIT, &key, |object| {
            let mut port = service::port_speaking(PORT, metrics.port, HTTP);
            if scene.node_port() {
                port.node_port = service::known_node_port(scene.world, &key, PORT);
            }
            let spec = object.spec.get_or_insert_default();
            spec.ports.get_or_insert_default().push(port);
        })?;
        let key = pass.deployment_key(&deployment.name);
        pass.set.amend::<Deployment>(UNIT, &key, |object| {
            let container =
                deployment::pod_spec_mut(object).and_then(|spec| spec.containers.first_mut());
            if let Some(container) = container {
                let ports = container.ports.get_or_insert_default();
                ports.push(pod::port(PORT, metrics.port));
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
