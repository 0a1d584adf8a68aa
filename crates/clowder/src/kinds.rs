//! The table of kinds: watches, the strict-kind check and RBAC rules come from it.

use mainstay_engine::{
    Kind, ObjectKey,
    kind::{DeclaredKind, KindTable, ROOT_VERBS, Role, Subresource},
};

use crate::names::{GROUP, VERSION};

/// The environment.
pub const CLOWD_ENVIRONMENT: Kind = Kind::new(GROUP, VERSION, "ClowdEnvironment");
/// The app.
pub const CLOWD_APP: Kind = Kind::new(GROUP, VERSION, "ClowdApp");
/// An app of another cluster.
pub const CLOWD_APP_REF: Kind = Kind::new(GROUP, VERSION, "ClowdAppRef");
/// A run of jobs of an app.
pub const CLOWD_JOB_INVOCATION: Kind = Kind::new(GROUP, VERSION, "ClowdJobInvocation");
/// Namespaces are read, and one is made for an environment that names none.
pub const NAMESPACE: Kind = Kind::new("", "v1", "Namespace");
/// Accounts of pods.
pub const SERVICE_ACCOUNT: Kind = Kind::new("", "v1", "ServiceAccount");
/// Their rights.
pub const ROLE_BINDING: Kind = Kind::new("rbac.authorization.k8s.io", "v1", "RoleBinding");
/// Storage of databases.
pub const PERSISTENT_VOLUME_CLAIM: Kind = Kind::new("", "v1", "PersistentVolumeClaim");
/// Configuration of components.
pub const CONFIG_MAP: Kind = Kind::new("", "v1", "ConfigMap");
/// Who may talk to the object store.
pub const NETWORK_POLICY: Kind = Kind::new("networking.k8s.io", "v1", "NetworkPolicy");
/// Ways in from outside.
pub const INGRESS: Kind = Kind::new("networking.k8s.io", "v1", "Ingress");
/// How OpenShift publishes hosts: one object for the whole cluster.
pub const CLUSTER_INGRESS: Kind = Kind::new("config.openshift.io", "v1", "Ingress");
/// Who signs the certificate of a gateway, with cert-manager.
pub const ISSUER: Kind = Kind::new("cert-manager.io", "v1", "Issuer");
/// The certificate of a gateway.
pub const CERTIFICATE: Kind = Kind::new("cert-manager.io", "v1", "Certificate");
/// Scaling by processor and memory.
pub const HORIZONTAL_POD_AUTOSCALER: Kind =
    Kind::new("autoscaling", "v2", "HorizontalPodAutoscaler");
/// What Prometheus scrapes.
pub const SERVICE_MONITOR: Kind = Kind::new("monitoring.coreos.com", "v1", "ServiceMonitor");
/// A Prometheus server.
pub const PROMETHEUS: Kind = Kind::new("monitoring.coreos.com", "v1", "Prometheus");
/// The operator that runs it.
pub const SUBSCRIPTION: Kind = Kind::new("operators.coreos.com", "v1alpha1", "Subscription");
/// A Kafka cluster of Strimzi.
pub const KAFKA: Kind = Kind::new("kafka.strimzi.io", "v1beta2", "Kafka");
/// A Kafka Connect cluster of Strimzi.
pub const KAFKA_CONNECT: Kind = Kind::new("kafka.strimzi.io", "v1beta2", "KafkaConnect");
/// A topic in a Kafka cluster.
pub const KAFKA_TOPIC: Kind = Kind::new("kafka.strimzi.io", "v1beta2", "KafkaTopic");
/// A user of a Kafka cluster.
pub const KAFKA_USER: Kind = Kind::new("kafka.strimzi.io", "v1beta2", "KafkaUser");
/// A copy of the host inventory.
pub const CYNDI_PIPELINE: Kind = Kind::new("cyndi.cloud.redhat.com", "v1alpha1", "CyndiPipeline");
/// Services.
pub const SERVICE: Kind = Kind::new("", "v1", "Service");
/// Credentials and the configuration of apps.
pub const SECRET: Kind = Kind::new("", "v1", "Secret");
/// Workloads.
pub const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment");
/// Jobs that run once.
pub const JOB: Kind = Kind::new("batch", "v1", "Job");
/// Scheduled jobs.
pub const CRON_JOB: Kind = Kind::new("batch", "v1", "CronJob");
/// Scaling by KEDA.
pub const SCALED_OBJECT: Kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject");

const STATUS: &[Subresource] = &[Subresource {
    name: "status",
    verbs: &["patch"],
}];
const READ: &[&str] = &["get", "list", "watch"];
/// Of what is never deleted: it lacks the label by which what is left over is known, and the cluster collects it when its
/// owner goes.
const KEEP: &[&str] = &["create", "get", "list", "patch", "watch"];

