use serde_json::{Value, json};

use super::*;
use crate::file;

fn definition(kind: &str) -> Value {
    let mut found = crds().into_iter();
    let found = found.find(|crd| crd.spec.names.kind == kind).unwrap();
    file(&found).1
}

fn schema(kind: &str, pointer: &str) -> Value {
    let root = &definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let found = root.pointer(pointer);
    found
        .unwrap_or_else(|| panic!("{pointer} is missing"))
        .clone()
}

fn spec_field(name: &str) -> Value {
    schema("Connector", &format!("/properties/spec/properties/{name}"))
}

#[test]
fn the_names_are_those_that_users_type() {
    for (kind, plural, short, scope) in [
        ("Connector", "connectors", "cnr", "Namespaced"),
        ("InstallManifest", "installmanifests", "im", "Cluster"),
    ] {
        let definition = definition(kind);
        assert_eq!(
            definition["metadata"]["name"],
            format!("{plural}.operator.connectors.alauda.io")
        );
        assert_eq!(definition["spec"]["scope"], scope);
        assert_eq!(
            definition["spec"]["names"],
            json!({
                "kind": kind, "listKind": format!("{kind}List"), "plural": plural,
                "singular": kind.to_lowercase(), "shortNames": [short],
            })
        );
        let version = &definition["spec"]["versions"][0];
        assert_eq!(version["name"], "v1alpha1");
        assert_eq!(version["subresources"], json!({"status": {}}));
        assert!(definition.to_string().len() <= 64 * 1024);
    }
}

#[test]
fn lists_show_whether_it_is_ready_and_why() {
    let columns = |kind| {
        let columns = definition(kind)["spec"]["versions"][0]["additionalPrinterColumns"].clone();
        let columns: Vec<Value> = serde_json::from_value(columns).unwrap();
        let column = |column: &Value| (column["name"].clone(), column["jsonPath"].clone());
        columns.iter().map(column).collect::<Vec<_>>()
    };
    let ready = (
        json!("Ready"),
        json!(".status.conditions[?(@.type==\"Ready\")].status"),
    );
    let reason = (
        json!("Reason"),
        json!(".status.conditions[?(@.type==\"Ready\")].reason"),
    );
    let age = (json!("Age"), json!(".metadata.creationTimestamp"));
    assert_eq!(
        columns("Connector"),
        [
            ready.clone(),
            reason.clone(),
            (json!("Version"), json!(".status.version")),
            age.clone(),
        ]
    );
    assert_eq!(
        columns("InstallManifest"),
        [
            ready,
            reason,
            (json!("Version"), json!(".status.connectorVersion")),
            (
                json!("Type"),
                json!(".metadata.labels.cpaas\\.io/install-type")
            ),
            age,
        ]
    );
}

#[test]
fn what_can_be_checked_without_the_bundle_is_checked_by_the_api_server() {
    assert_eq!(
        (
            &spec_field("manifestType")["enum"],
            &spec_field("manifestType")["default"]
        ),
        (&json!(["Metadata", "All"]), &json!("Metadata"))
    );
    assert_eq!(spec_field("additionalManifests")["maxLength"], 4096);
    assert_eq!(spec_field("registry")["maxLength"], 512);
    assert_eq!(spec_field("registry")["pattern"], r"^\S*$");
    assert_eq!(
        spec_field("application")["pattern"],
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
    );
    for field in ["labels", "annotations"] {
        let rules = &spec_field(field)["x-kubernetes-validations"];
        let rule = rules[0]["rule"].as_str().unwrap().to_owned();
        assert!(rule.contains("'cpaas.io/managed-by' in self"), "{field}");
    }
    let rules = schema("Connector", "/x-kubernetes-validations");
    assert_eq!(rules[0]["rule"], "size(self.metadata.name) <= 63");
    assert!(rules[1]["rule"].as_str().unwrap().contains("oldSelf"));
    for pointer in ["", "/properties/spec", "/properties/status"] {
        for kind in ["Connector", "InstallManifest"] {
            assert_eq!(
                schema(kind, pointer).get("required"),
                None,
                "{kind} {pointer}"
            );
        }
    }
}

#[test]
fn workloads_are_merged_by_name_and_their_templates_are_open() {
    let workloads = spec_field("workloads");
    assert_eq!(workloads["x-kubernetes-list-type"], "map");
    assert_eq!(workloads["x-kubernetes-list-map-keys"], json!(["name"]));
    let item = &workloads["items"];
    assert_eq!(item["required"], json!(["name"]));
    assert_eq!(item["properties"]["replicas"]["minimum"], 0);
    assert_eq!(
        item["properties"]["template"]["x-kubernetes-preserve-unknown-fields"],
        true
    );
    assert_eq!(item["properties"]["selector"]["type"], "object");
}

#[test]
fn recorded_objects_are_kept_as_they_are() {
    let items = schema(
        "InstallManifest",
        "/properties/spec/properties/manifests/items",
    );
    assert_eq!(items["required"], json!(["apiVersion", "kind"]));
    assert_eq!(items["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(items.get("x-kubernetes-embedded-resource"), None);
    let inventory = schema(
        "InstallManifest",
        "/properties/status/properties/inventory/items",
    );
    assert_eq!(
        inventory["required"],
        json!(["group", "kind", "name", "version"])
    );
}

#[test]
fn an_absent_spec_is_an_empty_one() {
    let connector: Connector =
        serde_json::from_value(json!({"metadata": {"name": "shop"}})).unwrap();
    assert_eq!(connector.spec, ConnectorSpec::default());
    assert!(!connector.spec.manifest_type.is_all());
    let nulls = json!({"metadata": {}, "spec": {"labels": null, "workloads": null}});
    let connector: Connector = serde_json::from_value(nulls).unwrap();
    assert_eq!(connector.spec, ConnectorSpec::default());
}
