//! The kinds that tests look at.

/// A kind that tests look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
}

/// Names a kind.
pub(crate) const fn resource(
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

pub(crate) const DEPLOYMENT: Resource = resource("apps/v1", "Deployment", "deployments");
pub(crate) const SERVICE: Resource = resource("v1", "Service", "services");
pub(crate) const SECRET: Resource = resource("v1", "Secret", "secrets");
pub(crate) const CONFIG_MAP: Resource = resource("v1", "ConfigMap", "configmaps");
pub(crate) const SERVICE_ACCOUNT: Resource = resource("v1", "ServiceAccount", "serviceaccounts");
pub(crate) const CRON_JOB: Resource = resource("batch/v1", "CronJob", "cronjobs");
pub(crate) const JOB: Resource = resource("batch/v1", "Job", "jobs");
pub(crate) const CLAIM: Resource =
    resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
pub(crate) const AUTOSCALER: Resource = resource(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
);
pub(crate) const ROLE_BINDING: Resource = resource(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    "rolebindings",
);
pub(crate) const SERVICE_MONITOR: Resource = resource(
    "monitoring.coreos.com/v1",
    "ServiceMonitor",
    "servicemonitors",
);
pub(crate) const PROMETHEUS: Resource =
    resource("monitoring.coreos.com/v1", "Prometheus", "prometheuses");
pub(crate) const SCALED_OBJECT: Resource =
    resource("keda.sh/v1alpha1", "ScaledObject", "scaledobjects");
pub(crate) const INGRESS: Resource = resource("networking.k8s.io/v1", "Ingress", "ingresses");
pub(crate) const ISSUER: Resource = resource("cert-manager.io/v1", "Issuer", "issuers");
pub(crate) const CERTIFICATE: Resource =
    resource("cert-manager.io/v1", "Certificate", "certificates");
