//! Spellings that mean the same are made the same, and values with two places are copied to both.

use serde_json::Value;

use super::{draft::Draft, path};

/// Fields of the nested OpenStack network section that older readers expect one level up.
const FLAT_NETWORK_FIELDS: [&str; 4] = [
    "floating_ip_pool",
    "network_id",
    "router_external_network_id",
    "subnet_id",
];

/// Normalizes a draft.
pub(crate) fn normalize(draft: &mut Draft) {
    let root = &mut draft.value;
    if let Some(Value::String(provider)) = root.pointer_mut("/opencenter/infrastructure/provider") {
        *provider = match provider.to_lowercase() {
            lower if lower == "vsphere" => "vmware".into(),
            lower => lower,
        };
    }
    if let Some(Value::String(level)) = root.pointer_mut("/opencenter/services/keycloak/log_level")
    {
        *level = level.to_uppercase();
    }
    copy_if_empty(
        draft,
        "opencenter.infrastructure.ssh",
        "user",
        "opencenter.infrastructure.ssh",
        "username",
    );
    copy_if_empty(
        draft,
        "secrets",
        "sops_age_key_file",
        "secrets.sops",
        "age_key_file",
    );
    let openstack = "opencenter.infrastructure.cloud.openstack";
    for field in FLAT_NETWORK_FIELDS {
        copy_if_empty(
            draft,
            &format!("{openstack}.networking"),
            field,
            openstack,
            field,
        );
    }
}

/// Copies a text to another field that is absent or empty.
fn copy_if_empty(draft: &mut Draft, from: &str, field: &str, to: &str, target: &str) {
    let is_set = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let (source, destination) = (path::child(from, field), path::child(to, target));
    let Some(value) = path::get(&draft.value, &source)
        .filter(|value| is_set(value))
        .cloned()
    else {
        return;
    };
    if path::get(&draft.value, &destination)
        .is_some_and(|existing| !existing.is_null() && existing != "")
    {
        return;
    }
    let Some((holder, parent)) = to.rsplit_once('.').map_or(Some(("", to)), Some) else {
        return;
    };
    let steps = path::steps(holder).unwrap_or_default();
    let Some(holder) = draft
        .value
        .pointer_mut(&path::pointer(&steps))
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    let place = holder
        .entry(parent)
        .or_insert_with(|| Value::Object(serde_json::Map::new()));
    if let Some(fields) = place.as_object_mut() {
        fields.insert(target.to_owned(), value);
        draft.origins.record_move(&source, &destination);
        draft.origins.record_copy(&source, &destination);
    }
}
