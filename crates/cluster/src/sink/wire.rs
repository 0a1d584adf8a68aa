//! What goes over the wire and comes back: guarded bodies, patches, and what an error means.

use std::time::Duration;

use kube::core::{Status, response::StatusCause};
use mainstay_engine::{commit::Answer, plan::Fixup};
use serde_json::{Value, json};

use crate::error::causes;

/// A server that asks for more is not waited for inside one commit.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(30);

/// The body with metadata fields that the API server checks and does not store as ours.
pub(super) fn guarded(body: &Value, guards: &[(&str, &str)]) -> Value {
    let mut body = body.clone();
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.extend(
            guards
                .iter()
                .map(|&(field, value)| (field.to_owned(), Value::from(value))),
        );
    }
    body
}

/// A JSON patch that puts something right on an object. Identity and version are set to what they are, so that the API server
/// refuses with a conflict if they no longer are.
pub(super) fn fixup_patch(uid: &str, resource_version: &str, fixup: &Fixup) -> Value {
    let guards = [
        json!({"op": "replace", "path": "/metadata/uid", "value": uid}),
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version}),
    ];
    let operations = match fixup {
        Fixup::RemoveForeignItems(pointers) => {
            let removals = pointers.iter();
            removals
                .map(|path| json!({"op": "remove", "path": path}))
                .collect()
        }
        Fixup::MigrateManager(managed_fields) => {
            vec![
                json!({"op": "replace", "path": "/metadata/managedFields", "value": managed_fields}),
            ]
        }
    };
    guards.into_iter().chain(operations).collect()
}

/// What an API error means to the commit.
pub(super) fn failure(error: &kube::Error) -> Answer {
    let kube::Error::Api(status) = error else {
        return Answer::Transient {
            message: causes(error).join(": "),
        };
    };
    let message = status.message.clone();
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes: Vec<_> = causes.collect();
    if status.is_conflict()
        || status.is_already_exists()
        || causes.iter().any(|cause| cause.field == "metadata.uid")
    {
        Answer::Conflict
    } else if status.is_not_found() {
        Answer::NotFound
    } else if status.code == 404 {
        // A path that no kind has is answered in plain text, without a reason.
        Answer::NotServed
    } else if status.is_invalid() && causes.iter().any(|cause| is_immutable(cause)) {
        Answer::Immutable { message }
    } else if let Some(after) = asked_pause(status) {
        Answer::Later { message, after }
    } else if status.code == 500 {
        Answer::ServerError { message }
    } else if status.code > 500 || matches!(status.code, 401 | 408 | 429) {
        Answer::Transient { message }
    } else {
        Answer::Refused { message }
    }
}

/// What the API server says of fields that cannot be changed; there is nothing but the text to tell it by. Most kinds use the
/// first; `StatefulSets`, bindings, priority classes and storage classes have words of their own.
const IMMUTABLE: [&str; 7] = [
    "field is immutable",
    "updates to statefulset spec for fields other than",
    "cannot change roleRef",
    "may not be changed in an update",
    "updates to parameters are forbidden",
    "updates to provisioner are forbidden",
    "updates to reclaimPolicy are forbidden",
];

/// Whether a field must change that cannot be changed.
fn is_immutable(cause: &StatusCause) -> bool {
    let mut words = IMMUTABLE.iter();
    words.any(|words| cause.message.contains(words))
}

/// How long the API server asks to wait, which is believed up to a limit.
fn asked_pause(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    let asks = seconds > 0 && matches!(status.code, 429 | 500 | 503 | 504);
    asks.then(|| Duration::from_secs(seconds.into()).min(LONGEST_ASKED_PAUSE))
}

/// JSON merge patch from one object to another: changed fields with their new values, removed ones as null.
pub(super) fn merge_patch(from: Option<&Value>, to: &Value) -> Value {
    let (Some(Value::Object(from)), Value::Object(to)) = (from, to) else {
        return to.clone();
    };
    let removed = from
        .keys()
        .filter(|name| !to.contains_key(*name))
        .map(|name| (name.clone(), Value::Null));
    let changed = to
        .iter()
        .filter(|(name, value)| from.get(*name) != Some(*value));
    let changed = changed.map(|(name, value)| (name.clone(), merge_patch(from.get(name), value)));
    removed.chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_patch_holds_only_what_differs() {
        let from = json!({"phase": "Ready", "endpoint": "http://a/", "conditions": [1], "deployments": {"ready": 1, "managed": 2}});
        let to =
            json!({"phase": "Error", "conditions": [1], "deployments": {"ready": 2, "managed": 2}});
        assert_eq!(
            merge_patch(Some(&from), &to),
            json!({"phase": "Error", "endpoint": null, "deployments": {"ready": 2}})
        );
        assert_eq!(merge_patch(None, &to), to);
    }

    #[test]
    fn a_guard_is_added_without_touching_the_rest() {
        let body = json!({"kind": "Service", "metadata": {"name": "a"}, "spec": {}});
        let guarded = guarded(&body, &[("uid", "u")]);
        assert_eq!(
            guarded,
            json!({"kind": "Service", "metadata": {"name": "a", "uid": "u"}, "spec": {}})
        );
    }

    #[test]
    fn fields_that_cannot_be_changed_are_told_by_the_words_of_the_api_server() {
        let cause = |message: &str| StatusCause {
            reason: "FieldValueInvalid".to_owned(),
            message: message.to_owned(),
            field: "spec".to_owned(),
        };
        for message in [
            "Invalid value: {}: field is immutable",
            "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
            "Invalid value: {}: cannot change roleRef",
            "Forbidden: may not be changed in an update.",
            "Forbidden: updates to parameters are forbidden.",
        ] {
            assert!(is_immutable(&cause(message)), "{message}");
        }
        assert!(!is_immutable(&cause("Required value: name is required")));
    }
}
