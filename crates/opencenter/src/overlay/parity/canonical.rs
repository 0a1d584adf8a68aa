//! One form for everything that means the same.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::inventory::RuleSet;
use crate::overlay::semantic;

/// The documents of a file with their identities, in canonical form, empty ones dropped; none if it is not YAML.
pub(super) fn documents(path: &str, bytes: &[u8], rules: &RuleSet) -> Option<Vec<(String, Value)>> {
    let documents = semantic::documents(path, bytes)?;
    let canonical = documents.into_iter().map(|(identity, mut value)| {
        rules.remove_ignored(path, &mut value);
        canonical_document(&mut value);
        (identity, value)
    });
    Some(canonical.filter(|(_, value)| !value.is_null()).collect())
}

fn canonical_document(value: &mut Value) {
    let kind = value
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let api = value
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    match kind.as_str() {
        "Kustomization" if api.starts_with("kustomize.config.k8s.io/") => kustomize_file(value),
        "Kustomization" if api.starts_with("kustomize.toolkit.fluxcd.io/") => flux_unit(value),
        "Secret" => secret(value),
        _ => {}
    }
}

/// Order of resources, `./` and the old spelling of patches mean nothing.
fn kustomize_file(value: &mut Value) {
    let Some(file) = value.as_object_mut() else {
        return;
    };
    if let Some(resources) = file.get_mut("resources").and_then(Value::as_array_mut) {
        for resource in resources.iter_mut() {
            if let Some(text) = resource.as_str() {
                *resource = Value::from(plain_path(text));
            }
        }
        resources.sort_by_key(Value::to_string);
    }
    if file
        .get("resources")
        .is_some_and(|resources| resources.is_null() || resources == &json!([]))
    {
        file.remove("resources");
    }
    let mut patches = match file.remove("patches") {
        Some(Value::Array(patches)) => patches,
        _ => Vec::new(),
    };
    if let Some(Value::Array(old)) = file.remove("patchesStrategicMerge") {
        patches.extend(old.into_iter().map(|path| json!({"path": path})));
    }
    for patch in &mut patches {
        if let Some(path) = patch.get_mut("path")
            && let Some(text) = path.as_str()
        {
            *path = Value::from(plain_path(text));
        }
    }
    if !patches.is_empty() {
        file.insert("patches".to_owned(), Value::Array(patches));
    }
}

fn plain_path(path: &str) -> &str {
    path.strip_prefix("./")
        .unwrap_or(path)
        .trim_end_matches('/')
}

fn flux_unit(value: &mut Value) {
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(dependencies) = spec.get_mut("dependsOn").and_then(Value::as_array_mut) {
        dependencies.sort_by_key(Value::to_string);
    }
    if let Some(path) = spec.get_mut("path")
        && let Some(text) = path.as_str()
    {
        *path = Value::from(plain_path(text));
    }
}

/// Encoded and plain texts of a Secret are the same data.
fn secret(value: &mut Value) {
    let Some(secret) = value.as_object_mut() else {
        return;
    };
    let Some(Value::Object(data)) = secret.remove("data") else {
        return;
    };
    let mut texts = match secret.remove("stringData") {
        Some(Value::Object(texts)) => texts,
        _ => Map::new(),
    };
    for (key, value) in data {
        let decoded = value
            .as_str()
            .and_then(|text| STANDARD.decode(text).ok())
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let value = match (decoded, value) {
            (Some(text), _) => Value::from(text),
            (None, Value::Null) => Value::from(""),
            (None, other) => other,
        };
        texts.entry(key).or_insert(value);
    }
    secret.insert("stringData".to_owned(), Value::Object(texts));
}

/// Where one side is encrypted, only the keys can be compared.
pub(super) fn match_encryption(left: &mut Option<Value>, right: &mut Option<Value>) {
    let is_encrypted = |value: &Option<Value>| {
        value
            .as_ref()
            .is_some_and(|value| value.get("sops").is_some())
    };
    if !is_encrypted(left) && !is_encrypted(right) {
        return;
    }
    for value in [left, right].into_iter().flatten() {
        if let Some(document) = value.as_object_mut() {
            document.remove("sops");
        }
        keys_only(value);
    }
}

fn keys_only(value: &mut Value) {
    match value {
        Value::Object(entries) => entries.values_mut().for_each(keys_only),
        Value::Array(items) => items.iter_mut().for_each(keys_only),
        scalar => *scalar = Value::Null,
    }
}

/// Whether the content must not be shown.
pub(super) fn is_secret(path: &str, value: Option<&Value>) -> bool {
    let kind = value.and_then(|value| value.get("kind")?.as_str());
    path.contains("/helm-values/") || matches!(kind, Some("Secret" | "KeycloakRealmImport"))
}
