//! Legacy keys are rewritten whenever a file is changed anyway.

use serde_json::Value;

use super::Session;
use crate::{
    config::{ALIASES, SERVICE_ALIASES, path},
    finding::{Code, Finding},
};

/// Rewrites all legacy keys of the text.
pub(super) fn rewrite(session: &mut Session<'_>) -> Result<(), Vec<Finding>> {
    for (legacy, canonical) in ALIASES {
        rewrite_one(session, legacy, canonical)?;
    }
    for map in ["services", "managed_services"] {
        let names: Vec<String> = session
            .editor
            .value()
            .ok()
            .and_then(|value| {
                let blocks = value.get("opencenter")?.get(map)?.as_object()?;
                Some(blocks.keys().cloned().collect())
            })
            .unwrap_or_default();
        for name in names {
            let service = path::child(&format!("opencenter.{map}"), &name);
            for (legacy, canonical) in SERVICE_ALIASES {
                rewrite_one(
                    session,
                    &format!("{service}.{legacy}"),
                    &format!("{service}.{canonical}"),
                )?;
            }
        }
    }
    Ok(())
}

fn rewrite_one(
    session: &mut Session<'_>,
    legacy: &str,
    canonical: &str,
) -> Result<(), Vec<Finding>> {
    let (from, to) = (
        path::steps(legacy).unwrap_or_default(),
        path::steps(canonical).unwrap_or_default(),
    );
    let from: Vec<&str> = from.iter().map(String::as_str).collect();
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    let Ok(root) = session.editor.value() else {
        return Ok(());
    };
    let get = |keys: &[&str]| {
        keys.iter()
            .try_fold(&root, |value, key| value.get(key))
            .cloned()
    };
    let Some(value) = get(&from).filter(|value| !value.is_null()) else {
        return Ok(());
    };
    let has_successor = get(&to).is_some_and(|value: Value| !value.is_null());
    let parents = |keys: &[&str]| keys.split_last().map(|(_, parents)| parents.join("."));
    let result = match to.last() {
        Some(name) if !has_successor && parents(&from) == parents(&to) => {
            session.editor.rename(&from, name).map(drop)
        }
        _ if has_successor => session.editor.remove(&from).map(drop),
        _ => session
            .editor
            .set(&to, &value)
            .and_then(|_| session.editor.remove(&from))
            .map(drop),
    };
    match result {
        Ok(()) => {
            session.changed.insert(canonical.to_owned());
            Ok(())
        }
        Err(error) => Err(session.refuse(Code::Oc1120, legacy, error.to_string())),
    }
}
