//! The Flux `Kustomization` kind.

use mainstay_yaml::Node;

use crate::descriptor::{HealthCheck, HealthCheckExpression, InlinePatch, Role};

use super::{FLUX_NAMESPACE, map};

/// Every key that Flux knows below `spec`. Anything else would be ignored by the cluster, or refused.
pub const SPEC_FIELDS: &[&str] = &[
    "buildMetadata",
    "commonMetadata",
    "components",
    "decryption",
    "deletionPolicy",
    "dependsOn",
    "force",
    "healthCheckExprs",
    "healthChecks",
    "ignore",
    "ignoreMissingComponents",
    "images",
    "interval",
    "kubeConfig",
    "namePrefix",
    "nameSuffix",
    "patches",
    "path",
    "postBuild",
    "prune",
    "retryInterval",
    "serviceAccountName",
    "sourceRef",
    "suspend",
    "targetNamespace",
    "timeout",
    "wait",
];

/// A unit that Flux applies, with everything decided.
#[derive(Clone, Debug, PartialEq)]
pub struct FluxUnit {
    /// The object's name.
    pub name: String,
    /// The part it plays.
    pub role: Role,
    /// Units that must be ready before; in declared order, without repetitions.
    pub depends_on: Vec<String>,
    /// How often Flux looks.
    pub interval: String,
    /// Pause between failed attempts; Flux's own choice if absent.
    pub retry_interval: Option<String>,
    /// How long an attempt may take; Flux's own choice if absent.
    pub timeout: Option<String>,
    /// Whether Flux decrypts.
    pub decryption: bool,
    /// The `GitRepository`.
    pub source: String,
    /// The path inside the source.
    pub path: String,
    /// The namespace that Flux sets on everything.
    pub target_namespace: Option<String>,
    /// Whether Flux removes what is gone.
    pub prune: bool,
    /// Whether Flux waits for everything to be healthy.
    pub wait: bool,
    /// Whether Flux recreates what cannot be changed.
    pub force: Option<bool>,
    /// Whether Flux leaves the unit alone.
    pub suspend: Option<bool>,
    /// Objects that must be healthy.
    pub health_checks: Vec<HealthCheck>,
    /// Rules that tell when objects are healthy.
    pub health_check_expressions: Vec<HealthCheckExpression>,
    /// The product that the objects are part of.
    pub part_of: Option<String>,
    /// Who maintains the objects.
    pub managed_by: String,
    /// Patches.
    pub patches: Vec<InlinePatch>,
}

impl FluxUnit {
    /// The manifest.
    pub fn to_node(&self) -> Node {
        map! {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": map! { "name": &self.name, "namespace": FLUX_NAMESPACE },
            "spec": map! {
                "dependsOn": self.depends_on(),
                "interval": &self.interval,
                "retryInterval": self.retry_interval.as_ref(),
                "timeout": self.timeout.as_ref(),
                "decryption": self.decryption.then(|| map! {
                    "provider": "sops",
                    "secretRef": map! { "name": "sops-age" },
                }),
                "sourceRef": map! {
                    "kind": "GitRepository",
                    "name": &self.source,
                    "namespace": FLUX_NAMESPACE,
                },
                "path": &self.path,
                "targetNamespace": self.target_namespace.as_ref(),
                "prune": self.prune,
                "wait": self.wait,
                "force": self.force,
                "suspend": self.suspend,
                "healthChecks": self.health_checks(),
                "healthCheckExprs": self.health_check_expressions(),
                "commonMetadata": map! {
                    "labels": map! {
                        "app.kubernetes.io/part-of": self.part_of.as_ref(),
                        "app.kubernetes.io/managed-by": "flux",
                        "opencenter/managed-by": &self.managed_by,
                    },
                },
                "patches": self.patches(),
            },
        }
    }

    fn depends_on(&self) -> Node {
        let entries = self
            .depends_on
            .iter()
            .map(|name| map! { "name": name, "namespace": FLUX_NAMESPACE });
        Node::list(entries).or_absent()
    }

    fn health_checks(&self) -> Node {
        let checks = self.health_checks.iter().map(|check| {
            map! {
                "apiVersion": &check.api_version,
                "kind": &check.kind,
                "name": &check.name,
                "namespace": check.namespace.as_ref(),
            }
        });
        Node::list(checks).or_absent()
    }

    fn health_check_expressions(&self) -> Node {
        let expressions = self.health_check_expressions.iter().map(|expression| {
            map! {
                "apiVersion": &expression.api_version,
                "kind": &expression.kind,
                "current": &expression.current,
                "failed": expression.failed.as_ref(),
                "inProgress": expression.in_progress.as_ref(),
            }
        });
        Node::list(expressions).or_absent()
    }

    fn patches(&self) -> Node {
        let patches = self.patches.iter().map(|patch| {
            map! { "patch": &patch.patch, "target": Node::from(&patch.target).or_absent() }
        });
        Node::list(patches).or_absent()
    }
}
