use std::collections::{BTreeMap, BTreeSet};

use mainstay_package::{BundleInput, FileContent};
use serde_json::json;

use super::*;

fn names(objects: &[Value]) -> Vec<String> {
    let name = |object: &Value| {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .unwrap()
                .as_str()
                .unwrap()
                .to_owned()
        };
        format!("{} {}", text("/kind"), text("/metadata/name"))
    };
    objects.iter().map(name).collect()
}

fn find(objects: &[Value], kind: &str) -> Value {
    let found = objects.iter().find(|object| object["kind"] == kind);
    found.unwrap().clone()
}

#[test]
fn an_installation_has_the_original_s_names() {
    assert_eq!(
        names(&installation("operator:1", Admission::Webhooks)),
        [
            "CustomResourceDefinition clowdapprefs.cloud.redhat.com",
            "CustomResourceDefinition clowdapps.cloud.redhat.com",
            "CustomResourceDefinition clowdenvironments.cloud.redhat.com",
            "CustomResourceDefinition clowdjobinvocations.cloud.redhat.com",
            "Namespace clowder-system",
            "ServiceAccount clowder-controller-manager",
            "ClusterRole clowder-manager-role",
            "ClusterRoleBinding clowder-manager-rolebinding",
            "Role clowder-leader-election-role",
            "RoleBinding clowder-leader-election-rolebinding",
            "ClusterRole clowder-prometheus",
            "ConfigMap clowder-config",
            "Service clowder-controller-manager-metrics-service-non-auth",
            "NetworkPolicy clowder-allow-to-admission-controller",
            "Deployment clowder-controller-manager",
            "Service clowder-webhook-service",
            "Issuer clowder-selfsigned-issuer",
            "Certificate clowder-serving-cert",
            "ValidatingWebhookConfiguration clowder-validating-webhook-configuration",
            "MutatingWebhookConfiguration clowder-mutating-webhook-configuration",
        ]
    );
}

#[test]
fn without_webhooks_nothing_of_cert_manager_is_needed_and_the_operator_is_told() {
    let objects = installation("operator:1", Admission::Policy);
    let text = json!(objects).to_string();
    assert!(!text.contains("cert-manager.io/"), "{text}");
    assert!(
        names(&objects).contains(&"ValidatingAdmissionPolicy clowder-clowdapp-rules".to_owned())
    );
    let config = find(&objects, "ConfigMap")["data"]["clowder_config.json"].clone();
    let config = crate::settings::OperatorConfig::parse(config.as_str().unwrap()).unwrap();
    assert!(config.features.disable_webhooks);
    let pod = find(&objects, "Deployment")["spec"]["template"]["spec"].clone();
    assert_eq!(
        pod["volumes"][1],
        json!({"name": "cert", "secret": {"secretName": "webhook-server-cert", "optional": true}})
    );
}

#[test]
fn the_shipped_configuration_is_the_original_s() {
    let objects = installation("operator:1", Admission::Webhooks);
    let config = find(&objects, "ConfigMap")["data"]["clowder_config.json"].clone();
    let config = crate::settings::OperatorConfig::parse(config.as_str().unwrap()).unwrap();
    let features = &config.features;
    assert!(features.create_service_monitor && features.watch_strimzi_resources);
    assert!(features.enable_external_strimzi && features.disable_strimzi_finalizer);
    assert!(!features.disable_webhooks && !features.enable_keda_resources);
}

