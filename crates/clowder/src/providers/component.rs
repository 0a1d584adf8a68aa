//! What the components of an environment or app have in common: one Deployment of one container, its Service, and a
//! volume for its data.

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Container, EmptyDirVolumeSource, EnvVar, EnvVarSource, ExecAction, HTTPGetAction,
            PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimVolumeSource,
            PodSpec, PodTemplateSpec, Probe, ResourceRequirements, SecretKeySelector, Service,
            TCPSocketAction, Volume, VolumeMount, VolumeResourceRequirements,
        },
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference},
        util::intstr::IntOrString,
    },
};
use mainstay_engine::ObjectKey;
use serde_json::Value;

use super::{deployment, pod, service};
use crate::{
    kinds,
    names::{self, Labels},
    providers::{
        credentials::Generated,
        provider::{AppRender, Context},
    },
    views::lookup::Lookup,
};

/// A component: its name, where it lives and whose it is.
#[derive(Clone, Debug)]
pub struct Component<'render> {
    /// Namespace of its objects.
    pub namespace: &'render str,
    /// Name of its objects.
    pub name: String,
    /// Name of the environment or app that it belongs to.
    pub owner_name: &'render str,
    /// Reference to that owner.
    pub owner: OwnerReference,
    /// Labels of everything that belongs to the owner.
    pub base_labels: Labels,
}

impl<'render> Component<'render> {
    /// A component of the environment, in its target namespace.
    pub fn of_environment(context: &Context<'render>, name: String) -> Self {
        Self {
            namespace: context.target_namespace,
            name,
            owner_name: context.environment_name(),
            owner: names::environment_owner(context.environment),
            base_labels: names::environment_labels(context.environment_name()),
        }
    }

    /// A component of the app, in its namespace.
    pub fn of_app(ctx: &AppRender<'render>, name: String) -> Self {
        Self {
            namespace: ctx.namespace(),
            name,
            owner_name: ctx.app_name(),
            owner: names::app_owner(ctx.app),
            base_labels: names::app_labels(ctx.app),
        }
    }

    /// Namespace and name.
    pub fn place(&self) -> (&str, &str) {
        (self.namespace, &self.name)
    }

    /// The Secret with its generated values.
    pub fn generated<'keys>(&'keys self, required: &'keys [&'keys str]) -> Generated<'keys> {
        Generated {
            place: self.place(),
            owner: &self.owner,
            required,
        }
    }

    /// Host name of its Service.
    pub fn host(&self) -> String {
        names::host(&self.name, self.namespace)
    }

    /// Base labels with further ones on top.
    pub fn labels(&self, further: &[(&str, &str)]) -> Labels {
        names::overlaid(self.base_labels.clone(), further)
    }

    /// Metadata of one of its objects.
    pub fn metadata(&self, labels: Labels) -> ObjectMeta {
        names::metadata(self.place(), labels, &self.owner)
    }

    /// Its container: pulled once, with the places of its last words.
    pub fn container(&self, image: &str) -> Container {
        pod::with_termination(Container {
            name: self.name.clone(),
            image: Some(image.to_owned()),
            image_pull_policy: Some(pod::IF_NOT_PRESENT.to_owned()),
            ..Container::default()
        })
    }

    /// Its Deployment: one pod.
    pub fn deployment(&self, lookup: Lookup<'_>, labels: Labels, pod: PodSpec) -> Deployment {
        let key = ObjectKey::new(kinds::DEPLOYMENT, self.namespace, self.name.as_str());
        let live = lookup.live(&key);
        let facts = live.as_ref().map_or(&Value::Null, |live| &live.facts);
        let selector = deployment::selector(&labels, facts);
        // The API server demands that a template has the labels that its selector asks for.
        let mut template_labels = labels.clone();
        template_labels.extend(selector.clone());
        Deployment {
            metadata: self.metadata(labels),
            spec: Some(DeploymentSpec {
                replicas: Some(1),
                selector: LabelSelector {
                    match_labels: Some(selector),
                    match_expressions: None,
                },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta {
                        labels: Some(template_labels),
                        ..ObjectMeta::default()
                    }),
                    spec: Some(pod),
                },
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        }
    }

    /// Its Service with one port. The labels that select the pods are on the Service too.
    pub fn service(
        &self,
        lookup: Lookup<'_>,
        selector: Labels,
        port: (&str, i32),
        node_port: bool,
    ) -> Service {
        self.service_of(lookup, selector, &[port], node_port)
    }

    /// Its Service with any ports.
    pub fn service_of(
        &self,
        lookup: Lookup<'_>,
        selector: Labels,
        ports: &[(&str, i32)],
        node_port: bool,
    ) -> Service {
        let mut labels = self.base_labels.clone();
        labels.extend(selector.clone());
        let ports = ports.iter().map(|&(name, port)| service::port(name, port));
        service::build(
            lookup,
            self.metadata(labels),
            selector,
            ports.collect(),
            node_port,
        )
    }

    /// A claim for its data.
    pub fn claim(&self, labels: Labels, size: &str) -> PersistentVolumeClaim {
        PersistentVolumeClaim {
            metadata: self.metadata(labels),
            spec: Some(PersistentVolumeClaimSpec {
                access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
                resources: Some(VolumeResourceRequirements {
                    requests: Some(pod::quantities([("storage", size)])),
                    limits: None,
                }),
                ..PersistentVolumeClaimSpec::default()
            }),
            ..PersistentVolumeClaim::default()
        }
    }

    /// The volume of its data: on a claim of its own, or gone with the pod.
    pub fn volume(&self, persistent: bool) -> Volume {
        Volume {
            name: self.name.clone(),
            persistent_volume_claim: persistent.then(|| PersistentVolumeClaimVolumeSource {
                claim_name: self.name.clone(),
                read_only: None,
            }),
            empty_dir: (!persistent).then(EmptyDirVolumeSource::default),
            ..Volume::default()
        }
    }

    /// Where its volume is mounted.
    pub fn mount(&self, path: &str) -> VolumeMount {
        VolumeMount {
            name: self.name.clone(),
            mount_path: path.to_owned(),
            ..VolumeMount::default()
        }
    }
}

