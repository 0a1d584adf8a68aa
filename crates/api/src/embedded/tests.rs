use k8s_openapi::api::{
    autoscaling::v2::HorizontalPodAutoscalerBehavior,
    core::v1::{EnvVar, ObjectFieldSelector, Probe, ResourceRequirements, Volume},
};

use super::*;

fn generated(function: fn(&mut SchemaGenerator) -> Schema) -> Value {
    // Definitions refer to nothing: everything is written where it is used.
    let settings = schemars::generate::SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
    });
    function(&mut settings.into_generator()).to_value()
}

#[test]
fn lists_inside_are_replaced_as_a_whole_unless_they_have_a_key() {
    let resources = generated(value::<ResourceRequirements>);
    let claims = &resources["properties"]["claims"];
    assert_eq!(claims["x-kubernetes-list-type"], "map");
    assert_eq!(claims["x-kubernetes-list-map-keys"], json!(["name"]));
    let volumes = generated(list::<Volume>);
    assert_eq!(
        volumes.get("x-kubernetes-list-type"),
        None,
        "the list itself is ours"
    );
    let sources = &volumes["items"]["properties"]["projected"]["properties"]["sources"];
    assert_eq!(sources["x-kubernetes-list-type"], "atomic");
}

#[test]
fn local_references_need_no_name_and_are_replaced_as_a_whole() {
    let variables = generated(list::<EnvVar>);
    let key = variables
        .pointer("/items/properties/valueFrom/properties/secretKeyRef")
        .unwrap();
    assert_eq!(key["x-kubernetes-map-type"], "atomic");
    assert_eq!(key["required"], json!(["key"]));
    assert_eq!(key["properties"]["name"]["default"], "");
    let volume = generated(value::<Volume>);
    let secret = &volume["properties"]["secret"];
    assert_eq!(
        secret.get("x-kubernetes-map-type"),
        None,
        "it names its object as `secretName`"
    );
    assert_eq!(
        generated(field_reference::<ObjectFieldSelector>)["x-kubernetes-map-type"],
        "atomic"
    );
}

#[test]
fn quantities_have_a_pattern_and_ports_have_none() {
    let scaling = generated(value::<HorizontalPodAutoscalerBehavior>);
    let tolerance = scaling
        .pointer("/properties/scaleUp/properties/tolerance")
        .unwrap();
    assert_eq!(tolerance["pattern"], QUANTITY);
    let probe = generated(value::<Probe>);
    let port = probe
        .pointer("/properties/httpGet/properties/port")
        .unwrap();
    assert_eq!(port["x-kubernetes-int-or-string"], true);
    assert_eq!(port.get("pattern"), None);
    let service = probe
        .pointer("/properties/grpc/properties/service")
        .unwrap();
    assert_eq!(service["default"], "");
}

#[test]
fn descriptions_are_left_out_and_metadata_is_left_open() {
    let volume = generated(value::<Volume>);
    assert!(!volume.to_string().contains("description"));
    let metadata = volume
        .pointer("/properties/ephemeral/properties/volumeClaimTemplate/properties/metadata")
        .unwrap();
    assert_eq!(*metadata, json!({"type": "object"}));
}

#[test]
fn fields_younger_than_our_types_are_admitted() {
    let variables = generated(list::<EnvVar>);
    let file = variables
        .pointer("/items/properties/valueFrom/properties/fileKeyRef")
        .unwrap();
    assert_eq!(file["x-kubernetes-map-type"], "atomic");
    assert_eq!(file["properties"]["optional"]["default"], false);
    let volume = generated(value::<Volume>);
    let sources = &volume["properties"]["projected"]["properties"]["sources"];
    assert_eq!(
        sources["items"]["properties"]["podCertificate"]["required"],
        json!(["keyType", "signerName"])
    );
}
