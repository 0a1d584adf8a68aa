//! The JSON Schema of the config (draft 7), made from the table of fields.
//!
//! Keys are sorted, so that the text is the same every time and can be compared byte by byte.

use serde_json::{Map, Value, json};

use crate::{
    catalog::{CATALOG, ServiceLayer},
    config::{
        ALIASES, Common, NoSettings, Root, SERVICE_ALIASES,
        field::{Fallback, Field, Kind, Section},
        format::Format,
        lookup::lookup,
        path,
    },
};

/// Where the schema lives unless somebody says otherwise.
pub const DEFAULT_ID: &str = "https://opencenter.cloud/schemas/opencenter-v2.schema.json";

/// The schema of a whole config.
pub fn config_schema(id: &str) -> Value {
    let mut schema = section_schema(&[Root::SECTION], "");
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["$id"] = id.into();
    schema["title"] = "openCenter v2 Cluster Configuration".into();
    schema["properties"]["schema_version"]["enum"] = json!([crate::config::SCHEMA_VERSION]);
    schema
}

/// The schema of the block of one service; of any other service if the catalog does not know the name.
pub fn service_schema(name: &str) -> Value {
    let entry = CATALOG.iter().find(|entry| entry.name == name);
    let settings = entry.map_or(NoSettings::SECTION, |entry| entry.settings());
    let path = entry.map_or_else(
        || path::child("opencenter.services", name),
        crate::catalog::CatalogEntry::config_path,
    );
    let mut schema = section_schema(&[Common::SECTION, settings], &path);
    if let Some(entry) = entry {
        schema["description"] = format!("{}.", entry.description).into();
    }
    schema
}

/// A schema as text: two spaces of indentation, a newline at the end.
pub fn to_text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The schema of a mapping with the fields of some sections.
fn section_schema(sections: &[&'static Section], path: &str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut notes = Vec::new();
    for section in sections {
        let is_switch = section.field("enabled").is_some();
        for field in section.fields {
            let place = path::child(path, field.name);
            properties.insert(field.name.to_owned(), field_schema(field, &place));
            if field.required && field.fallback == Fallback::None {
                if is_switch {
                    notes.push(format!("{} is required when enabled", field.name));
                } else {
                    required.push(field.name);
                }
            }
        }
    }
    add_legacy_keys(&mut properties, path);
    let is_open = sections.iter().any(|section| section.open);
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": is_open,
    });
    if let Some(section) = sections.last() {
        schema["description"] = section.description().into();
    }
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if !notes.is_empty() {
        schema["x-opencenter-validation"] = notes.into();
    }
    schema
}

fn field_schema(field: &'static Field, path: &str) -> Value {
    let mut schema = kind_schema(field, &field.kind, path);
    schema["description"] = field.description().into();
    match field.fallback {
        Fallback::Filled(literal) | Fallback::Chart(literal) => {
            schema["default"] = literal.to_value();
        }
        Fallback::Rule(_) | Fallback::None => {}
    }
    if field.secret {
        schema["x-opencenter-secret"] = true.into();
    }
    if field.deprecated {
        schema["deprecated"] = true.into();
    }
    let mut notes: Vec<Value> = match schema.get("x-opencenter-validation") {
        Some(Value::Array(notes)) => notes.clone(),
        _ => Vec::new(),
    };
    if let Some(condition) = field.required_when {
        notes.push(format!("required when {condition}").into());
    }
    if let Fallback::Rule(rule) = field.fallback {
        notes.push(format!("default: {rule}").into());
    }
    if let Some(format) = field.format
        && format.schema_format().is_none()
        && format.schema_pattern().is_none()
    {
        notes.push(format.expectation().into());
    }
    if !notes.is_empty() {
        schema["x-opencenter-validation"] = notes.into();
    }
    schema
}

fn kind_schema(field: &'static Field, kind: &'static Kind, path: &str) -> Value {
    match kind {
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Integer => {
            let mut schema = json!({"type": "integer"});
            if let Some(minimum) = field.minimum {
                schema["minimum"] = minimum.into();
            }
            if let Some(maximum) = field.maximum {
                schema["maximum"] = maximum.into();
            }
            schema
        }
        Kind::Text => {
            let mut schema = json!({"type": "string"});
            if let Some(format) = field.format.and_then(Format::schema_format) {
                schema["format"] = format.into();
            }
            if let Some(pattern) = field.format.and_then(Format::schema_pattern) {
                schema["pattern"] = pattern.into();
            }
            schema
        }
        Kind::Choice(words) => json!({"type": "string", "enum": field.advertised.unwrap_or(words)}),
        Kind::Object(section) => section_schema(&[section], path),
        Kind::List(item) => {
            let mut schema =
                json!({"type": "array", "items": kind_schema(field, item, &path::item(path, 0))});
            if field.required {
                schema["minItems"] = 1.into();
            }
            schema
        }
        Kind::Map(item) => json!({
            "type": "object",
            "additionalProperties": kind_schema(field, item, &path::child(path, "name")),
        }),
        Kind::Services => services_schema(|layer| layer != ServiceLayer::ManagedServices),
        Kind::ManagedServices => services_schema(|layer| layer == ServiceLayer::ManagedServices),
        Kind::Opaque => json!({"type": "object"}),
        Kind::Any => json!({}),
    }
}

