//! How apps, environments and invocations are, from the three conditions that their operator keeps, and what they wait for.

use mainstay_clowder::{
    kinds,
    status::conditions::{DEPLOYMENTS_READY, FAILED, JOBS_COMPLETE},
};
use mainstay_engine::{
    health::{Health, State},
    key::ObjectKey,
};
use mainstay_system::{Explain, explain::is_not_true};
use serde_json::Value;

/// All of it.
pub(crate) const EXPLAIN: Explain = Explain {
    health,
    waits_for,
    is_trouble,
    advice,
};

fn text<'root>(root: &'root Value, pointer: &str) -> &'root str {
    let value = root.pointer(pointer).and_then(Value::as_str);
    value.unwrap_or_default()
}

/// An app waits for its environment, an invocation for its app.
fn waits_for(root: &Value, health: &Health) -> Option<ObjectKey> {
    let key = match text(root, "/kind") {
        "ClowdApp" => kinds::environment_key(text(root, "/spec/envName")),
        // One that has started its jobs waits for these alone.
        "ClowdJobInvocation" if health.state == State::Failed => kinds::app_key(
            text(root, "/metadata/namespace"),
            text(root, "/spec/appName"),
        ),
        _ => return None,
    };
    (!key.name.is_empty()).then_some(key)
}

/// Whether a condition speaks of trouble that the health of its object does not tell already.
fn is_trouble(condition: &Value, health: &Health) -> bool {
    let is_bad = if text(condition, "/type") == FAILED {
        text(condition, "/status") == "True"
    } else {
        is_not_true(condition)
    };
    let message = text(condition, "/message");
    is_bad && !message.is_empty() && message != health.message
}

/// What to do about an app that lacks something.
fn advice(root: &Value, health: &Health) -> Option<String> {
    if text(root, "/kind") != "ClowdApp" {
        return None;
    }
    let environment = text(root, "/spec/envName");
    let message = &health.message;
    if message.ends_with(&format!("\"{environment}\" not found")) {
        return Some(format!(
            "create the ClowdEnvironment `{environment}`, or correct spec.envName"
        ));
    }
    let (_, missing) = message.split_once("Missing dependencies: [")?;
    let names: Vec<String> = missing
        .trim_end_matches(']')
        .split("; ")
        .filter_map(|item| item.strip_prefix("source: service, details: "))
        .map(|name| format!("`{name}`"))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "create a ClowdApp {} in the environment `{environment}`, or take the name out of spec.dependencies",
            names.join(" and ")
        )
    })
}

/// Health of an app, environment or invocation.
fn health(root: &Value) -> Health {
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

    #[test]
    fn a_missing_dependency_is_named() {
        let app =
            json!({"kind": "ClowdApp", "metadata": {"name": "cart"}, "spec": {"envName": "shop"}});
        let told = |message: &str| {
            let message = message.to_owned();
            let state = State::Failed;
            advice(&app, &Health { state, message })
        };
        let text = "runapp: dependencies: Missing dependencies: [source: service, details: stock; source: service, details: tax]";
        let advice = told(text).unwrap();
        assert!(
            advice.starts_with("create a ClowdApp `stock` and `tax` in the environment `shop`"),
            "{advice}"
        );
        assert_eq!(told("clowd env not ready"), None);
    }

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
