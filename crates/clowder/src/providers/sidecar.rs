//! Provider `sidecar`: containers that the environment provides and an app asks for.

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        batch::v1::CronJob,
        core::v1::{
            ConfigMapVolumeSource, Container, EnvVar, EnvVarSource, HTTPGetAction, PodSpec, Probe,
            ResourceRequirements, SecretKeySelector, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use mainstay_api::clowder::app::pod::{PodSpec as AppPodSpec, Sidecar};
use mainstay_engine::quantity;

use super::{cronjob, deployment, pod};
use crate::{
    names,
    providers::{
        images,
        provider::{AppRender, Context, Provider, ProviderError},
    },
};

const UNIT: &str = "sidecar";
pub(crate) const TOKEN_REFRESHER: &str = "token-refresher";
pub(crate) const OTEL_COLLECTOR: &str = "otel-collector";
const OTEL_HEALTH_PORT: i32 = 13133;

/// The provider.
#[derive(Debug)]
pub struct Sidecars;

impl Provider for Sidecars {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        let spec = &ctx.app.spec;
        for part in &spec.deployments {
            let additions = additions(ctx.shared, ctx.app_name(), &part.pod_spec)?;
            if additions.are_none() {
                continue;
            }
            let key = ctx.deployment_key(&part.name);
            ctx.set.amend::<Deployment>(UNIT, &key, |object| {
                if let Some(pod) = deployment::pod_spec_mut(object) {
                    additions.add_to(pod);
                }
            })?;
        }
        for job in spec.jobs.iter().filter(|job| cronjob::is_scheduled(job)) {
            let additions = additions(ctx.shared, ctx.app_name(), &job.pod_spec)?;
            if additions.are_none() {
                continue;
            }
            let key = ctx.cron_job_key(&job.name);
            ctx.set.amend::<CronJob>(UNIT, &key, |object| {
                if let Some(pod) = cronjob::pod_spec_mut(object) {
                    additions.add_to(pod);
                }
            })?;
        }
        Ok(())
    }
}

/// What sidecars add to a pod.
#[derive(Default)]
struct Additions {
    containers: Vec<Container>,
    /// Containers that start before the others and run as long as they do.
    early: Vec<Container>,
    volumes: Vec<Volume>,
}

impl Additions {
    fn are_none(&self) -> bool {
        self.containers.is_empty() && self.early.is_empty()
    }

    fn add_to(self, pod: &mut PodSpec) {
        pod.containers.extend(self.containers);
        if !self.early.is_empty() {
            pod.init_containers
                .get_or_insert_default()
                .extend(self.early);
            pod.volumes.get_or_insert_default().extend(self.volumes);
        }
    }
}

fn additions(
    context: Context<'_>,
    app: &str,
    pod: &AppPodSpec,
) -> Result<Additions, ProviderError> {
    let provided = &context.environment.spec.providers.sidecars;
    let mut additions = Additions::default();
    for sidecar in &pod.sidecars {
        let enabled = match sidecar.name.as_str() {
            TOKEN_REFRESHER => provided.token_refresher.enabled,
            OTEL_COLLECTOR => provided.otel_collector.enabled,
            name => {
                return Err(ProviderError::Failed(format!(
                    "{name} is not a valid sidecar name"
                )));
            }
        };
        if !enabled || !sidecar.enabled {
            continue;
        }
        if sidecar.name == TOKEN_REFRESHER {
            additions.containers.push(token_refresher(app, sidecar));
        } else {
            additions.early.push(otel_collector(context, app, sidecar)?);
            additions.volumes.push(otel_volume(context, app, sidecar));
        }
    }
    Ok(additions)
}

/// Parity: no setting changes the image.
fn token_refresher(app: &str, sidecar: &Sidecar) -> Container {
    let secret = names::part(app, TOKEN_REFRESHER);
    let variables = ["CLIENT_ID", "CLIENT_SECRET", "ISSUER_URL", "SCOPE", "URL"];
    let variables = variables.map(|name| EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(EnvVarSource {
            secret_key_ref: Some(SecretKeySelector {
                name: secret.clone(),
                key: name.to_owned(),
                optional: None,
            }),
            ..EnvVarSource::default()
        }),
    });
    let arguments = [
        "--oidc.audience=observatorium-telemeter",
        "--oidc.client-id=$(CLIENT_ID)",
        "--oidc.client-secret=$(CLIENT_SECRET)",
        "--oidc.issuer-url=$(ISSUER_URL)",
        "--url=$(URL)",
        "--web.listen=:8082",
        "--scope=$(SCOPE)",
    ];
    pod::with_termination(Container {
        name: TOKEN_REFRESHER.to_owned(),
        image: Some(images::TOKEN_REFRESHER.to_owned()),
        image_pull_policy: Some(pod::IF_NOT_PRESENT.to_owned()),
        args: Some(arguments.map(str::to_owned).into()),
        env: Some(variables.into()),
        resources: Some(ResourceRequirements {
            limits: Some(pod::quantities([("cpu", "100m"), ("memory", "150Mi")])),
            requests: Some(pod::quantities([("cpu", "50m"), ("memory", "128Mi")])),
            claims: None,
        }),
        volume_mounts: own_mounts(sidecar, None),
        ..Container::default()
    })
}

