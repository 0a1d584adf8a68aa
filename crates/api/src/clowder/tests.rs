mod decoding;
mod definitions;
mod status;
mod survival;

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

use crate::file;

/// The documents of the definitions by kind, made once for all tests.
static DEFINITIONS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    super::crds()
        .iter()
        .map(|crd| (crd.spec.names.kind.clone(), file(crd).1))
        .collect()
});

fn definition(kind: &str) -> &'static Value {
    &DEFINITIONS[kind]
}

/// The schema of a kind at a path such as `spec.jobs[].podSpec`.
fn schema(kind: &str, path: &str) -> Value {
    let mut pointer = "/spec/versions/0/schema/openAPIV3Schema".to_owned();
    for field in path.split('.').filter(|field| !field.is_empty()) {
        let (name, lists) = field
            .find("[]")
            .map_or((field, ""), |end| field.split_at(end));
        pointer.extend(["/properties/", name]);
        pointer.push_str(&"/items".repeat(lists.len() / 2));
    }
    definition(kind)
        .pointer(&pointer)
        .unwrap_or_else(|| panic!("{kind} has no {path}"))
        .clone()
}
