//! Schemas of Kubernetes' own types inside custom resources.
//!
//! The generated schemas of these types describe what the API server takes for its own kinds. Inside a custom
//! resource definition they have to say more, because there the API server knows nothing but the schema: how lists and
//! references are merged, what is filled in, what a quantity looks like. They also have to say less: descriptions that
//! everybody can look up elsewhere would make up most of a definition. Both follow from a few rules and the tables below.
//!
//! To be named in `schema_with`, with the type of the field in angle brackets.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// Selectors and references to fields, which are replaced as a whole.
const SELECTORS: [&str; 10] = [
    "dataSource",
    "fieldRef",
    "fileKeyRef",
    "labelSelector",
    "namespaceSelector",
    "nodeSelectorTerms",
    "podSelector",
    "preference",
    "resourceFieldRef",
    "selector",
];

/// References to an object of the same namespace: replaced as a whole, and a missing name is filled in as an empty one.
/// A `secret` volume names its object in another field and is none of them.
const LOCAL_REFERENCES: [&str; 6] = [
    "configMap",
    "configMapKeyRef",
    "nodePublishSecretRef",
    "secret",
    "secretKeyRef",
    "secretRef",
];

/// Lists that are merged item by item, and the field that tells the items apart. All others are replaced as a whole.
const MERGED_LISTS: [(&str, &str); 1] = [("claims", "name")];

/// Fields that are either a number or a name. Everything else that is a number or a text is a quantity.
const NUMBER_OR_NAME: &str = "port";

/// What a quantity looks like as a text.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Schema of one embedded value.
pub(crate) fn value<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    named::<T>("", generator)
}

/// Schema of a reference to a field of the pod.
pub(crate) fn field_reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    named::<T>("fieldRef", generator)
}

/// Schema of a list of embedded values. How it is merged is left open: the list itself is ours.
pub(crate) fn list<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": value::<T>(generator)})
}

fn named<T: JsonSchema>(name: &str, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = T::json_schema(generator);
    settle(name, schema.ensure_object());
    schema
}

/// Puts the schema of the field `name`, and everything in it, right.
fn settle(name: &str, schema: &mut Map<String, Value>) {
    schema.remove("description");
    if name == "metadata" {
        // The API server looks after metadata of its own kinds only; inside others the originals leave it open.
        *schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    }
    if schema.contains_key("x-kubernetes-int-or-string") && name != NUMBER_OR_NAME {
        schema.insert("pattern".to_owned(), json!(QUANTITY));
    }
    settle_references(name, schema);
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for (field, schema) in fields {
            settle_field(name, field, schema);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get_mut(keyword) {
            settle(name, inner);
        }
    }
}

fn settle_references(name: &str, schema: &mut Map<String, Value>) {
    let is_local_reference = LOCAL_REFERENCES.contains(&name)
        && schema
            .get("properties")
            .is_some_and(|fields| fields.get("name").is_some());
    // A selector of nodes goes by the name of the rule that it is in, which other selectors have too.
    let selects_nodes = schema
        .get("properties")
        .is_some_and(|fields| fields.get("nodeSelectorTerms").is_some());
    let is_selector = selects_nodes || SELECTORS.contains(&name);
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    if is_local_reference || is_selector && is_object {
        schema.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
    }
    if is_local_reference {
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|field| field != "name");
        }
        if let Some(Value::Object(reference)) = schema
            .get_mut("properties")
            .and_then(|fields| fields.get_mut("name"))
        {
            reference.insert("default".to_owned(), json!(""));
        }
    }
}

fn settle_field(owner: &str, field: &str, schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    settle(field, schema);
    if let Some(default) = default_of(owner, field) {
        schema.insert("default".to_owned(), default);
    }
    if schema.get("type").is_some_and(|kind| kind == "array") {
        let key = MERGED_LISTS
            .iter()
            .find(|(list, _)| *list == field)
            .map(|(_, key)| *key);
        schema.insert(
            "x-kubernetes-list-type".to_owned(),
            json!(if key.is_some() { "map" } else { "atomic" }),
        );
        if let Some(key) = key {
            schema.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
        }
    }
}

/// What the API server fills in for an absent field.
fn default_of(owner: &str, field: &str) -> Option<Value> {
    Some(match (owner, field) {
        ("azureDisk", "fsType") => json!("ext4"),
        ("azureDisk", "readOnly") | ("fileKeyRef", "optional") => json!(false),
        ("grpc", "service") => json!(""),
        ("iscsi", "iscsiInterface") => json!("default"),
        ("rbd", "keyring") => json!("/etc/ceph/keyring"),
        ("rbd", "pool") => json!("rbd"),
        ("rbd", "user") => json!("admin"),
        ("scaleIO", "fsType") => json!("xfs"),
        ("scaleIO", "storageMode") => json!("ThinProvisioned"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
