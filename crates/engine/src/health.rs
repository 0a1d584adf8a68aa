//! Health of any object, by the rules of kstatus: what its own status says, in one word and one sentence.

use serde_json::Value;

/// One word about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is what it should be.
    Current,
    /// It is on its way.
    InProgress,
    /// It is being deleted.
    Terminating,
    /// It will not get there by itself.
    Failed,
}

impl State {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Current => "ready",
            Self::InProgress => "in progress",
            Self::Terminating => "terminating",
            Self::Failed => "failed",
        }
    }
}

/// Health of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// One word.
    pub state: State,
    /// One sentence; empty if there is nothing to add.
    pub message: String,
}

fn health(state: State, message: impl Into<String>) -> Health {
    Health {
        state,
        message: message.into(),
    }
}

/// Judges an object by its kind and status.
pub fn assess(object: &Value) -> Health {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return health(State::Terminating, "deletion was requested");
    }
    if let (Some(generation), Some(observed)) = (
        number(object, "/metadata/generation"),
        number(object, "/status/observedGeneration"),
    ) && observed < generation
    {
        return health(
            State::InProgress,
            format!("generation {generation} was not seen yet, the status is of {observed}"),
        );
    }
    match object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
    {
        "Deployment" => deployment(object),
        "ReplicaSet" => replica_set(object),
        "Pod" => pod(object),
        "Job" => job(object),
        "PersistentVolumeClaim" => match text(object, "/status/phase") {
            "Bound" => health(State::Current, ""),
            phase => health(State::InProgress, format!("is {}", or_unknown(phase))),
        },
        _ => by_conditions(object),
    }
}

fn deployment(object: &Value) -> Health {
    if let Some(condition) = condition(object, "Progressing")
        && text(condition, "/reason") == "ProgressDeadlineExceeded"
    {
        return health(State::Failed, text(condition, "/message"));
    }
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let updated = number(object, "/status/updatedReplicas").unwrap_or(0);
    let available = number(object, "/status/availableReplicas").unwrap_or(0);
    let total = number(object, "/status/replicas").unwrap_or(0);
    if updated < wanted {
        return health(
            State::InProgress,
            format!("{updated} of {wanted} replicas are up to date"),
        );
    }
    if available < wanted {
        return health(
            State::InProgress,
            format!("{available} of {wanted} replicas are available"),
        );
    }
    if total > updated {
        return health(
            State::InProgress,
            format!("{} old replicas are still running", total - updated),
        );
    }
    health(State::Current, format!("{available} of {wanted} available"))
}

fn replica_set(object: &Value) -> Health {
    let wanted = number(object, "/spec/replicas").unwrap_or(1);
    let ready = number(object, "/status/readyReplicas").unwrap_or(0);
    if let Some(condition) = condition(object, "ReplicaFailure")
        && text(condition, "/status") == "True"
    {
        return health(State::Failed, text(condition, "/message"));
    }
    let state = if ready < wanted {
        State::InProgress
    } else {
        State::Current
    };
    health(state, format!("{ready} of {wanted} ready"))
}

/// Waiting reasons that do not end by themselves.
const HOPELESS: &[&str] = &[
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
];

fn pod(object: &Value) -> Health {
    let containers = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let statuses = containers
        .iter()
        .filter_map(|pointer| object.pointer(pointer))
        .filter_map(Value::as_array)
        .flatten();
    for status in statuses {
        let reason = text(status, "/state/waiting/reason");
        if !reason.is_empty() {
            let state = if HOPELESS.contains(&reason) {
                State::Failed
            } else {
                State::InProgress
            };
            let message = text(status, "/state/waiting/message");
            return health(
                state,
                format!(
                    "container {} waits: {reason} {message}",
                    text(status, "/name")
                )
                .trim_end(),
            );
        }
    }
    match text(object, "/status/phase") {
        "Succeeded" => health(State::Current, "completed"),
        "Failed" => health(State::Failed, text(object, "/status/message")),
        "Running" => match condition(object, "Ready") {
            Some(ready) if text(ready, "/status") != "True" => {
                health(State::InProgress, or_unknown(text(ready, "/message")))
            }
            _ => health(State::Current, ""),
        },
        phase => {
            let scheduled = condition(object, "PodScheduled")
                .map(|condition| text(condition, "/message"))
                .unwrap_or_default();
            let message = if scheduled.is_empty() {
                format!("is {}", or_unknown(phase))
            } else {
                scheduled.to_owned()
            };
            health(State::InProgress, message)
        }
    }
}

