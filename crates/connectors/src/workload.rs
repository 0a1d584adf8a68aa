//! What is kept of Deployments and `StatefulSets`: whether they are ready, and what others may have changed.

use mainstay_engine::{Kind, health::condition};
use serde_json::{Value, json};

use crate::kinds::{DEPLOYMENT, STATEFUL_SET};

/// The facts of a workload: `ready`, `detail` for people, `replicas`, `selector`. Null for all other kinds.
pub fn facts(kind: &Kind, object: &Value) -> Value {
    let (is_ready, detail) = if kind.is_like(&DEPLOYMENT) {
        deployment(object)
    } else if kind.is_like(&STATEFUL_SET) {
        stateful_set(object)
    } else {
        return Value::Null;
    };
    json!({
        "ready": is_ready,
        "detail": detail,
        "replicas": object.pointer("/spec/replicas"),
        "selector": object.pointer("/spec/selector"),
    })
}

/// Whether the facts of a workload say that it is ready.
pub fn is_ready(facts: &Value) -> bool {
    facts.get("ready") == Some(&Value::Bool(true))
}

/// Why a workload is not ready.
pub fn detail(facts: &Value) -> &str {
    let detail = facts.get("detail").and_then(Value::as_str);
    detail.unwrap_or("not seen yet")
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// Whether the controller has seen the newest version.
fn is_observed(object: &Value) -> bool {
    number(object, "/status/observedGeneration") >= number(object, "/metadata/generation")
}

fn desired(object: &Value) -> i64 {
    let replicas = object.pointer("/spec/replicas").and_then(Value::as_i64);
    replicas.unwrap_or(1)
}

fn has(object: &Value, r#type: &str, status: &str) -> bool {
    let found = condition(object, r#type).and_then(|found| found.get("status"));
    found.is_some_and(|found| found == status)
}

fn deployment(object: &Value) -> (bool, String) {
    let is_ready = is_observed(object) && has(object, "Available", "True");
    let message = |r#type: &str, status: &str| {
        let found = condition(object, r#type).filter(|_| has(object, r#type, status));
        let message = found.and_then(|found| found.get("message"))?.as_str()?;
        Some(message.to_owned())
    };
    let counts = || {
        let ready = number(object, "/status/readyReplicas");
        format!("{ready}/{} ready", desired(object))
    };
    let detail = message("ReplicaFailure", "True")
        .or_else(|| message("Progressing", "False"))
        .unwrap_or_else(counts);
    (is_ready, detail)
}

fn stateful_set(object: &Value) -> (bool, String) {
    let desired = desired(object);
    let ready = number(object, "/status/readyReplicas");
    let strategy = object.pointer("/spec/updateStrategy/type");
    let rolls = strategy.is_none_or(|strategy| strategy == "RollingUpdate");
    let partition = number(object, "/spec/updateStrategy/rollingUpdate/partition");
    let updated = number(object, "/status/updatedReplicas");
    let is_rolled = !rolls || updated >= desired - partition;
    let is_ready = is_observed(object) && ready == desired && is_rolled;
    (
        is_ready,
        format!("{ready}/{desired} ready, {updated} updated"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(status: &Value) -> Value {
        let object =
            json!({"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": status});
        facts(&DEPLOYMENT, &object)
    }

    #[test]
    fn a_deployment_is_ready_when_its_newest_version_is_available() {
        let available = json!([{"type": "Available", "status": "True"}]);
        let now = deployment(&json!({"observedGeneration": 2, "conditions": available}));
        assert!(is_ready(&now));
        let before = deployment(&json!({"observedGeneration": 1, "conditions": available}));
        assert!(!is_ready(&before));
        assert!(!is_ready(&deployment(&json!({"observedGeneration": 2}))));
        assert_eq!(
            detail(&deployment(&json!({"readyReplicas": 1}))),
            "1/3 ready"
        );
    }

    #[test]
    fn the_detail_says_what_is_in_the_way() {
        let quota =
            json!({"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"});
        let stuck =
            json!({"type": "Progressing", "status": "False", "message": "deadline exceeded"});
        let both = deployment(&json!({"conditions": [stuck, quota]}));
        assert_eq!(detail(&both), "exceeded quota");
        assert_eq!(
            detail(&deployment(&json!({"conditions": [stuck]}))),
            "deadline exceeded"
        );
    }

    #[test]
    fn a_stateful_set_is_ready_when_all_pods_are_and_the_rollout_has_come_to_its_partition() {
        let facts = |spec: Value, updated: i64| {
            let status = json!({"readyReplicas": 3, "updatedReplicas": updated});
            facts(&STATEFUL_SET, &json!({"spec": spec, "status": status}))
        };
        assert!(is_ready(&facts(json!({"replicas": 3}), 3)));
        assert!(!is_ready(&facts(json!({"replicas": 3}), 2)));
        assert!(!is_ready(&facts(json!({"replicas": 4}), 4)));
        let partition =
            json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}});
        assert!(is_ready(&facts(partition, 1)));
        let manual = json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
        assert!(is_ready(&facts(manual, 0)));
    }
}
