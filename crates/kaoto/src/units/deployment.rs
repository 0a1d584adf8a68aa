//! The Deployment of the editor.

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, ObjectFieldSelector,
            PodSecurityContext, PodSpec, PodTemplateSpec, Probe, ResourceRequirements,
            SeccompProfile, SecurityContext,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use mainstay_engine::{
    ObjectSet,
    unit::{RenderError, Unit},
};

use super::{DEPLOYMENT, metadata};
use crate::{names, validate::KaotoInput};

/// Renders the Deployment.
#[derive(Clone, Copy, Debug)]
pub struct DeploymentUnit;

impl Unit<KaotoInput> for DeploymentUnit {
    fn name(&self) -> &'static str {
        DEPLOYMENT
    }

    fn render(&self, input: &KaotoInput, set: &mut ObjectSet) -> Result<(), RenderError> {
        set.add(DEPLOYMENT, &build_deployment(input))?;
        Ok(())
    }
}

fn build_deployment(input: &KaotoInput) -> Deployment {
    let labels = names::labels(&input.name);
    let pod = PodSpec {
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            seccomp_profile: Some(default_seccomp_profile()),
            ..PodSecurityContext::default()
        }),
        containers: vec![build_container(input)],
        ..PodSpec::default()
    };
    Deployment {
        metadata: metadata(input),
        spec: Some(DeploymentSpec {
            replicas: Some(1),
            // Parity: all five labels, although two would do. A selector cannot be changed later.
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                match_expressions: None,
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod),
            },
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    }
}

fn build_container(input: &KaotoInput) -> Container {
    let requests = [("cpu", "500m"), ("memory", "600Mi")];
    Container {
        name: names::APPLICATION.to_owned(),
        image: Some(input.image.clone()),
        image_pull_policy: Some("Always".to_owned()),
        ports: Some(vec![ContainerPort {
            name: Some(names::PORT_NAME.to_owned()),
            container_port: names::PORT,
            protocol: Some("TCP".to_owned()),
            ..ContainerPort::default()
        }]),
        env: Some(vec![namespace_variable()]),
        readiness_probe: Some(probe()),
        liveness_probe: Some(probe()),
        resources: Some(ResourceRequirements {
            requests: Some(
                requests
                    .map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned())))
                    .into(),
            ),
            ..ResourceRequirements::default()
        }),
        // Parity: no capability is dropped, so namespaces that enforce `restricted` refuse the pod.
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            run_as_non_root: Some(true),
            seccomp_profile: Some(default_seccomp_profile()),
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}

fn namespace_variable() -> EnvVar {
    EnvVar {
        name: "NAMESPACE".to_owned(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                field_path: "metadata.namespace".to_owned(),
                api_version: None,
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    }
}

fn probe() -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some("/".to_owned()),
            port: IntOrString::Int(names::PORT),
            scheme: Some("HTTP".to_owned()),
            ..HTTPGetAction::default()
        }),
        initial_delay_seconds: Some(5),
        period_seconds: Some(10),
        timeout_seconds: Some(10),
        success_threshold: Some(1),
        failure_threshold: Some(10),
        ..Probe::default()
    }
}

fn default_seccomp_profile() -> SeccompProfile {
    SeccompProfile {
        type_: "RuntimeDefault".to_owned(),
        localhost_profile: None,
    }
}
