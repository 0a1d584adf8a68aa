//! Provider `deployment`: one Deployment for each entry of `deployments`.

use std::collections::BTreeSet;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment},
        core::v1::{Container, PodSpec, PodTemplateSpec},
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use mainstay_api::clowder::{
    app::deployment::Deployment as AppDeployment, environment::web::WebMode,
};
use serde_json::Value;

use super::{
    pod::{self, probe},
    web::local::auth,
};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        images,
        provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
};

const UNIT: &str = "deployment";
const PROGRESS_DEADLINE: i32 = 600;
const ROLLING_UPDATE: &str = "RollingUpdate";

/// The provider.
#[derive(Debug)]
pub struct Deployments;

impl Provider for Deployments {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::DEPLOYMENT);
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::DEPLOYMENT);
        let names = ctx.app.spec.deployments.iter();
        refuse_repeated(ctx, UNIT, names.map(|deployment| deployment.name.as_str()))?;
        for deployment in &ctx.app.spec.deployments {
            let object = build(ctx, deployment)?;
            ctx.set.add(UNIT, &object)?;
        }
        Ok(())
    }
}

/// Whether a deployment has a public service, by the old switch or the new.
pub fn is_web(deployment: &AppDeployment) -> bool {
    deployment.web || deployment.web_services.public.enabled
}

/// The pod of a Deployment.
pub(crate) fn pod_spec_mut(object: &mut Deployment) -> Option<&mut PodSpec> {
    object.spec.as_mut()?.template.spec.as_mut()
}

/// Names of parts have to be unique, because their objects are named after them.
pub(crate) fn refuse_repeated<'name>(
    ctx: &AppRender<'_>,
    unit: &str,
    names: impl Iterator<Item = &'name str>,
) -> Result<(), ProviderError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            let (namespace, name) = (ctx.namespace(), ctx.part(name));
            return Err(ProviderError::Failed(format!(
                "cannot create: ident store [{unit}] already has item named [{namespace}/{name}]"
            )));
        }
    }
    Ok(())
}