/// Labels that everything of ours with labels carries, and not everything else does.
const LABELLED: &str = "app";

/// Label of the jobs that an invocation makes; those of CronJobs do not have it.
const INVOKED: &str = crate::names::INVOCATION_LABEL;

/// Every kind that the system may touch, in the order of the original's writes.
pub const KINDS: KindTable = KindTable::closed(ROWS);

static ROWS: &[DeclaredKind] = &[
    DeclaredKind::new(CLOWD_ENVIRONMENT, "clowdenvironments", Role::Root)
        .cluster_scoped()
        .with_verbs(ROOT_VERBS)
        .with_subresources(STATUS),
    DeclaredKind::new(CLOWD_APP, "clowdapps", Role::Root)
        .with_verbs(ROOT_VERBS)
        .with_subresources(STATUS),
    DeclaredKind::new(CLOWD_JOB_INVOCATION, "clowdjobinvocations", Role::Root)
        .with_verbs(READ)
        .with_subresources(STATUS),
    DeclaredKind::new(CLOWD_APP_REF, "clowdapprefs", Role::Reference).with_verbs(READ),
    DeclaredKind::new(CLUSTER_INGRESS, "ingresses", Role::Reference)
        .cluster_scoped()
        .with_verbs(READ)
        .optional(),
    DeclaredKind::new(NAMESPACE, "namespaces", Role::Reference)
        // Nothing goes on without its namespace, so its absence is made sure of.
        .confirm_absence()
        .cluster_scoped()
        .metadata_only(),
    DeclaredKind::new(SERVICE_ACCOUNT, "serviceaccounts", Role::Child).labelled(LABELLED),
    DeclaredKind::new(ROLE_BINDING, "rolebindings", Role::Child).labelled(LABELLED),
    DeclaredKind::new(
        PERSISTENT_VOLUME_CLAIM,
        "persistentvolumeclaims",
        Role::Child,
    )
    .labelled(LABELLED),
    DeclaredKind::new(CONFIG_MAP, "configmaps", Role::Child).metadata_only(),
    DeclaredKind::new(NETWORK_POLICY, "networkpolicies", Role::Child)
        .with_verbs(KEEP)
        .labelled(LABELLED),
    DeclaredKind::new(INGRESS, "ingresses", Role::Child).labelled(LABELLED),
    DeclaredKind::new(
        HORIZONTAL_POD_AUTOSCALER,
        "horizontalpodautoscalers",
        Role::Child,
    ),
    DeclaredKind::new(SERVICE_MONITOR, "servicemonitors", Role::Child)
        .with_verbs(KEEP)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(PROMETHEUS, "prometheuses", Role::Child)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(SUBSCRIPTION, "subscriptions", Role::Child)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(KAFKA, "kafkas", Role::Child)
        .with_foreign()
        .optional(),
    DeclaredKind::new(KAFKA_CONNECT, "kafkaconnects", Role::Child)
        .with_foreign()
        .optional(),
    DeclaredKind::new(KAFKA_TOPIC, "kafkatopics", Role::Child)
        .with_verbs(KEEP)
        .with_foreign()
        .optional(),
    DeclaredKind::new(KAFKA_USER, "kafkausers", Role::Child)
        .with_verbs(KEEP)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(CYNDI_PIPELINE, "cyndipipelines", Role::Child)
        .with_verbs(KEEP)
        .with_foreign()
        .optional(),
    DeclaredKind::new(SERVICE, "services", Role::Child).labelled(LABELLED),
    DeclaredKind::new(SECRET, "secrets", Role::Child).metadata_only(),
    DeclaredKind::new(DEPLOYMENT, "deployments", Role::Child).labelled(LABELLED),
    DeclaredKind::new(JOB, "jobs", Role::Child)
        .labelled(INVOKED)
        .with_verbs(KEEP),
    DeclaredKind::new(CRON_JOB, "cronjobs", Role::Child).labelled(LABELLED),
    DeclaredKind::new(SCALED_OBJECT, "scaledobjects", Role::Child)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(ISSUER, "issuers", Role::Child)
        .with_verbs(KEEP)
        .labelled(LABELLED)
        .optional(),
    DeclaredKind::new(CERTIFICATE, "certificates", Role::Child)
        .with_verbs(KEEP)
        .labelled(LABELLED)
        .optional(),
];

/// Key of an environment.
pub fn environment_key(name: &str) -> ObjectKey {
    ObjectKey::new(CLOWD_ENVIRONMENT, "", name)
}

/// Key of an app.
pub fn app_key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(CLOWD_APP, namespace, name)
}

/// Key of an invocation.
pub fn invocation_key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(CLOWD_JOB_INVOCATION, namespace, name)
}