#[test]
fn the_operator_may_touch_its_kinds_and_bind_three_roles_and_nothing_else() {
    let [role, election] = roles();
    let rules = role["rules"].as_array().unwrap();
    let groups: BTreeSet<&str> = rules
        .iter()
        .map(|rule| rule["apiGroups"][0].as_str().unwrap())
        .collect();
    let kinds = crate::kinds::KINDS;
    let declared: BTreeSet<&str> = kinds.iter().map(|row| row.kind.group.as_ref()).collect();
    assert_eq!(groups, declared);
    let bound: Vec<&Value> = rules
        .iter()
        .filter(|rule| rule["resources"][0] == "clusterroles")
        .collect();
    assert_eq!(bound.len(), 1);
    assert_eq!(bound[0]["verbs"], json!(["bind"]));
    assert_eq!(
        bound[0]["resourceNames"],
        json!(["edit", "view", "clowder-prometheus"])
    );
    assert!(!role.to_string().contains('*'), "{role}");
    assert_eq!(election["metadata"]["namespace"], "clowder-system");
    assert_eq!(
        election["rules"][0]["resources"],
        json!(["leases"]),
        "the lease is guarded at home only"
    );
}

#[test]
fn the_pod_is_locked_down_and_runs_the_program_under_its_name() {
    let pod = find(
        &installation("operator:1", Admission::Webhooks),
        "Deployment",
    );
    let pod = &pod["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(
        (&container["command"], &container["args"]),
        (&json!(["/manager"]), &json!(["--leader-elect"]))
    );
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let FileContent::Text(text) = containerfile().content else {
        panic!("not a text");
    };
    assert!(text.starts_with("FROM scratch\n"), "{text}");
    assert!(
        text.contains("USER 65532:65532\n") && text.contains(" /manager\n"),
        "{text}"
    );
}