fn otel_collector(
    context: Context<'_>,
    app: &str,
    sidecar: &Sidecar,
) -> Result<Container, ProviderError> {
    let provided = &context.environment.spec.providers.sidecars.otel_collector;
    let configured = &context.settings.config.images.otel_collector;
    let image = images::first(&[
        &sidecar.image,
        &provided.image,
        configured,
        images::OTEL_COLLECTOR,
    ]);
    let limit = memory(&[&sidecar.memory_limit, &provided.memory_limit, "1024Mi"])?;
    let request = memory(&[&sidecar.memory_request, &provided.memory_request, "512Mi"])?;
    let config = VolumeMount {
        name: otel_name(app),
        mount_path: "/etc/otelcol/".to_owned(),
        ..VolumeMount::default()
    };
    Ok(pod::with_termination(Container {
        name: OTEL_COLLECTOR.to_owned(),
        restart_policy: Some("Always".to_owned()),
        image: Some(image.to_owned()),
        image_pull_policy: Some(pod::IF_NOT_PRESENT.to_owned()),
        env: otel_variables(context, sidecar),
        resources: Some(ResourceRequirements {
            limits: Some(pod::quantities([("cpu", "500m"), ("memory", limit)])),
            requests: Some(pod::quantities([("cpu", "250m"), ("memory", request)])),
            claims: None,
        }),
        volume_mounts: own_mounts(sidecar, Some(config)),
        liveness_probe: Some(otel_probe(20)),
        readiness_probe: Some(otel_probe(40)),
        ..Container::default()
    }))
}

/// The first amount that is set.
fn memory<'amount>(amounts: &[&'amount str]) -> Result<&'amount str, ProviderError> {
    let amount = images::first(amounts);
    if quantity::parse(amount).is_none() {
        return Err(ProviderError::bare(format!(
            "{amount} is not a valid quantity of memory"
        )));
    }
    Ok(amount)
}

fn otel_name(app: &str) -> String {
    names::part(app, "otel-config")
}

fn otel_volume(context: Context<'_>, app: &str, sidecar: &Sidecar) -> Volume {
    let provided = &context.environment.spec.providers.sidecars.otel_collector;
    let name = otel_name(app);
    let config_map = images::first(&[&sidecar.config_map, &provided.config_map, &name]);
    Volume {
        config_map: Some(ConfigMapVolumeSource {
            name: config_map.to_owned(),
            optional: Some(true),
            ..ConfigMapVolumeSource::default()
        }),
        name,
        ..Volume::default()
    }
}

/// Variables of the environment; those of the app take their places or follow.
fn otel_variables(context: Context<'_>, sidecar: &Sidecar) -> Option<Vec<EnvVar>> {
    let provided = &context.environment.spec.providers.sidecars.otel_collector;
    let mut merged = provided.environment_variables.clone();
    for variable in &sidecar.environment_variables {
        match merged.iter_mut().find(|known| known.name == variable.name) {
            Some(known) => known.clone_from(variable),
            None => merged.push(variable.clone()),
        }
    }
    let variables = merged.into_iter().map(EnvVar::from);
    pod::listed(&pod::last_of_each_name(
        variables.map(|variable| pod::stored_variable(&variable)),
    ))
}

fn otel_probe(delay: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some("/".to_owned()),
            port: IntOrString::Int(OTEL_HEALTH_PORT),
            ..HTTPGetAction::default()
        }),
        initial_delay_seconds: Some(delay),
        timeout_seconds: Some(4),
        period_seconds: Some(10),
        success_threshold: Some(1),
        failure_threshold: Some(3),
        ..Probe::default()
    }
}

fn own_mounts(sidecar: &Sidecar, first: Option<VolumeMount>) -> Option<Vec<VolumeMount>> {
    let own = sidecar.volume_mounts.iter().map(pod::stored_mount);
    let mounts: Vec<VolumeMount> = first.into_iter().chain(own).collect();
    pod::listed(&mounts)
}

#[cfg(test)]
mod tests;
