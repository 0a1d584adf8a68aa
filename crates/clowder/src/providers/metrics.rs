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
    providers::provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
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

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let mode = set_up(ctx.shared)?;
        for kind in registered(mode) {
            ctx.set.prune.kind(kind);
        }
        match mode {
            Mode::Operator => prometheus::render(ctx),
            Mode::None | Mode::AppInterface => Ok(()),
        }
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mode = set_up(ctx.shared)?;
        for kind in registered(mode) {
            ctx.set.prune.kind(kind);
        }
        add_ports(ctx)?;
        let monitors = ctx.shared.settings.config.features.create_service_monitor;
        let context = ctx.shared;
        match mode {
            Mode::None => {}
            Mode::AppInterface => {
                if monitors {
                    monitor::render(ctx, SHARED_NAMESPACE, SHARED_LABEL)?;
                }
            }
            Mode::Operator => {
                prometheus::configure(ctx)?;
                if monitors {
                    monitor::render(ctx, context.target_namespace, context.environment_name())?;
                    prometheus::admit(ctx)?;
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

fn set_up(context: Context<'_>) -> Result<Mode, ProviderError> {
    match &context.environment.spec.providers.metrics.mode {
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
fn add_ports(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    let metrics = &ctx.shared.environment.spec.providers.metrics;
    // An environment without the block: the API server would refuse the Service with less to go by.
    if metrics.port == 0 && !ctx.app.spec.deployments.is_empty() {
        return Err(ProviderError::Failed(format!(
            "ClowdEnvironment {} has no spec.providers.metrics.port",
            ctx.shared.environment_name()
        )));
    }
    ctx.config.metrics_port = metrics.port;
    ctx.config.metrics_path.clone_from(&metrics.path);
    for deployment in &ctx.app.spec.deployments {
        let key = ctx.service_key(&deployment.name);
        let context = ctx.shared;
        ctx.set.amend::<Service>(UNIT, &key, |object| {
            let mut port = service::port_speaking(PORT, metrics.port, HTTP);
            if context.node_port() {
                port.node_port = service::known_node_port(context.lookup, &key, PORT);
            }
            let spec = object.spec.get_or_insert_default();
            spec.ports.get_or_insert_default().push(port);
        })?;
        let key = ctx.deployment_key(&deployment.name);
        ctx.set.amend::<Deployment>(UNIT, &key, |object| {
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
