//! How the fields of Kubernetes' own types are merged.

use mainstay_engine::Kind;

/// A place in an object whose fields have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A type that is not known: lists are one value.
    Unknown,
    /// A map without rules.
    Plain,
    /// An object of a kind whose fields have no rules beyond those of every object.
    Object,
    /// A kind with a pod template at `spec.template`.
    Workload,
    /// A Deployment.
    Deployment,
    /// A `CronJob`.
    CronJob,
    /// A Pod.
    Pod,
    /// A `PodTemplate`, which has its template at the top.
    PodTemplateObject,
    /// A Service.
    Service,
    /// A `ServiceAccount`.
    ServiceAccount,
    /// A configuration of webhooks.
    WebhookConfiguration,
    /// A policy for admission.
    AdmissionPolicy,
    /// A `PodDisruptionBudget`.
    DisruptionBudget,
    /// Metadata.
    Metadata,
    /// A status.
    Status,
    /// The spec of a workload.
    WorkloadSpec,
    /// The spec of a Deployment.
    DeploymentSpec,
    /// The spec of a `CronJob`.
    CronJobSpec,
    /// A template of a Job.
    JobTemplate,
    /// A pod template.
    PodTemplate,
    /// A pod spec.
    PodSpec,
    /// A container.
    Container,
    /// The spec of a Service.
    ServiceSpec,
    /// A webhook.
    Webhook,
    /// The spec of a policy for admission.
    AdmissionPolicySpec,
    /// The spec of a `PodDisruptionBudget`.
    DisruptionBudgetSpec,
}

/// How one field is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Maps are merged into each other, anything else is one value.
    Map(Shape),
    /// Maps are merged, and fields that the wanted map does not have go when it changes.
    MapRetainingKeys,
    /// The wanted value replaces whatever is there.
    Replace,
    /// A list whose items are told apart by a key.
    Keyed {
        /// Name of the key.
        key: &'static str,
        /// Shape of the items.
        item: Shape,
        /// Fields of an item that the wanted one does not have go when it changes.
        retain_keys: bool,
    },
    /// A list of scalars without order.
    Set,
}

impl Shape {
    /// The shape of objects of a kind.
    pub fn of(kind: &Kind) -> Self {
        match (&*kind.group, &*kind.kind) {
            ("apps", "Deployment") => Self::Deployment,
            ("apps", "StatefulSet" | "DaemonSet" | "ReplicaSet")
            | ("batch", "Job")
            | ("", "ReplicationController") => Self::Workload,
            ("batch", "CronJob") => Self::CronJob,
            ("", "Pod") => Self::Pod,
            ("", "PodTemplate") => Self::PodTemplateObject,
            ("", "Service") => Self::Service,
            ("", "ServiceAccount") => Self::ServiceAccount,
            (
                "admissionregistration.k8s.io",
                "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
            ) => Self::WebhookConfiguration,
            (
                "admissionregistration.k8s.io",
                "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy",
            ) => Self::AdmissionPolicy,
            ("policy", "PodDisruptionBudget") => Self::DisruptionBudget,
            // Definitions and API services are merged as RFC 7386 says, by kubectl too.
            ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => Self::Unknown,
            (group, _) if is_built_in(group) => Self::Object,
            _ => Self::Unknown,
        }
    }

