//! Legacy keys: rewritten to their successors before anything else looks at the config.

use serde_json::{Map, Value};

use super::{draft::Draft, path};
use crate::finding::{Code, Finding};

/// Legacy path and its successor.
pub const ALIASES: &[(&str, &str)] = &[
    ("opencenter.managed-service", "opencenter.managed_services"),
    (
        "opencenter.gitops.git_dir",
        "opencenter.gitops.repository.local_dir",
    ),
    (
        "opencenter.gitops.git_url",
        "opencenter.gitops.repository.url",
    ),
    (
        "opencenter.gitops.git_branch",
        "opencenter.gitops.repository.branch",
    ),
    (
        "opencenter.gitops.gitops_base_repo",
        "opencenter.gitops.base_repo.url",
    ),
    (
        "opencenter.gitops.gitops_base_release",
        "opencenter.gitops.base_repo.release",
    ),
    (
        "opencenter.gitops.gitops_branch",
        "opencenter.gitops.base_repo.branch",
    ),
    (
        "opencenter.gitops.secret_name",
        "opencenter.gitops.base_repo.secret_name",
    ),
    (
        "opencenter.gitops.git_ssh_key",
        "opencenter.gitops.auth.ssh.private_key",
    ),
    (
        "opencenter.gitops.git_ssh_pub",
        "opencenter.gitops.auth.ssh.public_key",
    ),
    (
        "opencenter.storage.default_storage_class",
        "opencenter.infrastructure.storage.default_storage_class",
    ),
];

/// Legacy keys of every service and their successors, relative to the service.
pub const SERVICE_ALIASES: &[(&str, &str)] = &[
    ("uri", "source.repo"),
    ("branch", "source.branch"),
    ("release", "source.release"),
    ("image_repository", "image.repository"),
    ("image_tag", "image.tag"),
];

/// Rewrites all legacy keys of a draft; one warning each.
pub(crate) fn rewrite(draft: &mut Draft) {
    for (legacy, canonical) in ALIASES {
        rewrite_one(draft, legacy, canonical);
    }
    for map in ["opencenter.services", "opencenter.managed_services"] {
        for (name, legacy, canonical) in legacy_keys(&draft.value, map) {
            let service = path::child(map, &name);
            rewrite_one(
                draft,
                &format!("{service}.{legacy}"),
                &format!("{service}.{canonical}"),
            );
        }
    }
    remove_if_empty(&mut draft.value, &["opencenter", "storage"]);
    if let Some(opencenter) = draft
        .value
        .get_mut("opencenter")
        .and_then(Value::as_object_mut)
        && opencenter.remove("talos").is_some()
    {
        draft.report_at_key(Finding::new(
            Code::Oc1121,
            "opencenter.talos",
            "`opencenter.talos` is no longer supported",
        ));
    }
}

/// The services of a map that have legacy keys, each with one of them and its successor.
fn legacy_keys(value: &Value, map: &str) -> Vec<(String, &'static str, &'static str)> {
    let Some(Value::Object(blocks)) = path::get(value, map) else {
        return Vec::new();
    };
    let of_block = |(name, block): (&String, &Value)| {
        let present = SERVICE_ALIASES
            .iter()
            .filter(|(legacy, _)| block.get(legacy).is_some());
        let named = present.map(|(legacy, canonical)| (name.clone(), *legacy, *canonical));
        named.collect::<Vec<_>>()
    };
    blocks.iter().flat_map(of_block).collect()
}

fn rewrite_one(draft: &mut Draft, legacy: &str, canonical: &str) {
    let (Some(from), Some(to)) = (path::steps(legacy), path::steps(canonical)) else {
        return;
    };
    let Some(value) = path::get(&draft.value, legacy)
        .filter(|value| !value.is_null())
        .cloned()
    else {
        return;
    };
    let existing = path::get(&draft.value, canonical).filter(|value| !value.is_null());
    let finding = match existing {
        Some(other) if *other == value => Finding::new(
            Code::Oc1122,
            legacy,
            format!("`{legacy}` repeats `{canonical}`"),
        )
        .help(format!("remove `{legacy}`")),
        Some(_) => Finding::new(
            Code::Oc1120,
            legacy,
            format!("`{legacy}` and `{canonical}` have different values"),
        )
        .help(format!("keep `{canonical}` and remove `{legacy}`")),
        None => Finding::new(
            Code::Oc1122,
            legacy,
            format!("`{legacy}` is an older name of `{canonical}`"),
        )
        .help(format!("write `{canonical}`")),
    };
    let is_new = existing.is_none();
    draft.report_at_key(finding);
    if is_new && !insert(&mut draft.value, &to, value) {
        return;
    }
    remove(&mut draft.value, &from);
    if is_new {
        draft.origins.record_move(legacy, canonical);
    }
}

/// Puts a value in its place, making mappings on the way; false if something else is in the way.
fn insert(root: &mut Value, steps: &[String], value: Value) -> bool {
    let Some((last, parents)) = steps.split_last() else {
        return false;
    };
    let mut current = root;
    for step in parents {
        let Some(mapping) = current.as_object_mut() else {
            return false;
        };
        let next = mapping.entry(step.as_str()).or_insert(Value::Null);
        if next.is_null() {
            *next = Value::Object(Map::new());
        }
        current = next;
    }
    match current.as_object_mut() {
        Some(mapping) => {
            mapping.insert(last.clone(), value);
            true
        }
        None => false,
    }
}

fn remove(root: &mut Value, steps: &[String]) {
    let Some((last, parents)) = steps.split_last() else {
        return;
    };
    let holder = parents
        .iter()
        .try_fold(root, |value, step| value.get_mut(step));
    if let Some(mapping) = holder.and_then(Value::as_object_mut) {
        mapping.remove(last);
    }
}

fn remove_if_empty(root: &mut Value, steps: &[&str]) {
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    let found = steps.iter().try_fold(&*root, |value, step| value.get(step));
    if found.and_then(Value::as_object).is_some_and(Map::is_empty) {
        remove(root, &steps);
    }
}
