use serde_json::json;

use super::*;

/// A definition as an API server publishes it: written out in one piece, with a reference for the metadata only.
fn scaler() -> Value {
    json!({
        "io.k8s.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}},
        "io.k8s.RawExtension": {"type": "object"},
        "sh.keda.v1alpha1.ScaledObject": {"type": "object", "properties": {
            "metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.ObjectMeta"}]},
            "spec": {"type": "object", "properties": {
                "maxReplicaCount": {"type": "integer"},
                "bare": {"type": "object"},
                "named": {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.RawExtension"}]},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "half": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                    "inner": {"type": "object", "properties": {"a": {"type": "string"}}},
                }},
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "template": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
                "triggers": {"type": "array", "items": {"type": "object", "properties": {
                    "type": {"type": "string"},
                    "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
                    "auth": {"type": "object", "additionalProperties": {"type": "object", "properties": {"name": {"type": "string"}}}},
                }}},
            }},
        }},
    })
}

/// What is left of a body, and what was left out.
fn checked(body: &Value) -> (Value, Vec<String>) {
    let document = scaler();
    let schemas = Schemas::new(
        document.as_object().unwrap(),
        Some("sh.keda.v1alpha1.ScaledObject"),
    );
    let mut definition = Definition::new("1".to_owned());
    assert!(!definition.covers(body), "before it was looked up");
    definition.look_up(body, &schemas);
    assert!(definition.covers(body), "after it was looked up");
    let mut left = body.clone();
    let left_out = definition.leave_out(&mut left);
    assert_eq!(definition.leave_out(&mut left), [""; 0], "nothing twice");
    (left, left_out)
}

#[test]
fn exactly_what_is_not_declared_is_left_out_and_named_once() {
    let body = json!({
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "a", "anything": 1},
        "spec": {
            "maxReplicaCount": 3,
            "advanced": {"deep": [1]},
            "triggers": [
                {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "50"}},
                {"type": "memory", "metricType": "Utilization", "auth": {"x": {"name": "n", "kind": "k"}}},
            ],
        },
    });
    let (left, left_out) = checked(&body);
    assert_eq!(
        left_out,
        [
            "spec.advanced",
            "spec.triggers[].auth.x.kind",
            "spec.triggers[].metricType"
        ]
    );
    assert_eq!(
        left["spec"],
        json!({"maxReplicaCount": 3, "triggers": [
            {"type": "cpu", "metadata": {"value": "50"}}, {"type": "memory", "auth": {"x": {"name": "n"}}},
        ]})
    );
    assert_eq!(left["metadata"], body["metadata"]);
}

#[test]
fn what_keeps_unknown_names_keeps_them_and_declared_names_keep_their_rules() {
    let body = json!({"spec": {
        "bare": {"pruned": 1},
        "named": {"kept": {"deep": 1}},
        "free": {"kept": {"deep": [1]}},
        "half": {"kept": {"deep": 1}, "inner": {"a": "x", "b": "y"}},
        "port": "http",
        "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}, "other": 1},
    }});
    let (left, left_out) = checked(&body);
    assert_eq!(
        left_out,
        [
            "spec.bare.pruned",
            "spec.half.inner.b",
            "spec.template.other"
        ]
    );
    assert_eq!(left["spec"]["free"], body["spec"]["free"]);
    assert_eq!(left["spec"]["named"], body["spec"]["named"]);
    assert_eq!(left["spec"]["half"]["kept"], body["spec"]["half"]["kept"]);
}

#[test]
fn names_that_users_choose_are_looked_up_once() {
    let document = scaler();
    let schemas = Schemas::new(
        document.as_object().unwrap(),
        Some("sh.keda.v1alpha1.ScaledObject"),
    );
    let body = |name: &str| json!({"spec": {"triggers": [{"metadata": {name: "x"}}]}});
    let mut definition = Definition::new("1".to_owned());
    definition.look_up(&body("first"), &schemas);
    assert!(definition.covers(&body("second")));
    assert!(!definition.covers(&json!({"spec": {"maxReplicaCount": 1}})));
}

#[test]
fn without_a_published_schema_everything_counts_as_declared() {
    let body = json!({"spec": {"anything": 1}});
    let nothing = Map::new();
    let mut definition = Definition::new("1".to_owned());
    definition.look_up(&body, &Schemas::new(&nothing, None));
    assert!(definition.covers(&body) && Definition::unpublished().covers(&body));
    assert_eq!(definition.leave_out(&mut body.clone()), [""; 0]);
}
