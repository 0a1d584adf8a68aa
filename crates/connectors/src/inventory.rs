//! Where a set has put things. It says where to look; owner or mark says whose it is.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_api::connectors::install_manifest::InventoryEntry;
use mainstay_engine::{
    Kind, ObjectKey,
    options::{Options, Propagation, Stops},
};
use mainstay_manifest::Identity;
use serde_json::Value;

use crate::{marks, phases};

/// The entry of a key.
pub fn entry(key: &ObjectKey) -> InventoryEntry {
    InventoryEntry {
        group: key.kind.group.to_string(),
        version: key.kind.version.to_string(),
        kind: key.kind.kind.to_string(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

/// The key of an entry.
pub fn key(entry: &InventoryEntry) -> ObjectKey {
    let kind = Kind {
        group: entry.group.clone().into(),
        version: entry.version.clone().into(),
        kind: entry.kind.clone().into(),
    };
    ObjectKey::new(kind, entry.namespace.as_str(), entry.name.as_str())
}

/// The key of a recorded object, also of one whose name stands beside its metadata, as early records had it.
pub fn recorded_key(manifest: &Value) -> Option<ObjectKey> {
    if manifest.get("metadata").is_some() {
        return ObjectKey::of(manifest);
    }
    let text = |field: &str| manifest.get(field).and_then(Value::as_str);
    let kind = Kind::from_parts(text("apiVersion")?, text("kind")?);
    let namespace = text("namespace").unwrap_or_default();
    Some(ObjectKey::new(kind, namespace, text("name")?))
}

/// What an object is told apart by; the version of the API does not matter.
pub fn identity(key: &ObjectKey) -> Identity {
    Identity {
        group: key.kind.group.to_string(),
        kind: key.kind.kind.to_string(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

/// Everything that was put somewhere and everything that will be, without what is never taken away.
pub fn union<'keys>(
    recorded: &[InventoryEntry],
    wanted: impl Iterator<Item = &'keys ObjectKey>,
) -> Vec<InventoryEntry> {
    let removable = wanted.filter(|key| phases::removal(key).is_some());
    let wanted: BTreeMap<Identity, InventoryEntry> =
        removable.map(|key| (identity(key), entry(key))).collect();
    let others = recorded.iter();
    let others = others.filter(|entry| !wanted.contains_key(&identity(&key(entry))));
    let all: BTreeSet<InventoryEntry> = others.chain(wanted.values()).cloned().collect();
    all.into_iter().collect()
}

/// How what is in a place goes, if it ever does.
pub fn removal(key: &ObjectKey) -> Option<Options> {
    let phase = phases::removal(key)?;
    let is_job = key.kind.group == "batch" && key.kind.kind == "Job";
    Some(Options {
        phase,
        stops: Stops::UntilGone,
        mark: Some(&marks::INSTALLED),
        // The pods of a Job go before it does.
        propagation: if is_job {
            Propagation::Foreground
        } else {
            Propagation::Background
        },
        ..Options::DEFAULT
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key_of(kind: &str, name: &str) -> ObjectKey {
        ObjectKey::new(Kind::from_parts("v1", kind), "n", name)
    }

    #[test]
    fn the_union_forgets_nothing_and_names_nothing_that_stays() {
        let old = [
            entry(&key_of("ConfigMap", "old")),
            entry(&key_of("ConfigMap", "both")),
        ];
        let wanted = [
            key_of("ConfigMap", "both"),
            key_of("Secret", "new"),
            key_of("PersistentVolumeClaim", "data"),
        ];
        let union = union(&old, wanted.iter());
        let names: Vec<_> = union.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["both", "old", "new"]);
        assert_eq!(key(&union[2]), wanted[1]);
    }

    #[test]
    fn another_version_of_an_api_names_the_same_object() {
        let old = ObjectKey::new(Kind::from_parts("batch/v1beta1", "CronJob"), "n", "a");
        let new = ObjectKey::new(Kind::from_parts("batch/v1", "CronJob"), "n", "a");
        assert_eq!(union(&[entry(&old)], [&new].into_iter()), [entry(&new)]);
    }

    #[test]
    fn records_without_metadata_are_read() {
        let flat =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "namespace": "n"});
        assert_eq!(recorded_key(&flat).unwrap().to_string(), "Deployment n/a");
    }
}
