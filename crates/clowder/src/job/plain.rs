//! Jobs of the app: one Job for each that the invocation names. Scheduled jobs may be invoked too.

use k8s_openapi::{
    api::{
        batch::v1::{Job as JobObject, JobSpec},
        core::v1::{Container, PodSpec, PodTemplateSpec, SecretVolumeSource, Volume},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_api::clowder::{ClowdApp, app::job::Job};
use mainstay_engine::ObjectSet;

use super::{JOBS_UNIT, Stage, add, naming};
use crate::{
    names::{self, Labels},
    providers::{cronjob, images, pod, provider::ProviderError},
};

/// Longest name that the pods of a Job can carry in a label.
const LONGEST_NAME: usize = 63;

/// Adds the Jobs.
pub(super) fn render(stage: &Stage<'_>, set: &mut ObjectSet) -> Result<(), ProviderError> {
    for position in 0..stage.invocation.spec.jobs.len() {
        if let Some(job) = nth(stage, position)? {
            add(set, JOBS_UNIT, &job)?;
        }
    }
    Ok(())
}

/// Why a job cannot be invoked although the app is ready.
pub(super) enum Obstacle {
    /// The app has no such job, or it is disabled.
    NotInvocable,
    /// Its Job cannot be made.
    NotBuilt,
}

/// The job that stops the others from being started with these words, and why.
pub(super) fn obstacle<'job>(stage: &Stage<'job>, words: &str) -> Option<(&'job str, Obstacle)> {
    let jobs = &stage.invocation.spec.jobs;
    let position = (0..jobs.len())
        .find(|&position| nth(stage, position).is_err_and(|error| error.to_string() == words))?;
    let name = jobs.get(position)?;
    let obstacle = match find(stage.app, name) {
        Ok(_) => Obstacle::NotBuilt,
        Err(_) => Obstacle::NotInvocable,
    };
    Some((name, obstacle))
}

/// The Job of the nth name; `None` if there are fewer.
fn nth(stage: &Stage<'_>, position: usize) -> Result<Option<JobObject>, ProviderError> {
    let jobs = &stage.invocation.spec.jobs;
    let Some(name) = jobs.get(position) else {
        return Ok(None);
    };
    let earlier = jobs.iter().take(position);
    let occurrence = earlier.filter(|earlier| *earlier == name).count();
    build(stage, find(stage.app, name)?, occurrence).map(Some)
}

fn find<'app>(app: &'app ClowdApp, name: &str) -> Result<&'app Job, ProviderError> {
    let mut jobs = app.spec.jobs.iter();
    let job = jobs
        .find(|job| job.name == name)
        .ok_or_else(|| ProviderError::bare(format_args!("No such job {name}")))?;
    if job.disabled {
        return Err(ProviderError::bare(format_args!(
            "Job [{name}] is disabled"
        )));
    }
    Ok(job)
}

fn build(stage: &Stage<'_>, job: &Job, occurrence: usize) -> Result<JobObject, ProviderError> {
    let invocation = stage.invocation;
    let base = names::part(names::name(&stage.app.metadata), &job.name);
    let name = naming::job_name(invocation, &base, occurrence);
    if name.len() > LONGEST_NAME {
        return Err(ProviderError::bare(format_args!(
            "[{name}] contains a label with character length greater than {LONGEST_NAME}"
        )));
    }
    let labels = names::overlaid(names::invocation_labels(invocation), &[("job", &base)]);
    let owner = names::invocation_owner(invocation);
    let mut metadata = names::metadata((stage.namespace(), &name), labels.clone(), &owner);
    // Parity: the Job carries the annotations of the app, its pods those of the invocation.
    metadata.annotations = Some(annotated(&stage.app.metadata));
    Ok(JobObject {
        metadata,
        spec: Some(JobSpec {
            active_deadline_seconds: job.active_deadline_seconds,
            parallelism: job.parallelism,
            completions: job.completions,
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    annotations: Some(annotated(&invocation.metadata)),
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod_spec(stage, job, &name)?),
            },
            ..JobSpec::default()
        }),
        ..JobObject::default()
    })
}

/// The annotations of jobs and those of an object on top.
fn annotated(metadata: &ObjectMeta) -> Labels {
    let mut annotations = pod::job_annotations();
    annotations.extend(metadata.annotations.clone().unwrap_or_default());
    annotations
}

fn pod_spec(stage: &Stage<'_>, job: &Job, name: &str) -> Result<PodSpec, ProviderError> {
    let pod = &job.pod_spec;
    let providers = &stage.shared.environment.spec.providers;
    let omit = providers.deployment.omit_pull_policy;
    let container = Container {
        image_pull_policy: Some(pod::pull_policy(omit, &pod.image).to_owned()),
        ..cronjob::container(stage.shared, job, name)
    };
    let app = &stage.invocation.spec.app_name;
    let config = Volume {
        name: names::CONFIG_VOLUME.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(stage.shared.settings.config_secret(app)),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    };
    let mut spec = PodSpec {
        init_containers: pod::init_containers(&pod.init_containers, &container)?,
        containers: vec![container],
        restart_policy: Some(images::first(&[&job.restart_policy, "Never"]).to_owned()),
        service_account_name: Some(names::part(names::name(&stage.app.metadata), "app")),
        tolerations: pod::tolerations(&pod.machine_pool),
        volumes: Some(pod.volumes.iter().cloned().chain([config]).collect()),
        ..PodSpec::default()
    };
    // Parity: the switch alone counts, whether there are ports for TLS or not.
    if providers.web.tls.enabled {
        pod::add_ca(&mut spec, name);
    }
    Ok(spec)
}
