//! The objects that run the operator in a cluster, under the original's names.

use mainstay_engine::rbac::{self, PolicyRule};
use mainstay_package::identity::{Identity, Reach, cluster_role, locked_down, probe};
use serde_json::{Value, json};

use super::{Admission, BINARY, NAMESPACE};
use crate::{kinds, providers::metrics::prometheus::CLUSTER_ROLE as PROMETHEUS_ROLE};

/// Name of Deployment and account.
pub(super) const MANAGER: &str = "clowder-controller-manager";
/// Name of the Secret with the serving certificate.
pub(super) const CERTIFICATE: &str = "webhook-server-cert";
/// Name of the `ConfigMap` with the operator's configuration.
pub(super) const CONFIG: &str = "clowder-config";
/// Its key.
pub(super) const CONFIG_FILE: &str = "clowder_config.json";
/// Where the volume of the certificate is in the Deployment.
pub(super) const CERTIFICATE_VOLUME: usize = 1;
const METRICS: &str = "clowder-controller-manager-metrics-service-non-auth";
const METRICS_PORT: &str = "metrics";
const WEBHOOK_PORT: &str = "webhook-server";

/// Under which names the operator runs.
pub(super) const IDENTITY: Identity = Identity {
    namespace: NAMESPACE,
    account: MANAGER,
    cluster_role: "clowder-manager-role",
    cluster_role_binding: "clowder-manager-rolebinding",
    election_role: "clowder-leader-election-role",
    election_role_binding: "clowder-leader-election-rolebinding",
};

/// Everything but definitions and admission.
pub(super) fn objects(image: &str, admission: Admission) -> Vec<Value> {
    let mut objects = vec![namespace()];
    objects.extend(permissions());
    objects.extend([
        config_map(&config(admission)),
        metrics_service(),
        network_policy(),
        deployment(image, admission),
    ]);
    objects
}

/// Account, roles and bindings.
pub fn permissions() -> Vec<Value> {
    let [cluster_role, election_role] = roles();
    vec![
        IDENTITY.service_account(),
        cluster_role,
        IDENTITY.role_binding(Reach::Cluster),
        election_role,
        IDENTITY.election_role_binding(),
        prometheus_role(),
    ]
}

/// What the operator may do: its kinds everywhere, and the lease at home. The original is bound to the role `admin` too.
pub fn roles() -> [Value; 2] {
    let rules = rbac::rules(&kinds::KINDS).into_iter();
    let mut rules: Vec<Value> = rules.map(|rule| json!(rule)).collect();
    rules.push(json!(PolicyRule::new("", "events", &["create"])));
    // Accounts of tests may be given the first two of these roles, Prometheus the third, and only who may bind a role
    // can give it.
    rules.push(json!({
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["clusterroles"],
        "resourceNames": ["edit", "view", PROMETHEUS_ROLE],
        "verbs": ["bind"],
    }));
    [
        IDENTITY.role(Reach::Cluster, &rules),
        IDENTITY.election_role(),
    ]
}

/// What a Prometheus that an environment deploys may do where its apps are.
pub(super) fn prometheus_role() -> Value {
    let read = &["get", "list", "watch"];
    let rules = [
        PolicyRule::new("", "services", read),
        PolicyRule::new("", "endpoints", read),
        PolicyRule::new("", "pods", read),
        PolicyRule::new("networking.k8s.io", "ingresses", read),
        PolicyRule::new("", "configmaps", &["get"]),
    ];
    let rules = rules.map(|rule| json!(rule));
    cluster_role(PROMETHEUS_ROLE, &rules)
}

pub(super) fn namespace() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": labels()},
    })
}

/// The configuration that the original is shipped with.
pub(super) fn config(admission: Admission) -> Value {
    let mut features = json!({
        "createServiceMonitor": true,
        "watchStrimziResources": true,
        "enableExternalStrimzi": true,
        "disableStrimziFinalizer": true,
    });
    if admission == Admission::Policy {
        features["disableWebhooks"] = json!(true);
    }
    json!({"features": features})
}

pub(super) fn config_map(config: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG, "namespace": NAMESPACE},
        "data": {CONFIG_FILE: format!("{config:#}\n")},
    })
}

pub(super) fn metrics_service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": METRICS, "namespace": NAMESPACE, "labels": labels()},
        "spec": {
            "selector": labels(),
            "ports": [{"name": "metrics", "protocol": "TCP", "port": 8080, "targetPort": METRICS_PORT}],
        },
    })
}

/// Who reaches the pods: whoever runs the API server, which may be outside of the cluster, the webhooks; pods of the
/// cluster the metrics. Probes come from the node, which is always let in; nothing else listens. Whom the operator calls
/// depends on where buckets and databases are, so that nothing is said about it.
pub(super) fn network_policy() -> Value {
    let port = |name: &str| json!([{"port": name, "protocol": "TCP"}]);
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "clowder-allow-to-admission-controller", "namespace": NAMESPACE},
        "spec": {
            "podSelector": {"matchLabels": labels()},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"ports": port(WEBHOOK_PORT)},
                {"ports": port(METRICS_PORT), "from": [{"namespaceSelector": {}}]},
            ],
        },
    })
}

pub(super) fn deployment(image: &str, admission: Admission) -> Value {
    let mut certificate = json!({"secretName": CERTIFICATE});
    if admission == Admission::Policy {
        certificate["optional"] = json!(true);
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": MANAGER, "namespace": NAMESPACE, "labels": labels()},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {
                    "labels": labels(),
                    "annotations": {"kubectl.kubernetes.io/default-container": "manager"},
                },
                "spec": {
                    "serviceAccountName": MANAGER,
                    // Running passes have half a minute to end.
                    "terminationGracePeriodSeconds": 45,
                    // The user comes from the image: OpenShift allocates its own and refuses a fixed one.
                    "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [container(image)],
                    "volumes": [
                        {"name": "config", "configMap": {"name": CONFIG, "optional": true}},
                        {"name": "cert", "secret": certificate},
                    ],
                },
            },
        },
    })
}

fn container(image: &str) -> Value {
    json!({
        "name": "manager",
        "image": image,
        "command": [BINARY],
        "args": ["--leader-elect"],
        "ports": [
            {"name": METRICS_PORT, "containerPort": 8080, "protocol": "TCP"},
            {"name": WEBHOOK_PORT, "containerPort": 9443, "protocol": "TCP"},
        ],
        "livenessProbe": probe("/livez", 15, 20),
        "readinessProbe": probe("/readyz", 5, 10),
        // The API server asks the webhooks of this pod until it has heard that it goes.
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
        "resources": resources(),
        "securityContext": locked_down(),
        "volumeMounts": [
            {"name": "config", "mountPath": "/config/"},
            {"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": true},
        ],
    })
}

pub(super) fn resources() -> Value {
    json!({
        "limits": {"cpu": "1", "memory": "256Mi"},
        "requests": {"cpu": "50m", "memory": "64Mi"},
    })
}

/// Labels of the pods and what belongs to them.
pub(super) fn labels() -> Value {
    json!({"control-plane": "controller-manager", "operator-name": "clowder"})
}