fn job(object: &Value) -> Health {
    let is_true = |kind: &str| {
        condition(object, kind).filter(|condition| text(condition, "/status") == "True")
    };
    if let Some(failed) = is_true("Failed") {
        return health(State::Failed, text(failed, "/message"));
    }
    match is_true("Complete") {
        Some(_) => health(State::Current, "completed"),
        None => health(State::InProgress, "is running"),
    }
}

/// Conditions that sum an object up, most telling first, and the status that is good.
const SUMMARIES: &[&str] = &[
    "Ready",
    "Available",
    "Reconcile",
    "ReconciliationSuccessful",
];

fn by_conditions(object: &Value) -> Health {
    for summary in SUMMARIES {
        if let Some(condition) = condition(object, summary) {
            return match text(condition, "/status") {
                "True" => health(State::Current, ""),
                "False" => health(State::Failed, text(condition, "/message")),
                _ => health(State::InProgress, text(condition, "/message")),
            };
        }
    }
    health(State::Current, "")
}

/// The condition of a type.
pub fn condition<'object>(object: &'object Value, r#type: &str) -> Option<&'object Value> {
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array)?;
    conditions
        .iter()
        .find(|condition| text(condition, "/type") == r#type)
}

fn text<'value>(value: &'value Value, pointer: &str) -> &'value str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(object: &Value) -> (State, String) {
        let health = assess(object);
        (health.state, health.message)
    }

    #[test]
    fn a_deployment_is_ready_when_all_replicas_are_new_and_available() {
        let deployment = |status: Value| json!({"kind": "Deployment", "metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": status});
        let full = json!({"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
        assert_eq!(state(&deployment(full)).0, State::Current);
        let stale = json!({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
        assert_eq!(
            state(&deployment(stale)),
            (
                State::InProgress,
                "generation 2 was not seen yet, the status is of 1".to_owned()
            )
        );
        let half = json!({"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 1});
        assert_eq!(
            state(&deployment(half)),
            (
                State::InProgress,
                "1 of 2 replicas are available".to_owned()
            )
        );
        let stuck = json!({"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded", "message": "timed out"}]});
        assert_eq!(
            state(&deployment(stuck)),
            (State::Failed, "timed out".to_owned())
        );
    }

    #[test]
    fn a_pod_says_what_its_container_waits_for() {
        let pod = json!({"kind": "Pod", "status": {"phase": "Pending", "containerStatuses": [
            {"name": "web", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}]}});
        assert_eq!(
            state(&pod),
            (
                State::Failed,
                "container web waits: ImagePullBackOff not found".to_owned()
            )
        );
        let unscheduled = json!({"kind": "Pod", "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "no node fits"}]}});
        assert_eq!(
            state(&unscheduled),
            (State::InProgress, "no node fits".to_owned())
        );
    }

    #[test]
    fn a_custom_resource_is_judged_by_the_condition_that_sums_it_up() {
        let failed = json!({"kind": "Kaoto", "status": {"conditions": [
            {"type": "Ingress", "status": "False", "message": "NotRequires"},
            {"type": "Reconcile", "status": "False", "message": "Service a/b: refused"}]}});
        assert_eq!(
            state(&failed),
            (State::Failed, "Service a/b: refused".to_owned())
        );
        assert_eq!(state(&json!({"kind": "ConfigMap"})).0, State::Current);
        assert_eq!(
            state(&json!({"kind": "ConfigMap", "metadata": {"deletionTimestamp": "x"}})).0,
            State::Terminating
        );
    }
}
