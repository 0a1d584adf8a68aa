//! Provider `cronjob`: one CronJob for each job with a schedule. Other jobs run when somebody invokes them.

use k8s_openapi::{
    api::{
        batch::v1::{CronJob, CronJobSpec, JobSpec, JobTemplateSpec},
        core::v1::{Container, PodSecurityContext, PodSpec, PodTemplateSpec, Probe},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_api::clowder::app::job::Job;

use super::{
    deployment,
    pod::{self, probe},
};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        images,
        provider::{AppRender, Context, EnvironmentRender, Provider, ProviderError},
    },
};

const UNIT: &str = "cronjob";
/// Parity: the period that the app gives counts for deployments only.
const GRACE_PERIOD: i64 = 30;

/// The provider.
#[derive(Debug)]
pub struct CronJobs;

impl Provider for CronJobs {
    fn name(&self) -> &'static str {
        UNIT
    }

    fn environment(&self, ctx: &mut EnvironmentRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::CRON_JOB);
        Ok(())
    }

    fn app(&self, ctx: &mut AppRender<'_>) -> Result<(), ProviderError> {
        ctx.set.prune.kind(kinds::CRON_JOB);
        let names = ctx.app.spec.jobs.iter().filter(|job| is_scheduled(job));
        deployment::refuse_repeated(ctx, UNIT, names.map(|job| job.name.as_str()))?;
        for job in &ctx.app.spec.jobs {
            if is_scheduled(job) {
                let object = build(ctx, job)?;
                ctx.set.add(UNIT, &object)?;
            }
        }
        Ok(())
    }
}

/// Whether a job has a CronJob.
pub fn is_scheduled(job: &Job) -> bool {
    !job.schedule.is_empty() && !job.disabled
}

/// The pod of a CronJob.
pub(crate) fn pod_spec_mut(object: &mut CronJob) -> Option<&mut PodSpec> {
    let job = object.spec.as_mut()?.job_template.spec.as_mut()?;
    job.template.spec.as_mut()
}

fn build(ctx: &AppRender<'_>, job: &Job) -> Result<CronJob, ProviderError> {
    let name = ctx.part(&job.name);
    let labels = names::overlaid(names::app_labels(ctx.app), &[("pod", &name)]);
    let owner = names::app_owner(ctx.app);
    let mut metadata = names::metadata((ctx.namespace(), &name), labels.clone(), &owner);
    let mut annotations = pod::job_annotations();
    annotations.extend(ctx.app.metadata.annotations.clone().unwrap_or_default());
    metadata.annotations = Some(annotations);
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            annotations: Some(pod::job_annotations()),
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        }),
        spec: Some(pod_spec(ctx, job, &name, &labels)?),
    };
    Ok(CronJob {
        metadata,
        spec: Some(CronJobSpec {
            schedule: job.schedule.clone(),
            concurrency_policy: Some(images::first(&[&job.concurrency_policy, "Allow"]).to_owned()),
            starting_deadline_seconds: job.starting_deadline_seconds,
            suspend: job.suspend,
            successful_jobs_history_limit: job.successful_jobs_history_limit,
            failed_jobs_history_limit: job.failed_jobs_history_limit,
            job_template: JobTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(JobSpec {
                    active_deadline_seconds: job.active_deadline_seconds,
                    parallelism: job.parallelism,
                    completions: job.completions,
                    template,
                    ..JobSpec::default()
                }),
            },
            ..CronJobSpec::default()
        }),
        ..CronJob::default()
    })
}

fn pod_spec(
    ctx: &AppRender<'_>,
    job: &Job,
    name: &str,
    labels: &Labels,
) -> Result<PodSpec, ProviderError> {
    let pod = &job.pod_spec;
    let container = container(ctx.shared, job, name);
    let config_secret = ctx.shared.settings.config_secret(ctx.app_name());
    Ok(PodSpec {
        init_containers: pod::init_containers(&pod.init_containers, &container)?,
        containers: vec![container],
        restart_policy: Some(images::first(&[&job.restart_policy, "Never"]).to_owned()),
        service_account_name: Some(names::part(ctx.app_name(), "app")),
        termination_grace_period_seconds: Some(GRACE_PERIOD),
        security_context: Some(PodSecurityContext::default()),
        scheduler_name: Some("default-scheduler".to_owned()),
        dns_policy: Some("ClusterFirst".to_owned()),
        tolerations: pod::tolerations(&pod.machine_pool),
        volumes: Some(pod::volumes(&pod.volumes, &config_secret)),
        affinity: Some(pod::affinity(labels)),
        ..PodSpec::default()
    })
}

/// The container of a job, scheduled or invoked.
pub(crate) fn container(context: Context<'_>, job: &Job, name: &str) -> Container {
    let spec = &context.environment.spec;
    let pod = &job.pod_spec;
    let said = |probe: Option<&Probe>| {
        let probe = probe.map(probe::passed_on);
        probe.filter(|probe| *probe != Probe::default())
    };
    let omit = spec.providers.deployment.omit_pull_policy;
    Container {
        liveness_probe: said(pod.liveness_probe.as_ref()),
        readiness_probe: said(pod.readiness_probe.as_ref()),
        ports: Some(vec![pod::port("metrics", spec.providers.metrics.port)]),
        image_pull_policy: (!omit).then(|| pod::IF_NOT_PRESENT.to_owned()),
        ..pod::main_container(name, pod, &spec.resource_defaults)
    }
}

#[cfg(test)]
mod tests;