fn build(ctx: &AppRender<'_>, deployment: &AppDeployment) -> Result<Deployment, ProviderError> {
    let name = ctx.part(&deployment.name);
    let live = ctx
        .shared
        .lookup
        .live(&ctx.deployment_key(&deployment.name));
    let facts = live.as_ref().map_or(&Value::Null, |live| &live.facts);
    let labels = names::overlaid(names::app_labels(ctx.app), &[("pod", &name)]);
    let selector = selector(&labels, facts);
    // The API server demands that a template has the labels that its selector asks for.
    let mut template_labels = labels.clone();
    template_labels.extend(selector.clone());
    let owner = names::app_owner(ctx.app);
    let mut metadata = names::metadata((ctx.namespace(), &name), labels, &owner);
    metadata.annotations = annotations(ctx, deployment);
    Ok(Deployment {
        metadata,
        spec: Some(DeploymentSpec {
            replicas: Some(replicas(deployment, facts)),
            selector: LabelSelector {
                match_labels: Some(selector),
                match_expressions: None,
            },
            strategy: Some(strategy(deployment)),
            progress_deadline_seconds: Some(PROGRESS_DEADLINE),
            template: PodTemplateSpec {
                spec: Some(pod_spec(ctx, deployment, &name, &template_labels)?),
                metadata: Some(ObjectMeta {
                    annotations: template_annotations(ctx.shared, deployment, &name),
                    labels: Some(template_labels),
                    ..ObjectMeta::default()
                }),
            },
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    })
}

/// All labels of the app select, and a selector can never be changed: a Deployment keeps the one it was made with.
pub(crate) fn selector(labels: &Labels, facts: &Value) -> Labels {
    let live = facts.get("selector").and_then(Value::as_object);
    let live: Option<Labels> = live.map(|live| {
        live.iter()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    });
    live.filter(|live| !live.is_empty())
        .unwrap_or_else(|| labels.clone())
}

/// Annotations of the app and, over them, of the deployment.
fn annotations(ctx: &AppRender<'_>, deployment: &AppDeployment) -> Option<Labels> {
    let mut annotations = ctx.app.metadata.annotations.clone().unwrap_or_default();
    annotations.extend(deployment.metadata.annotations.clone());
    Some(annotations).filter(|annotations| !annotations.is_empty())
}

/// What the pod webhook reads, if the environment authenticates itself, and over it what the app says.
fn template_annotations(
    context: Context<'_>,
    deployment: &AppDeployment,
    name: &str,
) -> Option<Labels> {
    let web = &context.environment.spec.providers.web;
    let mut annotations = Labels::new();
    if web.mode == WebMode::Local && is_web(deployment) {
        let config = auth::secret_name(name);
        annotations = auth::annotations(&context, web.port, &config);
    }
    annotations.extend(deployment.pod_spec.metadata.annotations.clone());
    Some(annotations).filter(|annotations| !annotations.is_empty())
}

/// An autoscaler may go beyond what is wanted, but not below; and zero is always zero.
fn replicas(deployment: &AppDeployment, facts: &Value) -> i32 {
    let wanted = deployment.replicas.or(deployment.min_replicas).unwrap_or(1);
    let scaled = deployment.auto_scaler.is_some() || deployment.auto_scaler_simple.is_some();
    let current = facts
        .get("replicas")
        .and_then(Value::as_i64)
        .and_then(|current| i32::try_from(current).ok());
    match current {
        Some(current) if wanted != 0 && scaled && current >= wanted => current,
        _ => wanted,
    }
}

/// Parity: the deprecated switch `web` does not make a deployment public here, and a claim cannot be mounted twice.
fn strategy(deployment: &AppDeployment) -> DeploymentStrategy {
    let claims = deployment.pod_spec.volumes.iter();
    let name = if claims
        .into_iter()
        .any(|volume| volume.persistent_volume_claim.is_some())
    {
        "Recreate"
    } else if deployment.web_services.public.enabled {
        ROLLING_UPDATE
    } else {
        let private = deployment.deployment_strategy.as_ref();
        let private = private.map_or("", |strategy| &strategy.private_strategy);
        images::first(&[private, ROLLING_UPDATE])
    };
    let quarter = || Some(IntOrString::String("25%".to_owned()));
    DeploymentStrategy {
        type_: Some(name.to_owned()),
        // Stated even where it is the default: what is not ours could not be taken away for another strategy.
        rolling_update: (name == ROLLING_UPDATE).then(|| RollingUpdateDeployment {
            max_surge: quarter(),
            max_unavailable: quarter(),
        }),
    }
}

fn pod_spec(
    ctx: &AppRender<'_>,
    deployment: &AppDeployment,
    name: &str,
    labels: &Labels,
) -> Result<PodSpec, ProviderError> {
    let pod = &deployment.pod_spec;
    let container = container(ctx.shared, deployment, name);
    let config_secret = ctx.shared.settings.config_secret(ctx.app_name());
    Ok(PodSpec {
        init_containers: pod::init_containers(&pod.init_containers, &container)?,
        containers: vec![container],
        tolerations: pod::tolerations(&pod.machine_pool),
        termination_grace_period_seconds: pod.termination_grace_period_seconds,
        volumes: Some(pod::volumes(&pod.volumes, &config_secret)),
        affinity: Some(pod::affinity(labels)),
        ..PodSpec::default()
    })
}

fn container(context: Context<'_>, deployment: &AppDeployment, name: &str) -> Container {
    let spec = &context.environment.spec;
    let pod = &deployment.pod_spec;
    let usual = |delay| is_web(deployment).then(|| probe::health(spec.providers.web.port, delay));
    let liveness = pod.liveness_probe.as_ref().map(probe::completed);
    let readiness = pod.readiness_probe.as_ref().map(probe::completed);
    let omit = spec.providers.deployment.omit_pull_policy;
    Container {
        liveness_probe: liveness.or_else(|| usual(probe::LIVENESS_DELAY)),
        readiness_probe: readiness.or_else(|| usual(probe::READINESS_DELAY)),
        lifecycle: pod.lifecycle.clone(),
        image_pull_policy: Some(pod::pull_policy(omit, &pod.image).to_owned()),
        ..pod::main_container(name, pod, &spec.resource_defaults)
    }
}

#[cfg(test)]
mod tests;
