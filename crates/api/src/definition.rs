//! Finishing touches on derived custom resource definitions.
//!
//! Deriving a schema leaves traces of the Rust types in it (titles, nullable options, a required
//! `spec`) and leaves out what the API server knows anyway. Existing manifests and tools compare
//! against the definitions of the original operators, so both are put right here, once for all kinds.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
    ValidationRule,
};
use serde_json::Value;

/// Completes a derived definition.
pub(crate) fn complete(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    crd.spec.names.list_kind = Some(format!("{}List", crd.spec.names.kind));
    for version in &mut crd.spec.versions {
        if let Some(root) = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut())
        {
            strip(root);
            complete_root(root);
        }
    }
    crd
}

/// A rule that the API server checks.
pub(crate) struct Rule {
    /// The rule, in the Common Expression Language.
    pub(crate) rule: &'static str,
    /// What it says if the rule does not hold.
    pub(crate) message: &'static str,
}

/// Adds rules over the whole object.
pub(crate) fn with_root_rules(
    mut crd: CustomResourceDefinition,
    rules: &[Rule],
) -> CustomResourceDefinition {
    let versions = crd.spec.versions.iter_mut();
    let schemas = versions.filter_map(|version| version.schema.as_mut());
    for root in schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut()) {
        let rules = rules.iter().map(|rule| ValidationRule {
            rule: rule.rule.to_owned(),
            message: Some(rule.message.to_owned()),
            ..ValidationRule::default()
        });
        root.x_kubernetes_validations = Some(rules.collect());
    }
    crd
}

/// The name of the file that a definition is kept in, `<group>_<plural>.yaml`, and its document.
pub fn file(crd: &CustomResourceDefinition) -> (String, Value) {
    let name = format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
    let mut document =
        serde_json::to_value(crd).expect("a definition consists of JSON values only");
    settle_numbers(&mut document);
    (name, document)
}

/// Bounds are floating point numbers in the API's types; whole ones are printed as the API server prints them.
fn settle_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(settle_numbers),
        Value::Object(members) => members.values_mut().for_each(settle_numbers),
        Value::Number(number) => {
            let whole = number
                .as_f64()
                .map(|number| number.to_string())
                .and_then(|text| text.parse::<i64>().ok());
            if let Some(whole) = whole {
                *value = whole.into();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn complete_root(root: &mut JSONSchemaProps) {
    // All kinds of the suite accept an object without a spec: the API server shall store it, and we say what is missing.
    root.required = None;
    let properties = root.properties.get_or_insert_default();
    for property in properties.values_mut() {
        property.default = None;
    }
    properties.insert(
        "apiVersion".to_owned(),
        plain(
            "string",
            Some("Group and version of the API that the object is written in."),
        ),
    );
    properties.insert(
        "kind".to_owned(),
        plain("string", Some("Kind of the object.")),
    );
    properties.insert("metadata".to_owned(), plain("object", None));
}

fn plain(r#type: &str, description: Option<&str>) -> JSONSchemaProps {
    JSONSchemaProps {
        type_: Some(r#type.to_owned()),
        description: description.map(str::to_owned),
        ..JSONSchemaProps::default()
    }
}

/// Removes what only mirrors Rust types (an absent optional field is left out, never null) and spells out the rest.
fn strip(schema: &mut JSONSchemaProps) {
    schema.title = None;
    schema.nullable = None;
    if schema.required.as_ref().is_some_and(Vec::is_empty) {
        schema.required = None;
    }
    if schema.x_kubernetes_int_or_string == Some(true) {
        // The way in which the originals spell it out for readers that do not know the extension.
        schema.any_of = Some(vec![plain("integer", None), plain("string", None)]);
    }
    schema
        .properties
        .iter_mut()
        .flat_map(BTreeMap::values_mut)
        .for_each(strip);
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        strip(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        strip(values);
    }
}