/// A variable with a given value.
pub fn variable(name: &str, value: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: pod::filled(value),
        value_from: None,
    }
}

/// A variable with a value from a Secret.
pub fn variable_from(name: &str, secret: &str, key: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(EnvVarSource {
            secret_key_ref: Some(SecretKeySelector {
                name: secret.to_owned(),
                key: key.to_owned(),
                optional: None,
            }),
            ..EnvVarSource::default()
        }),
    }
}

/// How a container is asked whether it is well.
#[derive(Clone, Copy, Debug)]
pub enum Check<'check> {
    /// By a command in it.
    Command(&'check [&'check str]),
    /// By a path of a port.
    Http(&'check str, i32),
    /// By connecting to a port.
    Connect(i32),
}

/// How often it is asked, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Before the first time.
    pub delay: i32,
    /// For an answer.
    pub timeout: i32,
    /// From time to time.
    pub period: i32,
}

/// A probe: one good answer is enough, three bad ones are too many.
pub fn probe(check: Check<'_>, pace: Pace) -> Probe {
    let mut probe = Probe {
        initial_delay_seconds: Some(pace.delay),
        timeout_seconds: Some(pace.timeout),
        period_seconds: Some(pace.period),
        success_threshold: Some(1),
        failure_threshold: Some(3),
        ..Probe::default()
    };
    match check {
        Check::Command(words) => {
            let command = words.iter().map(|&word| word.to_owned()).collect();
            probe.exec = Some(ExecAction {
                command: Some(command),
            });
        }
        Check::Http(path, port) => {
            probe.http_get = Some(HTTPGetAction {
                path: Some(path.to_owned()),
                port: IntOrString::Int(port),
                ..HTTPGetAction::default()
            });
        }
        Check::Connect(port) => {
            probe.tcp_socket = Some(TCPSocketAction {
                port: IntOrString::Int(port),
                host: None,
            });
        }
    }
    probe
}

/// Processor time and memory: what is reserved, and what may be used.
pub fn resources(requests: (&str, &str), limits: (&str, &str)) -> ResourceRequirements {
    let amounts = |(cpu, memory)| Some(pod::quantities([("cpu", cpu), ("memory", memory)]));
    ResourceRequirements {
        requests: amounts(requests),
        limits: amounts(limits),
        claims: None,
    }
}
