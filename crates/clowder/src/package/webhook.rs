//! What the API server needs to ask the webhooks. Certificates come from cert-manager.

use serde_json::{Value, json};

use super::{
    NAMESPACE,
    operator::{CERTIFICATE, labels},
};
use crate::admission::registration;

const SERVICE: &str = "clowder-webhook-service";
const SERVING_CERTIFICATE: &str = "clowder-serving-cert";
const ISSUER: &str = "clowder-selfsigned-issuer";
/// Where cert-manager is told whose authority belongs into a configuration.
const INJECT: &str = "cert-manager.io/inject-ca-from";

/// Everything, in order: the configurations last, so that nobody is asked before somebody can answer.
pub(super) fn objects() -> Vec<Value> {
    let mut objects = vec![service()];
    objects.extend(certificates());
    objects.extend(configurations());
    objects
}

pub(super) fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"selector": labels(), "ports": [{"port": 443, "protocol": "TCP", "targetPort": 9443}]},
    })
}

pub(super) fn certificates() -> [Value; 2] {
    let host = format!("{SERVICE}.{NAMESPACE}.svc");
    [
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": ISSUER, "namespace": NAMESPACE},
            "spec": {"selfSigned": {}},
        }),
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": SERVING_CERTIFICATE, "namespace": NAMESPACE},
            "spec": {
                "dnsNames": [host, format!("{host}.cluster.local")],
                "issuerRef": {"kind": "Issuer", "name": ISSUER},
                "secretName": CERTIFICATE,
            },
        }),
    ]
}

pub(super) fn configurations() -> [Value; 2] {
    let mut configurations = registration::configurations(
        |path| json!({"service": {"name": SERVICE, "namespace": NAMESPACE, "path": path}}),
    );
    for configuration in &mut configurations {
        let source = format!("{NAMESPACE}/{SERVING_CERTIFICATE}");
        configuration["metadata"]["annotations"] = json!({INJECT: source});
    }
    configurations
}
