//! Provider `web`: a Service for each deployment, and a sidecar that ends TLS for those that want it.
//!
//! | Module | Content |
//! |---|---|
//! | [`caddy`] | what every Caddy is told about its certificate |
//! | `path` | which paths proxies can be told |
//! | [`ports`] | which ports a deployment offers |
//! | [`tls`] | who speaks TLS |
//! | [`tls_sidecar`] | the sidecar that ends TLS, and its configuration |
//! | [`local`] | mode `local`: a login server and ways in from outside |

pub mod caddy;
pub(crate) mod claims;
pub mod local;
mod path;
pub mod ports;
pub mod tls;
pub mod tls_sidecar;

use k8s_openapi::api::{apps::v1::Deployment, batch::v1::CronJob, core::v1::Service};
use mainstay_api::clowder::{
    app::deployment::Deployment as AppDeployment,
    environment::web::{WebMode, WebProvider},
    web_services::PublicWebService,
};
use mainstay_engine::ObjectSet;

use self::{ports::Ports, tls_sidecar::TlsSidecar};
use super::{cronjob, deployment, pod, service};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        images,
        provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
};

pub(crate) const UNIT: &str = "web";
/// Annotation for which the platform makes a certificate.
const SERVING_CERTIFICATE: &str = "service.beta.openshift.io/serving-cert-secret-name";

/// The provider.
#[derive(Debug)]
pub struct Web;

impl Provider for Web {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        let is_local = set_up(ctx.shared, ctx.set)?;
        if is_local {
            local::environment(ctx)?;
        }
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let is_local = set_up(ctx.shared, ctx.set)?;
        let web = &ctx.shared.environment.spec.providers.web;
        configure(ctx, web);
        let mut deployments = ctx.app.spec.deployments.iter();
        if let Some(fault) = deployments.find_map(path::fault) {
            return Err(ProviderError::Failed(fault));
        }
        for deployment in &ctx.app.spec.deployments {
            render(ctx, web, deployment)?;
        }
        if is_local {
            local::app(ctx)?;
        } else if tls::is_configured(&web.tls) {
            trust_in_cron_jobs(ctx)?;
        }
        Ok(())
    }
}

/// Whether the mode is `local`.
///
/// Parity: unlike with other providers there is no default mode, and no colon after the message.
fn set_up(context: Context<'_>, set: &mut ObjectSet) -> Result<bool, ProviderError> {
    let mode = &context.environment.spec.providers.web.mode;
    if let WebMode::Other(_) = mode {
        let message = format!("No matching web mode for {mode}");
        return Err(ProviderError::Setup(message));
    }
    set.prune.kind(kinds::SERVICE);
    set.prune.kind(kinds::CONFIG_MAP);
    let is_local = *mode == WebMode::Local;
    if is_local {
        for kind in local::KINDS {
            set.prune.kind(kind);
        }
    }
    Ok(is_local)
}

/// The paths that a deployment gives, or one made from its older setting or the name of its objects. An empty list is
/// none.
///
/// Paths that no proxy should be told are passed over: whoever gave them is refused, and nobody else hears of them.
pub(crate) fn api_paths(public: &PublicWebService, name: &str) -> Vec<String> {
    if !path::is_plain(public) {
        return vec![format!("/api/{name}/")];
    }
    let given = public.api_paths.clone().unwrap_or_default();
    if !given.is_empty() {
        return given;
    }
    let part = images::first(&[&public.api_path, name]);
    vec![format!("/api/{part}/")]
}

/// Ports are told to every app, whether it uses them or not.
fn configure(ctx: &mut AppRender<'_>, web: &WebProvider) {
    let used = |port: i32| (port != 0).then_some(port);
    let config = &mut ctx.config;
    config.web_port = Some(web.port);
    config.public_port = Some(web.port);
    config.private_port = Some(ports::private_port(web));
    config.h2c_public_port = used(web.h2c_port);
    config.h2c_private_port = used(web.h2c_private_port);
    // Parity: said even if TLS has no ports.
    config.tls_ca_path = web.tls.enabled.then(|| names::CA_PATH.to_owned());
}

fn render(
    ctx: &mut AppRender<'_>,
    web: &WebProvider,
    deployment: &AppDeployment,
) -> Result<(), ProviderError> {
    let ports = Ports::of(web, deployment);
    let name = ctx.part(&deployment.name);
    let sidecar = (!ports.tls.is_empty()).then(|| TlsSidecar::of(ctx, &name, &ports.tls));
    let service = build_service(ctx, deployment, &ports, sidecar.as_ref());
    ctx.set.add(UNIT, &service)?;
    if let Some(sidecar) = &sidecar {
        ctx.set.add(UNIT, &sidecar.config_map)?;
    }
    let key = ctx.deployment_key(&deployment.name);
    let trusts = tls::is_configured(&web.tls);
    ctx.set.amend::<Deployment>(UNIT, &key, |object| {
        let Some(spec) = deployment::pod_spec_mut(object) else {
            return;
        };
        if let Some(container) = spec.containers.first_mut() {
            container.ports = pod::listed(&ports.container);
        }
        if let Some(sidecar) = sidecar {
            spec.containers.push(sidecar.container);
            spec.volumes.get_or_insert_default().extend(sidecar.volumes);
        }
        if trusts {
            pod::add_ca(spec, &name);
        }
    })?;
    Ok(())
}

fn build_service(
    ctx: &AppRender<'_>,
    deployment: &AppDeployment,
    ports: &Ports,
    sidecar: Option<&TlsSidecar>,
) -> Service {
    let context = ctx.shared;
    let name = ctx.part(&deployment.name);
    let labels = names::overlaid(names::app_labels(ctx.app), &[("pod", &name)]);
    let place = (ctx.namespace(), name.as_str());
    let mut metadata = names::metadata(place, labels, &names::app_owner(ctx.app));
    metadata.annotations = sidecar.map(|sidecar| {
        Labels::from([(SERVING_CERTIFICATE.to_owned(), sidecar.certificate.clone())])
    });
    let selector = names::overlaid(Labels::new(), &[("pod", &name)]);
    let mut service = service::build(
        context.lookup,
        metadata,
        selector,
        ports.service.clone(),
        context.node_port(),
    );
    let sticky = deployment::is_web(deployment) && deployment.web_services.public.session_affinity;
    if let Some(spec) = service.spec.as_mut().filter(|_| sticky) {
        spec.session_affinity = Some("ClientIP".to_owned());
    }
    service
}

fn trust_in_cron_jobs(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    for job in &ctx.app.spec.jobs {
        if !cronjob::is_scheduled(job) {
            continue;
        }
        let (key, name) = (ctx.cron_job_key(&job.name), ctx.part(&job.name));
        ctx.set.amend::<CronJob>(UNIT, &key, |object| {
            if let Some(spec) = cronjob::pod_spec_mut(object) {
                pod::add_ca(spec, &name);
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