#[test]
fn the_network_policy_opens_the_ports_of_webhooks_and_metrics_and_no_other() {
    let objects = installation("operator:1", Admission::Webhooks);
    let policy = find(&objects, "NetworkPolicy");
    let pod = find(&objects, "Deployment")["spec"]["template"].clone();
    assert_eq!(
        policy["spec"]["podSelector"]["matchLabels"],
        pod["metadata"]["labels"]
    );
    let rules = policy["spec"]["ingress"].as_array().unwrap();
    let opened: BTreeSet<&str> = rules
        .iter()
        .flat_map(|rule| rule["ports"].as_array().unwrap())
        .map(|port| port["port"].as_str().unwrap())
        .collect();
    let container = &pod["spec"]["containers"][0];
    let named: BTreeSet<&str> = container["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| port["name"].as_str().unwrap())
        .collect();
    assert_eq!(opened, named, "a rule without ports would open all");
    assert_eq!(rules[0].get("from"), None, "the API server may be anywhere");
    assert_eq!(rules[1]["from"], json!([{"namespaceSelector": {}}]));
}

#[test]
fn every_path_of_the_kustomize_tree_leads_to_a_file() {
    let files = || kustomize_tree(&default_image("1.2.3"));
    let tree: BTreeMap<String, Value> = files()
        .into_iter()
        .map(|file| (file.path.clone(), file.documents()[0].clone()))
        .collect();
    assert_eq!(tree.len(), files().len());
    for (path, list) in tree
        .iter()
        .filter(|(path, _)| path.ends_with("/kustomization.yaml"))
    {
        let directory = path.trim_end_matches("/kustomization.yaml");
        let patches = list["patches"].as_array().cloned().unwrap_or_default();
        let resources = list["resources"].as_array().unwrap().iter();
        for reference in resources.chain(patches.iter().map(|patch| &patch["path"])) {
            let reference = reference.as_str().unwrap();
            let target = match reference.strip_prefix("../") {
                Some(sibling) => format!("config/{sibling}/kustomization.yaml"),
                None => format!("{directory}/{reference}"),
            };
            assert!(tree.contains_key(&target), "{path} refers to {target}");
        }
    }
}

/// What the actions of the chart stand for, with the values that it comes with.
fn by_default(object: &Value, values: &Value) -> Value {
    match object {
        Value::String(text) => match text.as_str() {
            text if text.contains(".Values.image.") => {
                let part = |name: &str| values["image"][name].as_str().unwrap();
                json!(format!("{}:{}", part("repository"), part("tag")))
            }
            "{{ .Values.replicas }}" => values["replicas"].clone(),
            "{{ toJson .Values.resources }}" => values["resources"].clone(),
            "{{ not .Values.webhooks }}" => json!(values["webhooks"] == false),
            "{{ .Release.Namespace | quote }}" => json!("clowder-system"),
            other => {
                let text = other.replace("{{ .Release.Namespace }}", "clowder-system");
                let unknown = text.contains("{{") && !text.contains(".Values.config");
                assert!(!unknown, "{text}");
                json!(text)
            }
        },
        Value::Array(items) => items.iter().map(|item| by_default(item, values)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), by_default(value, values)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

#[test]
fn the_chart_with_its_own_values_is_the_plain_installation() {
    let image = default_image("1.2.3");
    let files = chart(&image, "1.2.3");
    let values = files.iter().find(|file| file.path == "chart/values.yaml");
    let values = values.unwrap().documents()[0].clone();
    let mut made = Vec::new();
    for file in &files {
        match &file.content {
            FileContent::Template {
                condition,
                documents,
            } if condition.as_deref() != Some("not .Values.webhooks") => {
                made.extend(
                    documents
                        .iter()
                        .map(|document| by_default(document, &values)),
                );
            }
            FileContent::Yaml(documents) if file.path.starts_with("chart/crds/") => {
                made.extend(documents.clone());
            }
            _ => {}
        }
    }
    let plain = installation(&image.to_string(), Admission::Webhooks);
    for object in plain.iter().filter(|object| object["kind"] != "Namespace") {
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        let same = |other: &&Value| other["kind"] == *kind && other["metadata"]["name"] == *name;
        let mut found = made.iter().find(same).unwrap().clone();
        if kind == "Deployment" {
            // Said where the plain installation says nothing.
            let annotations = &mut found["spec"]["template"]["metadata"]["annotations"];
            let checksum = annotations
                .as_object_mut()
                .unwrap()
                .remove("checksum/config");
            assert!(checksum.is_some());
            let secret = &mut found["spec"]["template"]["spec"]["volumes"][1]["secret"];
            assert_eq!(
                secret.as_object_mut().unwrap().remove("optional"),
                Some(json!(false))
            );
        }
        if kind == "ConfigMap" {
            continue;
        }
        assert_eq!(found, *object);
    }
    assert_eq!(
        made.len(),
        plain.len() - 1,
        "nothing but the namespace is left out"
    );
}

#[test]
fn a_bundle_keeps_the_rules_and_leaves_certificates_to_olm() {
    let input = BundleInput {
        version: "1.2.3".to_owned(),
        image: Image::tagged("operator", "1.2.3"),
        channels: Vec::new(),
        default_channel: None,
        replaces: None,
        openshift: None,
        created_at: "2024-05-01T12:00:00Z".to_owned(),
    };
    let files = bundle(&input).unwrap();
    let csv = files[0].documents()[0].clone();
    assert_eq!(csv["metadata"]["name"], "clowder.v1.2.3");
    let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array();
    assert_eq!(owned.unwrap().len(), 4);
    let webhooks = csv["spec"]["webhookdefinitions"].as_array().unwrap();
    let paths: Vec<&Value> = webhooks
        .iter()
        .map(|webhook| &webhook["webhookPath"])
        .collect();
    assert_eq!(
        paths,
        [
            "/validate-cloud-redhat-com-v1alpha1-clowdapp",
            "/mutate-pod"
        ]
    );
    assert_eq!(webhooks[0]["deploymentName"], "clowder-controller-manager");
    assert_eq!(webhooks[0].get("timeoutSeconds"), None);
    assert_eq!(webhooks[1]["timeoutSeconds"], 2);
    let pod = &csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"];
    assert!(!pod.to_string().contains("webhook-server-cert"), "{pod}");
    let granted = &csv["spec"]["install"]["spec"]["clusterPermissions"][0]["rules"];
    assert_eq!(*granted, roles()[0]["rules"]);
}
