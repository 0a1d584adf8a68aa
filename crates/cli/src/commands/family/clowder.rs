//! Health of apps, environments and invocations, from the three conditions that their operator keeps.

use mainstay_clowder::conditions::{DEPLOYMENTS_READY, FAILED, JOBS_COMPLETE};
use mainstay_engine::health::{Health, State};
use serde_json::Value;

/// Health of an app, environment or invocation.
pub(super) fn health(root: &Value) -> Health {
    let health = |state, message: &str| Health {
        state,
        message: message.to_owned(),
    };
    if root.pointer("/metadata/deletionTimestamp").is_some() {
        return health(State::Terminating, "");
    }
    let Some(failed) = condition(root, FAILED) else {
        return health(State::InProgress, "no operator has looked at it yet");
    };
    let text = |condition: &Value, field: &str| {
        let value = condition.get(field).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    if text(failed, "status") == "True" {
        return health(State::Failed, &text(failed, "message"));
    }
    if let Some(complete) = condition(root, JOBS_COMPLETE) {
        return match text(complete, "status").as_str() {
            "True" => health(State::Current, ""),
            _ => health(State::InProgress, &text(complete, "message")),
        };
    }
    let number = |pointer: &str| root.pointer(pointer).and_then(Value::as_i64);
    if number("/status/generation") != number("/metadata/generation") {
        return health(
            State::InProgress,
            "its last change has not been worked on yet",
        );
    }
    if root.pointer("/status/ready") == Some(&Value::Bool(true)) {
        return health(State::Current, "");
    }
    let message = condition(root, DEPLOYMENTS_READY).map(|ready| text(ready, "message"));
    health(State::InProgress, &message.unwrap_or_default())
}

fn condition<'root>(root: &'root Value, wanted: &str) -> Option<&'root Value> {
    let conditions = root.pointer("/status/conditions")?.as_array()?;
    conditions
        .iter()
        .find(|condition| condition.get("type").and_then(Value::as_str) == Some(wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn root(generation: i64, ready: bool, failure: Option<&str>) -> Value {
        let status = |truth: bool| if truth { "True" } else { "False" };
        json!({
            "metadata": {"generation": 2},
            "status": {"generation": generation, "ready": ready, "conditions": [
                {"type": "DeploymentsReady", "status": status(ready), "message": "two of three"},
                {"type": "ReconciliationFailed", "status": status(failure.is_some()), "message": failure.unwrap_or_default()},
            ]},
        })
    }

    #[test]
    fn a_failure_counts_more_than_readiness() {
        let judge = |root: Value| {
            let health = health(&root);
            (health.state, health.message)
        };
        assert_eq!(judge(root(2, true, None)), (State::Current, String::new()));
        assert_eq!(
            judge(root(2, false, None)),
            (State::InProgress, "two of three".to_owned())
        );
        assert_eq!(judge(root(1, true, None)).0, State::InProgress);
        assert_eq!(
            judge(root(2, true, Some("no"))),
            (State::Failed, "no".to_owned())
        );
        assert_eq!(judge(json!({"metadata": {}})).0, State::InProgress);
    }

    #[test]
    fn an_invocation_is_done_when_its_jobs_are() {
        let invocation = |status: &str| {
            json!({"metadata": {"generation": 1}, "status": {"conditions": [
                {"type": "JobInvocationComplete", "status": status, "message": "some run"},
                {"type": "ReconciliationFailed", "status": "False", "message": ""},
            ]}})
        };
        assert_eq!(health(&invocation("True")).state, State::Current);
        let running = health(&invocation("False"));
        assert_eq!(running.state, State::InProgress);
        assert_eq!(running.message, "some run");
    }
}
