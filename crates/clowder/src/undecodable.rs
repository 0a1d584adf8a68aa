//! Objects that their types do not fit, which only a laxer definition than ours lets into the store. Nothing is done
//! for them; a condition says which field is wrong and what to do.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use mainstay_engine::{
    conditions::Wanted,
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, Report, ReportInput},
};
use serde::{Deserialize as _, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::conditions;

/// The report of a reconcile over such an object. `own` is the condition of its kind besides the two about the outcome, of
/// which nothing is known; `empty` is the least that its status has to say.
pub fn report<Observed>(
    ending: &ReportInput<'_, Observed>,
    own: &'static str,
    empty: impl Serialize,
) -> Report {
    let text = match ending.end {
        ReconcileEnd::Rejected(rejection) => match &rejection.hint {
            Some(hint) => format!("{rejection}; {hint}"),
            None => rejection.to_string(),
        },
        _ => "the object cannot be read".to_owned(),
    };
    let unknown = [Wanted {
        r#type: own,
        status: "Unknown",
        reason: "NotRead",
        message: text.clone(),
    }];
    let generation = ending
        .root
        .pointer("/metadata/generation")
        .and_then(Value::as_i64);
    let merged = conditions::with_outcome(
        &existing(ending.root),
        unknown,
        Some(text.clone()),
        generation,
        ending.now,
    );
    let mut status = serde_json::to_value(empty).unwrap_or_default();
    if let Some(fields) = status.as_object_mut() {
        let known = ending.root.get("status").and_then(Value::as_object);
        fields.extend(known.cloned().unwrap_or_default());
        fields.insert("conditions".to_owned(), json!(merged));
    }
    Report {
        status,
        outcome: Outcome::Terminal {
            reason: "Rejected",
            recheck: None,
        },
        notes: vec![Event {
            warning: true,
            reason: "FailedReconciliation",
            message: text,
        }],
    }
}

/// Path of the field that keeps an object from being read: without it, the rest could be. With several such fields, of
/// what holds them all.
pub fn culprit<T: DeserializeOwned>(root: &Value) -> String {
    let (mut pointer, mut path) = ("/spec".to_owned(), "spec".to_owned());
    while let Some((step, name)) = guilty_member::<T>(root, &pointer) {
        pointer.push_str(&step);
        path.push_str(&name);
    }
    path
}

/// The member of what is at a place without which the object could be read: as a step of a pointer and of a path.
fn guilty_member<T: DeserializeOwned>(root: &Value, pointer: &str) -> Option<(String, String)> {
    let holder = root.pointer(pointer)?;
    let steps: Vec<(String, String)> = match holder {
        Value::Object(members) => members
            .keys()
            .map(|name| {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                (format!("/{escaped}"), format!(".{name}"))
            })
            .collect(),
        Value::Array(items) => (0..items.len())
            .map(|position| (format!("/{position}"), format!("[{position}]")))
            .collect(),
        _ => Vec::new(),
    };
    let is_guilty = |position: usize| {
        let mut rest = root.clone();
        match rest.pointer_mut(pointer) {
            Some(Value::Object(members)) => {
                let name = members.keys().nth(position).cloned();
                name.and_then(|name| members.remove(&name));
            }
            Some(Value::Array(items)) if position < items.len() => {
                items.remove(position);
            }
            _ => {}
        }
        T::deserialize(&rest).is_ok()
    };
    let mut guilty = steps.into_iter().enumerate();
    let found = guilty.find(|(position, _)| is_guilty(*position));
    found.map(|(_, step)| step)
}

/// The conditions that are there and can be read.
fn existing(root: &Value) -> Vec<Condition> {
    let conditions = root.pointer("/status/conditions").and_then(Value::as_array);
    let conditions = conditions.into_iter().flatten();
    conditions
        .filter_map(|condition| Condition::deserialize(condition).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use mainstay_api::clowder::ClowdApp;

    use super::*;

    #[test]
    fn the_wrong_field_is_found_as_deep_as_it_is() {
        let path =
            |spec: Value| culprit::<ClowdApp>(&json!({"metadata": {"name": "shop"}, "spec": spec}));
        assert_eq!(
            path(json!({"deployments": "many", "envName": "stage"})),
            "spec.deployments"
        );
        let deep = json!([{"name": "web"}, {"name": "job", "podSpec": {"args": 7}}]);
        assert_eq!(
            path(json!({"deployments": deep})),
            "spec.deployments[1].podSpec.args"
        );
        assert_eq!(path(json!({"deployments": 1, "jobs": 2})), "spec");
        assert_eq!(path(json!("text")), "spec");
    }
}
