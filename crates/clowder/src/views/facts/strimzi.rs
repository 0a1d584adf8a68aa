//! What is kept of objects that Strimzi and Cyndi report on.

use serde_json::{Map, Value, json};

/// Whether the operator says that an object is ready, as it is now.
pub(super) fn readiness(object: &Value) -> Map<String, Value> {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let observed = number("/status/observedGeneration");
    let is_current = observed.is_none_or(|seen| Some(seen) >= number("/metadata/generation"));
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let is_ready =
        |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    let ready = is_current && conditions.is_some_and(|all| all.iter().any(is_ready));
    Map::from_iter([("ready".to_owned(), json!(ready))])
}

/// The same of a cluster, and how to reach it: the first address of each listener.
pub(super) fn cluster(object: &Value) -> Map<String, Value> {
    let mut facts = readiness(object);
    let listeners = object
        .pointer("/status/listeners")
        .and_then(Value::as_array);
    if let Some(listeners) = listeners.filter(|listeners| !listeners.is_empty()) {
        let reduced = listeners.iter().map(|listener| {
            let address = |field: &str| listener.pointer(&format!("/addresses/0/{field}"));
            json!({"name": listener["name"], "host": address("host"), "port": address("port")})
        });
        facts.insert("listeners".to_owned(), reduced.collect());
    }
    facts
}

/// Under which name a user logs in, and where the password is.
pub(super) fn user(object: &Value) -> Map<String, Value> {
    texts(object, &["username", "secret"])
}

/// What a pipeline has brought.
pub(super) fn pipeline(object: &Value) -> Map<String, Value> {
    texts(object, &["activeTableName"])
}

fn texts(object: &Value, fields: &[&str]) -> Map<String, Value> {
    let status = object.get("status");
    let texts = fields.iter().filter_map(|&field| {
        let value = status?.get(field).filter(|value| value.is_string())?;
        Some((field.to_owned(), value.clone()))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(generation: i64, status: Value) -> Value {
        let mut object = json!({"metadata": {"generation": generation}});
        object["status"] = status;
        readiness(&object)["ready"].clone()
    }

    #[test]
    fn an_object_is_ready_if_its_operator_says_so_of_its_current_generation() {
        let good =
            json!([{"type": "Warning", "status": "True"}, {"type": "Ready", "status": "True"}]);
        assert_eq!(
            ready(2, json!({"observedGeneration": 2, "conditions": good})),
            true
        );
        assert_eq!(ready(2, json!({"conditions": good})), true);
        assert_eq!(
            ready(3, json!({"observedGeneration": 2, "conditions": good})),
            false
        );
        let bad = json!([{"type": "Ready", "status": "False"}]);
        assert_eq!(
            ready(2, json!({"observedGeneration": 2, "conditions": bad})),
            false
        );
        assert_eq!(ready(2, Value::Null), false);
    }

    #[test]
    fn of_a_cluster_the_first_address_of_each_listener_is_kept() {
        let listeners = json!([
            {"name": "tls", "addresses": [{"host": "a", "port": 9093}, {"host": "b", "port": 1}]},
            {"name": "ext"},
        ]);
        let facts = cluster(&json!({"status": {"listeners": listeners}}));
        let expected = json!([
            {"name": "tls", "host": "a", "port": 9093}, {"name": "ext", "host": null, "port": null},
        ]);
        assert_eq!(facts["listeners"], expected);
        for status in [json!({}), json!({"listeners": []})] {
            assert!(!cluster(&json!({"status": status})).contains_key("listeners"));
        }
    }

    #[test]
    fn of_users_and_pipelines_the_few_texts_that_count_are_kept() {
        let status = json!({"username": "u", "secret": "s", "activeTableName": 5, "more": "x"});
        assert_eq!(
            json!(user(&json!({"status": status}))),
            json!({"username": "u", "secret": "s"})
        );
        assert!(pipeline(&json!({"status": status})).is_empty());
        assert!(user(&json!({})).is_empty());
    }
}
