//! The container that authenticates requests, put into pods that ask for it.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{
        Container, ContainerPort, EnvVar, EnvVarSource, Probe, ResourceRequirements,
        SecretKeySelector, TCPSocketAction,
    },
    apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString},
};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::providers::pod::with_termination;

/// Annotation that asks for the container.
pub const ENABLED: &str = "clowder/authsidecar-enabled";
/// Annotation with the port that it passes requests on to.
pub const PORT: &str = "clowder/authsidecar-port";
/// Annotation with the Secret that it reads its settings from.
pub const CONFIG: &str = "clowder/authsidecar-config";
/// Annotation with its image.
pub const IMAGE: &str = "clowder/authsidecar-image";

/// Name of the container.
const NAME: &str = "crcauth";
/// Parity: it listens here whatever the environment says.
const LISTENS_ON: i32 = 8080;

/// A pod that cannot be completed.
#[derive(Debug, thiserror::Error)]
pub enum PodError {
    /// The container cannot be written down.
    #[error("the container has no JSON form")]
    Unwritable(#[from] serde_json::Error),
    /// An annotation is missing.
    #[error("pod does not specify authsidecar {0}")]
    Unspecified(&'static str),
}

/// As much of a pod as is needed to find a place in it. Anybody who reaches the webhook can send one, so nothing is
/// kept that takes more room than it took in the pod.
#[derive(Debug, Deserialize)]
pub struct AskingPod {
    #[serde(default)]
    metadata: Metadata,
    spec: Option<Spec>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    annotations: Option<Annotations>,
}

#[derive(Debug, Default, Deserialize)]
struct Annotations {
    #[serde(rename = "clowder/authsidecar-enabled")]
    enabled: Option<String>,
    #[serde(rename = "clowder/authsidecar-port")]
    port: Option<String>,
    #[serde(rename = "clowder/authsidecar-config")]
    config: Option<String>,
    #[serde(rename = "clowder/authsidecar-image")]
    image: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Spec {
    containers: Option<Vec<Named>>,
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default, rename = "name", deserialize_with = "is_ours")]
    is_ours: bool,
}

fn is_ours<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    String::deserialize(deserializer).map(|name| name == NAME)
}

/// The JSON patch that gives a new pod the container it asks for; `None` if it asks for none.
pub fn patch(pod: AskingPod) -> Result<Option<Value>, PodError> {
    let annotations = pod.metadata.annotations.unwrap_or_default();
    if annotations.enabled.as_deref() != Some("true") {
        return Ok(None);
    }
    let needed = |value: Option<String>, what| value.ok_or(PodError::Unspecified(what));
    let port = needed(annotations.port, "port")?;
    let config = needed(annotations.config, "config")?;
    let image = needed(annotations.image, "image")?;
    let container = serde_json::to_value(container(&image, &port, &config))?;
    Ok(Some(json!([operation(pod.spec, &container)])))
}

/// Puts the container in the place of one with its name, or behind the others.
fn operation(spec: Option<Spec>, container: &Value) -> Value {
    let Some(spec) = spec else {
        return json!({"op": "add", "path": "/spec", "value": {"containers": [container]}});
    };
    let Some(containers) = spec.containers else {
        return json!({"op": "add", "path": "/spec/containers", "value": [container]});
    };
    match containers.iter().position(|other| other.is_ours) {
        Some(index) => {
            json!({"op": "replace", "path": format!("/spec/containers/{index}"), "value": container})
        }
        None => json!({"op": "add", "path": "/spec/containers/-", "value": container}),
    }
}

fn container(image: &str, port: &str, config: &str) -> Container {
    let stored = |name: &str, key: &str| EnvVar {
        name: name.to_owned(),
        value_from: Some(EnvVarSource {
            secret_key_ref: Some(SecretKeySelector {
                name: config.to_owned(),
                key: key.to_owned(),
                optional: None,
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    };
    with_termination(Container {
        name: NAME.to_owned(),
        image: Some(image.to_owned()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        env: Some(vec![
            EnvVar {
                name: "CADDY_PORT".to_owned(),
                value: Some(port.to_owned()),
                ..EnvVar::default()
            },
            stored("CADDY_BOP_URL", "bopurl"),
            stored("CADDY_KEYCLOAK_URL", "keycloakurl"),
            stored("CADDY_WHITELIST", "whitelist"),
        ]),
        ports: Some(vec![ContainerPort {
            name: Some("auth".to_owned()),
            container_port: LISTENS_ON,
            protocol: Some("TCP".to_owned()),
            ..ContainerPort::default()
        }]),
        liveness_probe: Some(probe(10)),
        readiness_probe: Some(probe(15)),
        resources: Some(ResourceRequirements {
            limits: Some(amounts("100m", "200Mi")),
            requests: Some(amounts("50m", "100Mi")),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    })
}

fn probe(delay: i32) -> Probe {
    Probe {
        tcp_socket: Some(TCPSocketAction {
            port: IntOrString::Int(LISTENS_ON),
            host: None,
        }),
        initial_delay_seconds: Some(delay),
        timeout_seconds: Some(2),
        period_seconds: Some(10),
        success_threshold: Some(1),
        failure_threshold: Some(3),
        ..Probe::default()
    }
}

fn amounts(cpu: &str, memory: &str) -> BTreeMap<String, Quantity> {
    let amounts = [("cpu", cpu), ("memory", memory)];
    let amounts = amounts.map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned())));
    BTreeMap::from(amounts)
}

#[cfg(test)]
mod tests;
