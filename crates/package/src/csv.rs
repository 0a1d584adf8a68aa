//! The `ClusterServiceVersion`: how OLM sees an operator.

use serde_json::{Value, json};

/// Name of this generator.
pub const GENERATOR: &str = concat!("mainstay-v", env!("CARGO_PKG_VERSION"));
/// Name of the layout that this generator writes.
pub const LAYOUT: &str = "mainstay/v1";
/// Version that stands in the base until a bundle is generated.
pub const BASE_VERSION: &str = "0.0.0";

/// What a bundle adds to the base.
#[derive(Debug)]
pub(crate) struct Release<'release> {
    /// Name of the operator.
    pub(crate) operator: &'release str,
    pub(crate) base: &'release Value,
    pub(crate) version: &'release str,
    pub(crate) replaces: Option<&'release str>,
    pub(crate) created_at: &'release str,
    /// Objects of the operator, to be folded into the install strategy.
    pub(crate) objects: &'release [Value],
}

/// Name of a version of an operator in OLM.
pub fn name(operator: &str, version: &str) -> String {
    format!("{operator}.v{version}")
}

/// The one install mode of operators that look at the whole cluster.
pub fn all_namespaces() -> Value {
    let modes = [
        ("OwnNamespace", false),
        ("SingleNamespace", false),
        ("MultiNamespace", false),
        ("AllNamespaces", true),
    ];
    modes
        .iter()
        .map(|(mode, supported)| json!({"type": mode, "supported": supported}))
        .collect()
}

/// The base, completed for one release.
pub(crate) fn build(release: &Release<'_>) -> Value {
    let mut csv = release.base.clone();
    let deployments = of_kind(release.objects, "Deployment");
    csv["metadata"]["name"] = json!(name(release.operator, release.version));
    let annotations = &mut csv["metadata"]["annotations"];
    annotations["createdAt"] = json!(release.created_at);
    if let Some(image) = deployments.clone().find_map(first_image) {
        annotations["containerImage"] = json!(image);
    }
    let spec = &mut csv["spec"];
    spec["version"] = json!(release.version);
    if let Some(replaces) = release.replaces {
        spec["replaces"] = json!(name(release.operator, replaces));
    }
    spec["install"]["spec"] = json!({
        "clusterPermissions": permissions(release.objects, "ClusterRoleBinding", "ClusterRole"),
        "permissions": permissions(release.objects, "RoleBinding", "Role"),
        "deployments": deployments.clone().map(|deployment| json!({
            "name": deployment["metadata"]["name"],
            "label": deployment["metadata"]["labels"],
            "spec": deployment["spec"],
        })).collect::<Vec<_>>(),
    });
    let webhooks: Vec<Value> = webhooks(release.objects).collect();
    if !webhooks.is_empty() {
        spec["webhookdefinitions"] = json!(webhooks);
    }
    let related: Vec<Value> = deployments.flat_map(digest_images).collect();
    if !related.is_empty() {
        spec["relatedImages"] = json!(related);
    }
    csv
}

/// Webhooks as OLM wants them: it makes certificate, Service and configurations itself.
fn webhooks(objects: &[Value]) -> impl Iterator<Item = Value> {
    let kinds = [
        (
            "ValidatingWebhookConfiguration",
            "ValidatingAdmissionWebhook",
        ),
        ("MutatingWebhookConfiguration", "MutatingAdmissionWebhook"),
    ];
    let deployment = of_kind(objects, "Deployment").next();
    let deployment = deployment.map_or(Value::Null, |found| found["metadata"]["name"].clone());
    kinds.into_iter().flat_map(move |(kind, r#type)| {
        let configurations = of_kind(objects, kind);
        let webhooks = configurations.filter_map(|found| found["webhooks"].as_array());
        let deployment = deployment.clone();
        webhooks.flatten().map(move |webhook| {
            // OLM knows no conditions: there the operator is asked more often, and answers the same.
            let mut definition = json!({
                "type": r#type,
                "generateName": webhook["name"],
                "admissionReviewVersions": webhook["admissionReviewVersions"],
                "containerPort": 443,
                "targetPort": 9443,
                "deploymentName": deployment,
                "failurePolicy": webhook["failurePolicy"],
                "rules": webhook["rules"],
                "sideEffects": webhook["sideEffects"],
                "webhookPath": webhook["clientConfig"]["service"]["path"],
            });
            if let Some(seconds) = webhook.get("timeoutSeconds") {
                definition["timeoutSeconds"] = seconds.clone();
            }
            definition
        })
    })
}

/// Per service account, the rules of the roles that bindings of this kind give it.
fn permissions(objects: &[Value], binding_kind: &str, role_kind: &str) -> Vec<Value> {
    let accounts = of_kind(objects, "ServiceAccount")
        .filter_map(|account| account["metadata"]["name"].as_str());
    let rules_of = |account: &str| -> Vec<Value> {
        let bindings = of_kind(objects, binding_kind).filter(|binding| binds(binding, account));
        let roles = bindings.flat_map(|binding| {
            of_kind(objects, role_kind)
                .filter(|role| role["metadata"]["name"] == binding["roleRef"]["name"])
        });
        roles
            .filter_map(|role| role["rules"].as_array())
            .flatten()
            .cloned()
            .collect()
    };
    let granted = accounts
        .map(|account| (account, rules_of(account)))
        .filter(|(_, rules)| !rules.is_empty());
    granted
        .map(|(account, rules)| json!({"serviceAccountName": account, "rules": rules}))
        .collect()
}

fn binds(binding: &Value, account: &str) -> bool {
    let subjects = binding["subjects"].as_array().into_iter().flatten();
    subjects
        .into_iter()
        .any(|subject| subject["kind"] == "ServiceAccount" && subject["name"] == account)
}

fn containers(deployment: &Value) -> impl Iterator<Item = &Value> {
    deployment["spec"]["template"]["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
}

fn first_image(deployment: &Value) -> Option<&str> {
    containers(deployment).next()?["image"].as_str()
}

fn digest_images(deployment: &Value) -> impl Iterator<Item = Value> {
    let pinned = containers(deployment).filter(|container| {
        container["image"]
            .as_str()
            .is_some_and(|image| image.contains('@'))
    });
    pinned.map(|container| json!({"name": container["name"], "image": container["image"]}))
}

fn of_kind<'objects>(
    objects: &'objects [Value],
    kind: &str,
) -> impl Iterator<Item = &'objects Value> + Clone {
    objects.iter().filter(move |object| object["kind"] == kind)
}

/// API version of the owned kind, as examples carry it.
pub fn owned_api_version(crd_name: &str, version: &str) -> Option<String> {
    let (_, group) = crd_name.split_once('.')?;
    Some(format!("{group}/{version}"))
}