fn services_schema(belongs: impl Fn(ServiceLayer) -> bool) -> Value {
    let known: Map<String, Value> = CATALOG
        .iter()
        .filter(|entry| belongs(entry.layer))
        .map(|entry| (entry.name.to_owned(), service_schema(entry.name)))
        .collect();
    json!({
        "type": "object",
        "properties": known,
        "additionalProperties": {"type": "object"},
    })
}

/// Adds the legacy keys that stand directly in this mapping.
fn add_legacy_keys(properties: &mut Map<String, Value>, path: &str) {
    let relative = |full: &'static str| {
        let rest = full.strip_prefix(path)?;
        if path.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix('.')
        }
    };
    for (legacy, canonical) in ALIASES {
        let Some(rest) = relative(legacy) else {
            continue;
        };
        match rest.split_once('.') {
            None => {
                properties.insert(rest.to_owned(), legacy_schema(canonical));
            }
            // A legacy key in a section that exists for nothing else.
            Some((holder, _)) if !properties.contains_key(holder) => {
                let description = format!("Older place of `{canonical}`.");
                let schema =
                    json!({"type": "object", "deprecated": true, "description": description});
                properties.insert(holder.to_owned(), schema);
            }
            Some(_) => {}
        }
    }
    let is_service = ["opencenter.services.", "opencenter.managed_services."]
        .iter()
        .any(|map| {
            path.strip_prefix(map)
                .is_some_and(|rest| !rest.contains('.'))
        });
    if is_service {
        for (legacy, canonical) in SERVICE_ALIASES {
            let schema = legacy_schema(&format!("{path}.{canonical}"));
            properties.insert((*legacy).to_owned(), schema);
        }
    }
}

fn legacy_schema(canonical: &str) -> Value {
    let mut schema = match lookup(canonical).map(|known| known.kind()) {
        Ok(Kind::Text) => json!({"type": "string"}),
        _ => json!({"type": "object"}),
    };
    schema["deprecated"] = true.into();
    schema["description"] = format!("Older name of `{canonical}`.").into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_the_types_say() {
        let schema = config_schema(DEFAULT_ID);
        let at = |pointer: &str| {
            schema
                .pointer(pointer)
                .unwrap_or_else(|| panic!("{pointer}"))
        };
        assert_eq!(at("/$id"), DEFAULT_ID);
        assert_eq!(at("/additionalProperties"), false);
        assert_eq!(at("/required"), &json!(["schema_version", "opencenter"]));
        let opencenter = "/properties/opencenter/properties";
        assert_eq!(at(&format!("{opencenter}/meta/required")), &json!(["name"]));
        assert_eq!(
            at(&format!("{opencenter}/infrastructure/additionalProperties")),
            true
        );
        let keycloak = format!("{opencenter}/services/properties/keycloak/properties");
        assert_eq!(
            at(&format!("{keycloak}/instances")),
            &json!({
                "type": "integer", "default": 3, "description": "Number of instances.",
            })
        );
        assert_eq!(at(&format!("{keycloak}/uri/deprecated")), true);
        assert_eq!(
            at(&format!(
                "{opencenter}/services/properties/loki/properties/storage_type/enum"
            )),
            &json!(["s3", "swift"])
        );
        assert_eq!(
            at(
                "/properties/secrets/properties/keycloak/properties/admin_password/x-opencenter-secret"
            ),
            true
        );
        assert_eq!(
            at(&format!("{opencenter}/managed-service/deprecated")),
            true
        );
        assert_eq!(at(&format!("{opencenter}/storage/deprecated")), true);
    }

    #[test]
    fn every_property_has_a_description() {
        fn walk(schema: &Value, path: &str) {
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                for (name, property) in properties {
                    let place = format!("{path}.{name}");
                    let description = property["description"].as_str().unwrap_or_default();
                    assert!(!description.is_empty(), "{place}");
                    walk(property, &place);
                }
            }
            for inner in ["items", "additionalProperties"] {
                if let Some(inner) = schema.get(inner) {
                    walk(inner, path);
                }
            }
        }
        walk(&config_schema(DEFAULT_ID), "");
    }

    #[test]
    fn text_is_stable() {
        let text = to_text(&service_schema("velero"));
        assert!(text.starts_with("{\n  \"additionalProperties\": false,\n"));
        assert!(text.ends_with("}\n"));
        assert_eq!(text, to_text(&service_schema("velero")));
        assert_eq!(
            service_schema("unheard-of")["properties"]["enabled"]["type"],
            "boolean"
        );
    }
}
