//! The kinds that tests look at.

/// A kind that tests look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
}

/// Names a kind.
pub(super) const fn resource(
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
) -> Resource {
    Resource {
        api_version,
        kind,
        plural,
    }
}

pub(super) const DEPLOYMENT: Resource = resource("apps/v1", "Deployment", "deployments");
pub(super) const SERVICE: Resource = resource("v1", "Service", "services");
pub(super) const SECRET: Resource = resource("v1", "Secret", "secrets");
pub(super) const CONFIG_MAP: Resource = resource("v1", "ConfigMap", "configmaps");
pub(super) const SERVICE_ACCOUNT: Resource = resource("v1", "ServiceAccount", "serviceaccounts");
pub(super) const CRON_JOB: Resource = resource("batch/v1", "CronJob", "cronjobs");
pub(super) const JOB: Resource = resource("batch/v1", "Job", "jobs");
pub(super) const CLAIM: Resource =
    resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
pub(super) const AUTOSCALER: Resource = resource(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
);
pub(super) const ROLE_BINDING: Resource = resource(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    "rolebindings",
);
pub(super) const SERVICE_MONITOR: Resource = resource(
    "monitoring.coreos.com/v1",
    "ServiceMonitor",
    "servicemonitors",
);
pub(super) const PROMETHEUS: Resource =
    resource("monitoring.coreos.com/v1", "Prometheus", "prometheuses");
pub(super) const SCALED_OBJECT: Resource =
    resource("keda.sh/v1alpha1", "ScaledObject", "scaledobjects");
pub(super) const INGRESS: Resource = resource("networking.k8s.io/v1", "Ingress", "ingresses");
pub(super) const ISSUER: Resource = resource("cert-manager.io/v1", "Issuer", "issuers");
pub(super) const CERTIFICATE: Resource =
    resource("cert-manager.io/v1", "Certificate", "certificates");
