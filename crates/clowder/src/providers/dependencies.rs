//! Provider `dependencies`: tells an app where it and the apps that it depends on can be reached.

pub mod endpoints;

use self::endpoints::{Endpoints, Offer};
use super::web::ports;
use crate::{
    names,
    providers::{
        app_config::AppConfig,
        provider::{AppRender, Context, Provider, ProviderError},
    },
};
use mainstay_api::clowder::{
    ClowdAppRef,
    environment::web::{Tls, WebProvider},
};

const UNIT: &str = "dependencies";

/// The provider.
#[derive(Debug)]
pub struct Dependencies;

impl Provider for Dependencies {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let mut web = ctx.shared.environment.spec.providers.web.clone();
        web.private_port = ports::private_port(&web);
        let mut endpoints = Endpoints::default();
        let (app, namespace) = (ctx.app_name(), ctx.namespace());
        for deployment in &ctx.app.spec.deployments {
            endpoints.add(&Offer {
                web: &web,
                app,
                deployment: &deployment.name,
                hostname: &names::host(&names::part(app, &deployment.name), namespace),
                is_web: super::deployment::is_web(deployment),
                services: &deployment.web_services,
            });
        }
        let spec = &ctx.app.spec;
        // Parity: an app that depends on nobody is not told of itself in the second form.
        let alone = spec.dependencies.is_empty() && spec.optional_dependencies.is_empty();
        if !alone {
            let missing: Vec<&str> = spec
                .dependencies
                .iter()
                .map(String::as_str)
                .filter(|name| !add_named(ctx.shared, &web, app, name, &mut endpoints))
                .collect();
            if !missing.is_empty() {
                return Err(ProviderError::missing("service", missing));
            }
            for name in &spec.optional_dependencies {
                add_named(ctx.shared, &web, app, name, &mut endpoints);
            }
        }
        publish(&mut ctx.config, endpoints, alone);
        Ok(())
    }
}

fn publish(config: &mut AppConfig, endpoints: Endpoints, alone: bool) {
    if !alone {
        config.dependency_endpoints = endpoints.public_addresses();
        config.private_dependency_endpoints = endpoints.private_addresses();
    }
    config.endpoints = endpoints.public;
    config.private_endpoints = endpoints.private;
}

/// Adds the endpoints of the app or reference of this name; false if there is neither. Whether it is ready does not
/// matter.
fn add_named(
    context: Context<'_>,
    web: &WebProvider,
    consumer: &str,
    name: &str,
    endpoints: &mut Endpoints,
) -> bool {
    let environment = context.environment_name();
    let app = context.lookup.apps_named(environment, name).pop();
    let reference = context.lookup.app_refs_named(environment, name).pop();
    let served = |reference: &ClowdAppRef| reference.spec.serves.iter().any(|app| app == consumer);
    match (app, reference) {
        (app, Some(reference)) if app.is_none() || served(&reference) => {
            add_reference(web, name, &reference, endpoints);
        }
        (Some(app), _) => {
            for deployment in &app.deployments {
                let service = names::part(name, &deployment.name);
                endpoints.add(&Offer {
                    web,
                    app: name,
                    deployment: &deployment.name,
                    hostname: &names::host(&service, &app.namespace),
                    is_web: deployment.is_web(),
                    services: &deployment.web_services,
                });
            }
        }
        (None, _) => return false,
    }
    true
}

/// Parity: a reference that is disabled counts all the same.
fn add_reference(
    web: &WebProvider,
    name: &str,
    reference: &ClowdAppRef,
    endpoints: &mut Endpoints,
) {
    let web = remote_web(web, reference);
    for deployment in &reference.spec.deployments {
        endpoints.add(&Offer {
            web: &web,
            app: name,
            deployment: &deployment.name,
            hostname: &deployment.hostname,
            is_web: deployment.web || deployment.web_services.public.enabled,
            services: &deployment.web_services,
        });
    }
}

/// The ports of another environment, where it names any.
fn remote_web(local: &WebProvider, reference: &ClowdAppRef) -> WebProvider {
    let remote = &reference.spec.remote_environment;
    let or = |remote: i32, local: i32| if remote == 0 { local } else { remote };
    WebProvider {
        port: or(remote.port, local.port),
        private_port: or(remote.private_port, local.private_port),
        h2c_port: or(remote.h2c_port, local.h2c_port),
        h2c_private_port: or(remote.h2c_private_port, local.h2c_private_port),
        tls: Tls {
            // Parity: only what a deployment itself says makes it speak TLS.
            enabled: false,
            port: or(remote.tls.port, local.tls.port),
            private_port: or(remote.tls.private_port, local.tls.private_port),
            h2c_port: or(remote.tls.h2c_port, local.tls.h2c_port),
            h2c_private_port: or(remote.tls.h2c_private_port, local.tls.h2c_private_port),
        },
        ..WebProvider::default()
    }
}

#[cfg(test)]
mod tests;
