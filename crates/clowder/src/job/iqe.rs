//! The test run of an app: one Job with the IQE container, and browsers beside it.

mod browsers;
mod environment_config;
mod variables;
mod vault;

use k8s_openapi::{
    api::{
        batch::v1::{Job as JobObject, JobSpec},
        core::v1::{Container, PodSpec, PodTemplateSpec, SecretVolumeSource, Volume, VolumeMount},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_api::clowder::{
    environment::testing::{ConfigAccess, TestingProvider},
    job_invocation::IqeJob,
};
use mainstay_engine::ObjectSet;

use self::browsers::Browsers;
use super::{IQE_UNIT, Stage, add, naming};
use crate::{
    names,
    providers::{images, pod, provider::ProviderError, serviceaccount},
};

/// Volume with the configuration of every app of the environment.
const ENVIRONMENT_VOLUME: &str = "cdenvconfig";

impl<'render> Stage<'render> {
    /// What the invocation says about the run.
    fn run(&self) -> &'render IqeJob {
        &self.invocation.spec.testing.iqe
    }

    /// What the environment says about tests.
    fn testing(&self) -> &'render TestingProvider {
        &self.shared.environment.spec.providers.testing
    }
}

/// Adds the Job and the Secrets that it needs.
pub(super) fn render(stage: &Stage<'_>, set: &mut ObjectSet) -> Result<(), ProviderError> {
    let vault = vault::provide(stage, set)?;
    if stage.testing().config_access == ConfigAccess::Environment {
        let secret = environment_config::secret(stage)?;
        set.add(IQE_UNIT, &secret)?;
    }
    let browsers = browsers::containers(stage);
    let container = Container {
        env: Some(pod::last_of_each_name(
            variables::of(stage).into_iter().chain(vault),
        )),
        ..container(stage, &browsers)
    };
    add(set, IQE_UNIT, &job(stage, container, browsers))
}

fn job(stage: &Stage<'_>, container: Container, browsers: Browsers) -> JobObject {
    let invocation = stage.invocation;
    let base = naming::tests_base(invocation);
    let labels = names::overlaid(names::invocation_labels(invocation), &[("job", &base)]);
    let mut metadata = names::metadata(
        (stage.namespace(), &container.name),
        labels.clone(),
        &names::invocation_owner(invocation),
    );
    metadata.annotations = Some(pod::job_annotations());
    let mut volumes = config_volumes(stage);
    volumes.extend(browsers.volumes);
    JobObject {
        metadata,
        spec: Some(JobSpec {
            backoff_limit: Some(0),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    annotations: Some(pod::job_annotations()),
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(PodSpec {
                    containers: vec![container],
                    init_containers: pod::listed(&browsers.containers),
                    restart_policy: Some("Never".to_owned()),
                    service_account_name: Some(serviceaccount::test_account(&stage.shared)),
                    volumes: pod::listed(&volumes),
                    ..PodSpec::default()
                }),
            },
            ..JobSpec::default()
        }),
        ..JobObject::default()
    }
}

/// The container of the tests, without its variables.
fn container(stage: &Stage<'_>, browsers: &Browsers) -> Container {
    let run = stage.run();
    let iqe = &stage.testing().iqe;
    let plugin = &stage.app.spec.testing.iqe_plugin;
    let tag = images::first(&[&run.image_tag, plugin, "latest"]);
    let command = if run.debug {
        "container-debug"
    } else {
        "clowder"
    };
    let mut mounts = browsers.mounts.clone();
    mounts.extend(config_mounts(stage));
    pod::with_termination(Container {
        name: naming::tests_name(stage.invocation),
        image: Some(format!("{}:{tag}", iqe.image_base)),
        image_pull_policy: Some("Always".to_owned()),
        args: Some(vec![command.to_owned()]),
        resources: Some(pod::resources(
            &iqe.resources,
            &stage.shared.environment.spec.resource_defaults,
        )),
        volume_mounts: pod::listed(&mounts),
        ..Container::default()
    })
}

/// Volumes, their Secrets and where they are mounted: those that the tests may read.
fn configs(stage: &Stage<'_>) -> Vec<(&'static str, String, &'static str)> {
    let app = stage
        .shared
        .settings
        .config_secret(&stage.invocation.spec.app_name);
    // Parity: everywhere else the path ends in a slash.
    let of_app = (names::CONFIG_VOLUME, app, "/cdapp");
    match stage.testing().config_access {
        ConfigAccess::Environment => {
            let environment = naming::tests_base(stage.invocation);
            vec![(ENVIRONMENT_VOLUME, environment, "/cdenv"), of_app]
        }
        ConfigAccess::App => vec![of_app],
        ConfigAccess::None | ConfigAccess::Unset | ConfigAccess::Other(_) => Vec::new(),
    }
}

fn config_volumes(stage: &Stage<'_>) -> Vec<Volume> {
    let volumes = configs(stage).into_iter().map(|(name, secret, _)| Volume {
        name: name.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(secret),
            default_mode: Some(names::VOLUME_MODE),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    });
    volumes.collect()
}

fn config_mounts(stage: &Stage<'_>) -> Vec<VolumeMount> {
    let configs = configs(stage).into_iter();
    configs.map(|(name, _, path)| mount(name, path)).collect()
}

/// A mount.
fn mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: path.to_owned(),
        ..VolumeMount::default()
    }
}

#[cfg(test)]
mod tests;
