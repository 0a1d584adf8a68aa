//! How the API server learns of the webhooks.

use serde_json::{Value, json};

use super::{APP_PATH, APP_WEBHOOK, POD_PATH, POD_WEBHOOK, pod};
use crate::names::{GROUP, VERSION};

/// Name of the configuration with the webhook that judges apps.
pub const VALIDATING: &str = "clowder-validating-webhook-configuration";
/// Name of the configuration with the webhook that completes pods.
pub const MUTATING: &str = "clowder-mutating-webhook-configuration";

/// Both configurations; the function says how a path of the server is reached.
pub fn configurations(client: impl Fn(&str) -> Value) -> [Value; 2] {
    let configuration = |kind: &str, name: &str, webhook: Value| {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            "webhooks": [webhook],
        })
    };
    let webhook = |name: &str, path: &str, policy: &str, rule: [&str; 3]| {
        let [group, version, resource] = rule;
        json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": client(path),
            "failurePolicy": policy,
            "sideEffects": "None",
            "rules": [{
                "apiGroups": [group], "apiVersions": [version], "resources": [resource],
                "operations": ["CREATE", "UPDATE"],
            }],
        })
    };
    // Nobody may store an app that was not judged; but a cluster without the operator must still have pods.
    let app = webhook(APP_WEBHOOK, APP_PATH, "Fail", [GROUP, VERSION, "clowdapps"]);
    let mut pod = webhook(POD_WEBHOOK, POD_PATH, "Ignore", ["", "v1", "pods"]);
    // Nor must pods wait for an operator that they have nothing to do with, or others long for one that is slow.
    let annotations = "object.?metadata.?annotations";
    let asks = format!("{annotations}[?'{}'].orValue('') == 'true'", pod::ENABLED);
    pod["matchConditions"] = json!([{"name": "asks-for-the-container", "expression": asks}]);
    pod["timeoutSeconds"] = json!(2);
    [
        configuration("ValidatingWebhookConfiguration", VALIDATING, app),
        configuration("MutatingWebhookConfiguration", MUTATING, pod),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_webhooks_are_registered_as_the_original_s() {
        let [validating, mutating] = configurations(|path| json!({"service": {"path": path}}));
        let (app, pod) = (&validating["webhooks"][0], &mutating["webhooks"][0]);
        assert_eq!(app["name"], "vclowdapp.kb.io");
        assert_eq!(
            app["clientConfig"]["service"]["path"],
            "/validate-cloud-redhat-com-v1alpha1-clowdapp"
        );
        assert_eq!(app["failurePolicy"], "Fail");
        assert_eq!(pod["name"], "vclowdmutatepod.kb.io");
        assert_eq!(pod["clientConfig"]["service"]["path"], "/mutate-pod");
        assert_eq!(pod["failurePolicy"], "Ignore");
        assert_eq!(pod["rules"][0]["resources"], json!(["pods"]));
        assert_eq!(pod["timeoutSeconds"], 2);
        assert_eq!(
            pod["matchConditions"][0]["expression"],
            "object.?metadata.?annotations[?'clowder/authsidecar-enabled'].orValue('') == 'true'"
        );
        assert!(app.get("matchConditions").is_none(), "every app is judged");
    }
}
