//! What the API server is told about the four kinds.

use serde_json::{Value, json};

use super::{DEFINITIONS, definition, schema};

const KINDS: [&str; 4] = [
    "ClowdApp",
    "ClowdAppRef",
    "ClowdEnvironment",
    "ClowdJobInvocation",
];

fn columns(kind: &str) -> Value {
    definition(kind)["spec"]["versions"][0]["additionalPrinterColumns"].clone()
}

#[test]
fn every_definition_stays_small() {
    assert_eq!(DEFINITIONS.keys().collect::<Vec<_>>(), KINDS.each_ref());
    for (kind, definition) in &*DEFINITIONS {
        let size = definition.to_string().len();
        assert!(size <= 200 * 1024, "{kind} has {size} bytes");
    }
}

#[test]
fn the_names_are_those_that_users_type() {
    for (kind, plural, short, scope) in [
        ("ClowdApp", "clowdapps", json!(["app"]), "Namespaced"),
        ("ClowdAppRef", "clowdapprefs", Value::Null, "Namespaced"),
        (
            "ClowdEnvironment",
            "clowdenvironments",
            json!(["env"]),
            "Cluster",
        ),
        (
            "ClowdJobInvocation",
            "clowdjobinvocations",
            json!(["cji"]),
            "Namespaced",
        ),
    ] {
        let definition = definition(kind);
        let names = &definition["spec"]["names"];
        assert_eq!(
            definition["metadata"]["name"],
            format!("{plural}.cloud.redhat.com")
        );
        assert_eq!(names["plural"], plural);
        assert_eq!(names["singular"], kind.to_lowercase());
        assert_eq!(names["listKind"], format!("{kind}List"));
        assert_eq!(names["shortNames"], short, "{kind}");
        assert_eq!(definition["spec"]["scope"], scope, "{kind}");
        let version = &definition["spec"]["versions"][0];
        assert_eq!(version["name"], "v1alpha1");
        assert_eq!(version["subresources"], json!({"status": {}}));
    }
}

#[test]
fn lists_show_the_columns_that_scripts_cut_out() {
    assert_eq!(
        columns("ClowdApp"),
        json!([
            {"name": "Ready", "type": "integer", "jsonPath": ".status.deployments.readyDeployments"},
            {"name": "Managed", "type": "integer", "jsonPath": ".status.deployments.managedDeployments"},
            {"name": "EnvName", "type": "string", "jsonPath": ".spec.envName"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ])
    );
    assert_eq!(
        columns("ClowdEnvironment")[2]["jsonPath"],
        ".status.targetNamespace"
    );
    assert_eq!(
        columns("ClowdJobInvocation"),
        json!([{"name": "Completed", "type": "boolean", "jsonPath": ".status.completed"}])
    );
}

#[test]
fn only_what_the_original_requires_is_required() {
    for (kind, path, required) in [
        ("ClowdApp", "", Value::Null),
        ("ClowdApp", "spec", json!(["envName"])),
        ("ClowdApp", "spec.deployments[]", json!(["name", "podSpec"])),
        ("ClowdApp", "spec.deployments[].podSpec", Value::Null),
        (
            "ClowdApp",
            "spec.deployments[].autoScaler.triggers[]",
            json!(["metadata", "type"]),
        ),
        (
            "ClowdApp",
            "spec.jobs[].podSpec.sidecars[]",
            json!(["enabled", "name"]),
        ),
        ("ClowdApp", "spec.database", Value::Null),
        ("ClowdApp", "status", json!(["ready"])),
        (
            "ClowdAppRef",
            "spec.deployments[]",
            json!(["hostname", "name"]),
        ),
        (
            "ClowdEnvironment",
            "spec",
            json!(["providers", "resourceDefaults"]),
        ),
        (
            "ClowdEnvironment",
            "spec.providers",
            json!(["inMemoryDb", "kafka", "logging", "objectStore"]),
        ),
        (
            "ClowdEnvironment",
            "spec.providers.web",
            json!(["mode", "port"]),
        ),
        ("ClowdEnvironment", "spec.providers.autoScaler", Value::Null),
        ("ClowdEnvironment", "status", Value::Null),
        (
            "ClowdEnvironment",
            "status.apps[]",
            json!(["deployments", "name"]),
        ),
        (
            "ClowdJobInvocation",
            "status",
            json!(["completed", "jobMap"]),
        ),
    ] {
        let mut actual = schema(kind, path)["required"].clone();
        if let Value::Array(fields) = &mut actual {
            fields.sort_by_key(ToString::to_string);
        }
        assert_eq!(actual, required, "{kind} {path}");
    }
}

#[test]
fn words_are_offered_as_the_original_lists_them() {
    for (kind, path, words) in [
        (
            "ClowdEnvironment",
            "spec.providers.kafka.mode",
            json!([
                "ephem-msk",
                "managed",
                "operator",
                "app-interface",
                "local",
                "none"
            ]),
        ),
        (
            "ClowdEnvironment",
            "spec.providers.logging.mode",
            json!(["app-interface", "null", "none"]),
        ),
        (
            "ClowdEnvironment",
            "spec.providers.testing.k8sAccessLevel",
            json!(["default", "view", "", "edit"]),
        ),
        (
            "ClowdEnvironment",
            "spec.serviceConfig.type",
            json!(["ClusterIP", "NodePort", ""]),
        ),
        (
            "ClowdApp",
            "spec.database.version",
            json!([12, 13, 14, 15, 16]),
        ),
        (
            "ClowdJobInvocation",
            "spec.testing.iqe.logLevel",
            json!([
                "", "critical", "error", "warning", "info", "debug", "notset"
            ]),
        ),
    ] {
        assert_eq!(schema(kind, path)["enum"], words, "{path}");
    }
}

#[test]
fn bounds_and_patterns_hold_for_texts_and_numbers() {
    let topic = schema("ClowdApp", "spec.kafkaTopics[]");
    assert_eq!(topic["properties"]["partitions"]["maximum"], 200_000);
    assert_eq!(topic["properties"]["replicas"]["minimum"], 1);
    assert_eq!(topic["properties"]["topicName"]["maxLength"], 249);
    assert_eq!(
        schema(
            "ClowdApp",
            "spec.deployments[].webServices.public.apiPaths[]"
        )["pattern"],
        r"^\/api\/[a-zA-Z0-9-]+\/$"
    );
    let kafka = schema("ClowdEnvironment", "spec.providers.kafka");
    assert_eq!(
        kafka["properties"]["kafkaConnectReplicaCount"].get("format"),
        None
    );
    let limits = &kafka["properties"]["cluster"]["properties"]["resources"]["properties"]["limits"];
    assert_eq!(limits["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(limits.get("type"), None);
}

#[test]
fn nothing_of_our_own_is_filled_in_but_what_keda_fills_in() {
    let environment = definition("ClowdEnvironment").to_string();
    assert!(!environment.contains(r#""default":"#), "{environment}");
    let behavior = schema(
        "ClowdApp",
        "spec.deployments[].autoScaler.fallback.behavior",
    );
    assert_eq!(behavior["default"], "static");
}
