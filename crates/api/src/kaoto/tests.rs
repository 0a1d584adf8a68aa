use serde_json::{Value, json};

use super::*;
use crate::{crds, file};

fn version() -> Value {
    file(&crd()).1["spec"]["versions"][0].clone()
}

fn schema(pointer: &str) -> Value {
    let root = version()["schema"]["openAPIV3Schema"].clone();
    root.pointer(pointer)
        .unwrap_or_else(|| panic!("{pointer} is missing"))
        .clone()
}

#[test]
fn the_file_is_named_by_group_and_plural_and_stays_small() {
    let (name, document) = crds().remove(0);
    assert_eq!(name, "designer.kaoto.io_kaotoes.yaml");
    assert_eq!(
        (&document["apiVersion"], &document["kind"]),
        (
            &json!("apiextensions.k8s.io/v1"),
            &json!("CustomResourceDefinition")
        )
    );
    assert!(document.to_string().len() <= 200 * 1024);
}

#[test]
fn the_names_are_those_that_users_type() {
    let document = file(&crd()).1;
    assert_eq!(
        document["metadata"],
        json!({"name": "kaotoes.designer.kaoto.io"})
    );
    assert_eq!(document["spec"]["scope"], "Namespaced");
    assert_eq!(
        document["spec"]["names"],
        json!({
            "kind": "Kaoto", "listKind": "KaotoList", "plural": "kaotoes", "singular": "kaoto",
            "shortNames": ["kd"], "categories": ["integration", "camel"],
        })
    );
}

#[test]
fn one_version_is_served_with_status_and_two_columns() {
    let version = version();
    assert_eq!(
        (&version["name"], &version["served"], &version["storage"]),
        (&json!("v1alpha1"), &json!(true), &json!(true))
    );
    assert_eq!(version["subresources"], json!({"status": {}}));
    assert_eq!(
        version["additionalPrinterColumns"],
        json!([
            {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "description": "The phase"},
            {"name": "Endpoint", "type": "string", "jsonPath": ".status.endpoint", "description": "The endpoint"},
        ])
    );
}

#[test]
fn nothing_in_the_spec_is_required_or_constrained() {
    assert_eq!(schema("").get("required"), None);
    for pointer in ["/properties/spec", "/properties/spec/properties/ingress"] {
        assert_eq!(schema(pointer)["type"], "object");
        assert_eq!(schema(pointer).get("required"), None, "{pointer}");
    }
    for field in [
        "image",
        "ingress/properties/host",
        "ingress/properties/path",
    ] {
        let field = schema(&format!("/properties/spec/properties/{field}"));
        let keywords: Vec<_> = field.as_object().unwrap().keys().collect();
        assert_eq!(keywords, ["description", "type"]);
        assert_eq!(field["type"], "string");
    }
}

#[test]
fn a_status_needs_a_phase_and_nothing_else() {
    let status = schema("/properties/status");
    assert_eq!(status["required"], json!(["phase"]));
    let fields: Vec<_> = status["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["conditions", "endpoint", "observedGeneration", "phase"]
    );
    assert_eq!(
        status["properties"]["observedGeneration"]["format"],
        "int64"
    );
}

#[test]
fn conditions_carry_the_bounds_of_the_api_machinery() {
    let condition = schema("/properties/status/properties/conditions/items");
    assert_eq!(
        condition["required"],
        json!(["lastTransitionTime", "message", "reason", "status", "type"])
    );
    let properties = &condition["properties"];
    assert_eq!(
        properties["status"]["enum"],
        json!(["True", "False", "Unknown"])
    );
    assert_eq!(
        (
            &properties["message"]["maxLength"],
            &properties["type"]["maxLength"]
        ),
        (&json!(32768), &json!(316))
    );
    assert_eq!(
        (
            &properties["reason"]["minLength"],
            &properties["reason"]["maxLength"]
        ),
        (&json!(1), &json!(1024))
    );
    assert_eq!(properties["observedGeneration"]["minimum"], 0);
    assert!(
        properties["reason"]["pattern"].is_string() && properties["type"]["pattern"].is_string()
    );
    assert_eq!(properties["lastTransitionTime"]["format"], "date-time");
}

#[test]
fn no_trace_of_rust_types_is_left_in_the_schema() {
    let text = version().to_string();
    for word in [
        "\"title\"",
        "\"nullable\"",
        "\"default\"",
        "anyOf",
        "$ref",
        "x-kubernetes",
    ] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

#[test]
fn an_object_without_a_spec_decodes_and_unknown_fields_do_not_matter() {
    let bare: Kaoto = serde_json::from_value(json!({
        "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto", "metadata": {"name": "canvas"}, "later": 1,
    }))
    .unwrap();
    assert_eq!(bare.spec, KaotoSpec::default());
    assert_eq!(bare.status, None);
    let open: Kaoto =
        serde_json::from_value(json!({"metadata": {}, "spec": {"image": "", "ingress": {}}}))
            .unwrap();
    assert_eq!(open.spec.ingress, Some(KaotoIngress::default()));
    assert_eq!(open.spec.image.as_deref(), Some(""));
}

#[test]
fn unset_fields_are_left_out_of_the_json() {
    let kaoto = Kaoto::new(
        "canvas",
        KaotoSpec {
            ingress: Some(KaotoIngress::default()),
            ..KaotoSpec::default()
        },
    );
    let value = serde_json::to_value(&kaoto).unwrap();
    assert_eq!(value["spec"], json!({"ingress": {}}));
    let status = KaotoStatus {
        phase: "Ready".to_owned(),
        ..KaotoStatus::default()
    };
    assert_eq!(
        serde_json::to_value(&status).unwrap(),
        json!({"phase": "Ready"})
    );
}
