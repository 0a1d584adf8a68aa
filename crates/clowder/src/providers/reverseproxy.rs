//! Provider `reverseproxy`: a proxy that serves the assets of frontends from the environment's object store.
//!
//! Parity: the object store is taken to be MinIO in the same environment, and nobody checks that it is.

use k8s_openapi::api::core::v1::{Container, EnvVar, PodSpec, Probe};
use mainstay_engine::ObjectSet;

use super::{
    component::{self, Check, Component, Pace, variable, variable_from},
    objectstore::minio,
    pod,
};
use crate::{
    kinds, names,
    providers::{
        images,
        provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
};

const UNIT: &str = "reverseproxy";
const PORT: i32 = 8080;
const PORT_NAME: &str = "proxy";
const BUCKET_PATH_PREFIX: &str = "frontend-pushcache";
const SPA_ENTRYPOINT_PATH: &str = "/data/chrome/index.html";
const AWS_REGION: &str = "us-east-1";

/// The provider.
#[derive(Debug)]
pub struct ReverseProxy;

impl Provider for ReverseProxy {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        render(&ctx.shared, ctx.set)
    }

    /// Parity: the proxy belongs to the environment, and every app sees to it that it is there.
    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        render(&ctx.shared, ctx.set)
    }
}

fn render(context: &Context<'_>, set: &mut ObjectSet) -> Result<(), ProviderError> {
    match context
        .environment
        .spec
        .providers
        .reverse_proxy
        .mode
        .as_str()
    {
        "ephemeral" => add_proxy(context, set),
        "none" | "" => Ok(()),
        mode => Err(ProviderError::no_mode("reverse proxy", mode)),
    }
}

fn add_proxy(context: &Context<'_>, set: &mut ObjectSet) -> Result<(), ProviderError> {
    set.prune.kind(kinds::DEPLOYMENT);
    set.prune.kind(kinds::SERVICE);
    let name = names::part(context.environment_name(), "reverse-proxy");
    let component = Component::of_environment(context, name);
    let labels = component.labels(&[("env-app", &component.name)]);
    let pod = pod_spec(context, &component);
    let deployment = component.deployment(context.lookup, labels.clone(), pod);
    set.add(UNIT, &deployment)?;
    let port = (PORT_NAME, PORT);
    let service = component.service(context.lookup, labels, port, context.node_port());
    set.add(UNIT, &service)?;
    Ok(())
}

/// Parity: the pod runs under the default account of its namespace, unlike other components of the environment.
fn pod_spec(context: &Context<'_>, component: &Component<'_>) -> PodSpec {
    let given = &context
        .environment
        .spec
        .providers
        .reverse_proxy
        .images
        .proxy;
    let configured = &context.settings.config.images.reverse_proxy;
    let image = images::first(&[given, configured, images::REVERSE_PROXY]);
    PodSpec {
        containers: vec![Container {
            env: Some(variables(context)),
            ports: Some(vec![pod::port(PORT_NAME, PORT)]),
            liveness_probe: Some(health(10, 30)),
            readiness_probe: Some(health(5, 10)),
            resources: Some(component::resources(("50m", "100Mi"), ("100m", "200Mi"))),
            ..component.container(image)
        }],
        ..PodSpec::default()
    }
}

fn variables(context: &Context<'_>) -> Vec<EnvVar> {
    let proxy = &context.environment.spec.providers.reverse_proxy;
    let store = minio::server_name(context);
    let host = names::host(&store, context.target_namespace);
    let or = |given, default| images::first(&[given, default]);
    vec![
        variable("SERVER_PORT", &PORT.to_string()),
        variable(
            "MINIO_UPSTREAM_URL",
            &format!("http://{host}:{}", minio::PORT),
        ),
        variable(
            "BUCKET_PATH_PREFIX",
            or(&proxy.bucket_path_prefix, BUCKET_PATH_PREFIX),
        ),
        variable(
            "SPA_ENTRYPOINT_PATH",
            or(&proxy.spa_entrypoint_path, SPA_ENTRYPOINT_PATH),
        ),
        variable("AWS_REGION", or(&proxy.aws_region, AWS_REGION)),
        variable("LOG_LEVEL", "debug"),
        variable_from("PUSHCACHE_AWS_ACCESS_KEY_ID", &store, "accessKey"),
        variable_from("PUSHCACHE_AWS_SECRET_ACCESS_KEY", &store, "secretKey"),
    ]
}

fn health(delay: i32, period: i32) -> Probe {
    let pace = Pace {
        delay,
        timeout: 2,
        period,
    };
    component::probe(Check::Http("/healthz", PORT), pace)
}

#[cfg(test)]
mod tests;
