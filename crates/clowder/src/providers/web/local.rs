//! Mode `local`: an environment with a login server of its own, stand-ins for what it asks, and ways in from outside.
//!
//! | Module | Content |
//! |---|---|
//! | [`hostname`] | the host that everything is published under |
//! | [`keycloak`], [`realm`] | the login server, its database and its users |
//! | [`stand_in`] | stand-ins for the back office and for entitlements |
//! | [`auth`] | what the authenticating sidecar is told |
//! | [`gateway`] | the gateway for clients with certificates |

pub mod auth;
pub mod gateway;
pub mod hostname;
pub mod keycloak;
pub mod realm;
pub mod stand_in;

use k8s_openapi::api::apps::v1::Deployment;
use mainstay_api::clowder::app::deployment::Deployment as AppDeployment;
use mainstay_engine::Kind;

use self::{auth::AuthConfig, stand_in::StandIn};
use super::{
    UNIT, api_paths,
    claims::{self, Held},
};
use crate::{
    kinds, names,
    providers::{
        deployment::is_web,
        ingress,
        provider::{AppRender, EnvironmentRender, ProviderError},
    },
    views::summary::AppSummary,
};

/// Kinds of this mode besides those that every mode has.
pub(super) const KINDS: [Kind; 6] = [
    kinds::DEPLOYMENT,
    kinds::INGRESS,
    kinds::SECRET,
    kinds::PERSISTENT_VOLUME_CLAIM,
    kinds::ISSUER,
    kinds::CERTIFICATE,
];

/// Port that the authenticating sidecar has on Services.
const AUTH_PORT_NAME: &str = "auth";

/// Objects of the environment.
pub(super) fn environment(ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
    keycloak::add_database(ctx)?;
    let bop_url = keycloak::add(ctx)?;
    StandIn::back_office(&ctx.shared).add(ctx)?;
    StandIn::entitlements(&ctx.shared, bop_url).add(ctx)?;
    let certificate = &ctx
        .shared
        .environment
        .spec
        .providers
        .web
        .gateway_certificate;
    if certificate.enabled {
        gateway::add(ctx)?;
    }
    Ok(())
}

/// What an app gets besides its Services.
pub(super) fn app(ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
    ctx.config.hostname = Some(hostname::of(&ctx.shared).to_owned());
    let (context, summary) = (ctx.shared, AppSummary::of(ctx.app));
    let held = claims::held(context.lookup, context.environment, &summary);
    for deployment in &ctx.app.spec.deployments {
        if is_web(deployment) {
            add_ingress(ctx, deployment, &held)?;
        }
        add_auth_config(ctx, deployment)?;
    }
    Ok(())
}

fn add_ingress(
    ctx: &mut AppRender<'_>,
    deployment: &AppDeployment,
    held: &Held,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let name = ctx.part(&deployment.name);
    let mut paths = api_paths(&deployment.web_services.public, &name);
    paths.retain(|path| !held.contains_key(path));
    if paths.is_empty() {
        return Ok(());
    }
    let paths = paths
        .iter()
        .map(|path| ingress::below(path, &name, AUTH_PORT_NAME));
    let metadata = names::metadata(
        (ctx.namespace(), &name),
        names::app_labels(ctx.app),
        &names::app_owner(ctx.app),
    );
    let host = Some(hostname::of(&context));
    let ingress = ingress::build(&context, metadata, host, paths.collect());
    ctx.set.add(UNIT, &ingress::with_tls(ingress))?;
    Ok(())
}

/// Parity: every deployment has one, web service or not, and it belongs to the environment.
fn add_auth_config(
    ctx: &mut AppRender<'_>,
    deployment: &AppDeployment,
) -> Result<(), ProviderError> {
    let context = ctx.shared;
    let config = AuthConfig {
        bop_url: stand_in::back_office_url(&context),
        keycloak_url: keycloak::url(&context),
        whitelist: deployment.web_services.public.whitelist_paths.join(","),
    };
    let name = auth::secret_name(&ctx.part(&deployment.name));
    let secret = config.secret(&context, (ctx.namespace(), &name));
    ctx.set.add(UNIT, &secret)?;
    let hash = config.hash();
    let key = ctx.deployment_key(&deployment.name);
    ctx.set.amend::<Deployment>(UNIT, &key, |object| {
        auth::annotate(object, [(auth::CONFIG_HASH.to_owned(), hash)].into());
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