    /// The rule of a field.
    pub fn rule(self, field: &str) -> Rule {
        let keyed = |key, item| Rule::Keyed {
            key,
            item,
            retain_keys: false,
        };
        let retaining = |key| Rule::Keyed {
            key,
            item: Self::Plain,
            retain_keys: true,
        };
        match (self, field) {
            (Self::Unknown, _) => Rule::Map(Self::Unknown),
            (shape, "metadata") if shape.has_metadata() => Rule::Map(Self::Metadata),
            (shape, "status") if shape.is_object() => Rule::Map(Self::Status),
            (Self::Metadata, "ownerReferences") => keyed("uid", Self::Plain),
            (Self::Metadata, "finalizers") => Rule::Set,
            (Self::Status, "conditions") => keyed("type", Self::Plain),
            (Self::Workload | Self::JobTemplate, "spec") => Rule::Map(Self::WorkloadSpec),
            (Self::Deployment, "spec") => Rule::Map(Self::DeploymentSpec),
            (Self::DeploymentSpec, "strategy") => Rule::MapRetainingKeys,
            (Self::WorkloadSpec | Self::DeploymentSpec | Self::PodTemplateObject, "template") => {
                Rule::Map(Self::PodTemplate)
            }
            (Self::CronJob, "spec") => Rule::Map(Self::CronJobSpec),
            (Self::CronJobSpec, "jobTemplate") => Rule::Map(Self::JobTemplate),
            (Self::Pod | Self::PodTemplate, "spec") => Rule::Map(Self::PodSpec),
            (Self::PodSpec, "containers" | "initContainers" | "ephemeralContainers") => {
                keyed("name", Self::Container)
            }
            (Self::PodSpec, "imagePullSecrets" | "schedulingGates")
            | (Self::Container, "env")
            | (Self::ServiceAccount, "secrets")
            | (Self::Webhook, "matchConditions")
            | (Self::AdmissionPolicySpec, "variables" | "matchConditions") => {
                keyed("name", Self::Plain)
            }
            (Self::PodSpec, "volumes" | "resourceClaims") => retaining("name"),
            (Self::PodSpec, "hostAliases") => keyed("ip", Self::Plain),
            (Self::PodSpec, "topologySpreadConstraints") => keyed("topologyKey", Self::Plain),
            (Self::Container, "ports") => keyed("containerPort", Self::Plain),
            (Self::Container, "volumeMounts") => keyed("mountPath", Self::Plain),
            (Self::Container, "volumeDevices") => keyed("devicePath", Self::Plain),
            (Self::Service, "spec") => Rule::Map(Self::ServiceSpec),
            (Self::ServiceSpec, "ports") => keyed("port", Self::Plain),
            (Self::WebhookConfiguration, "webhooks") => keyed("name", Self::Webhook),
            (Self::AdmissionPolicy, "spec") => Rule::Map(Self::AdmissionPolicySpec),
            (Self::DisruptionBudget, "spec") => Rule::Map(Self::DisruptionBudgetSpec),
            (Self::DisruptionBudgetSpec, "selector") => Rule::Replace,
            _ => Rule::Map(Self::Plain),
        }
    }

    const fn is_object(self) -> bool {
        matches!(
            self,
            Self::Object
                | Self::Workload
                | Self::Deployment
                | Self::CronJob
                | Self::Pod
                | Self::PodTemplateObject
                | Self::Service
                | Self::ServiceAccount
                | Self::WebhookConfiguration
                | Self::AdmissionPolicy
                | Self::DisruptionBudget
        )
    }

    const fn has_metadata(self) -> bool {
        self.is_object() || matches!(self, Self::PodTemplate | Self::JobTemplate)
    }
}

/// Groups of Kubernetes itself.
fn is_built_in(group: &str) -> bool {
    matches!(
        group,
        "" | "apps" | "batch" | "autoscaling" | "policy" | "extensions"
    ) || group
        .strip_suffix(".k8s.io")
        .is_some_and(|name| BUILT_IN.contains(&name))
}

/// Groups that end with `.k8s.io`. Many of that ending are definitions of projects around Kubernetes.
const BUILT_IN: &[&str] = &[
    "admissionregistration",
    "authentication",
    "authorization",
    "certificates",
    "coordination",
    "discovery",
    "events",
    "flowcontrol.apiserver",
    "internal.apiserver",
    "networking",
    "node",
    "rbac.authorization",
    "resource",
    "scheduling",
    "storage",
    "storagemigration",
];
