use serde_json::json;

use super::*;

const MANAGER: &str = "kaoto-operator";

/// A live object whose field set for our manager is `fields`.
fn live(fields: &Value, mut object: Value) -> Value {
    object["metadata"]["managedFields"] = json!([
        {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
        {"manager": MANAGER, "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}},
        {"manager": MANAGER, "operation": "Apply", "fieldsV1": fields},
    ]);
    object
}

/// What the object's `managedFields` give for our manager.
fn owned_of(object: &Value, manager: &str) -> Owned {
    let entries = object["metadata"]["managedFields"].as_array();
    let ours = entries
        .into_iter()
        .flatten()
        .find(|entry| entry["manager"] == manager && entry["operation"] == "Apply");
    ours.map(|entry| Owned::from_field_set(&entry["fieldsV1"], object))
        .unwrap_or_default()
}

fn changes(owned: &Owned, desired: &Value) -> Vec<String> {
    owned
        .differences(desired)
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn service() -> Value {
    live(
        &json!({
            "f:metadata": {"f:labels": {"f:app": {}}, "f:ownerReferences": {"k:{\"uid\":\"u1\"}": {}}},
            "f:spec": {
                "f:ports": {"k:{\"port\":8080,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}, "f:targetPort": {}}},
                "f:selector": {},
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "a", "namespace": "n", "labels": {"app": "x", "foreign": "y"}, "ownerReferences": [{"uid": "u1", "name": "o"}]},
            "spec": {
                "clusterIP": "10.0.0.7",
                "ports": [{"port": 80, "protocol": "TCP"}, {"name": "http", "port": 8080, "protocol": "TCP", "targetPort": "http"}],
                "selector": {"app": "x"},
            },
        }),
    )
}

fn wanted_service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "a", "namespace": "n", "labels": {"app": "x"}, "ownerReferences": [{"uid": "u1", "name": "o"}]},
        "spec": {"ports": [{"name": "http", "port": 8080, "targetPort": "http"}], "selector": {"app": "x"}},
    })
}

#[test]
fn what_we_applied_last_needs_no_request() {
    let owned = owned_of(&service(), MANAGER);
    assert_eq!(changes(&owned, &wanted_service()), [""; 0]);
}

#[test]
fn fields_of_others_are_neither_seen_nor_reverted() {
    let mut object = service();
    object["spec"]["type"] = json!("NodePort");
    object["metadata"]["labels"]["foreign"] = json!("changed");
    assert_eq!(
        changes(&owned_of(&object, MANAGER), &wanted_service()),
        [""; 0]
    );
}

#[test]
fn sees_added_changed_and_removed_fields() {
    let owned = owned_of(&service(), MANAGER);
    let mut desired = wanted_service();
    desired["spec"]["ports"][0]["targetPort"] = json!(9000);
    desired["spec"]["sessionAffinity"] = json!("None");
    desired["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("labels");
    assert_eq!(
        changes(&owned, &desired),
        [
            r#"metadata.labels: - {"app":"x"}"#,
            r#"spec.ports[port=8080,protocol=TCP].targetPort: "http" -> 9000"#,
            r#"spec.sessionAffinity: + "None""#,
        ]
    );
}

#[test]
fn a_field_that_somebody_took_over_is_drift() {
    let mut object = service();
    let fields = &mut object["metadata"]["managedFields"][2]["fieldsV1"]["f:spec"];
    fields.as_object_mut().unwrap().remove("f:selector");
    object["spec"]["selector"] = json!({"app": "stolen"});
    assert_eq!(
        changes(&owned_of(&object, MANAGER), &wanted_service()),
        [r#"spec.selector: + {"app":"x"}"#]
    );
}

#[test]
fn sees_an_item_that_is_gone_and_one_that_is_new() {
    let owned = owned_of(&service(), MANAGER);
    let mut desired = wanted_service();
    desired["spec"]["ports"] = json!([{"name": "web", "port": 9090}]);
    assert_eq!(
        changes(&owned, &desired),
        [
            r#"spec.ports[]: + {"name":"web","port":9090}"#,
            r#"spec.ports[port=8080,protocol=TCP]: - {"name":"http","port":8080,"targetPort":"http"}"#,
        ]
    );
}

#[test]
fn an_object_that_we_never_applied_differs_in_everything() {
    let owned = owned_of(
        &json!({"metadata": {"name": "a"}, "spec": {"x": 1}}),
        MANAGER,
    );
    assert_eq!(
        changes(
            &owned,
            &json!({"metadata": {"name": "a"}, "spec": {"x": 1}})
        ),
        [r#"spec: + {"x":1}"#]
    );
}

#[test]
fn a_default_inside_an_atomic_field_is_no_difference_but_a_leftover_is() {
    let object = live(
        &json!({"f:env": {"k:{\"name\":\"N\"}": {".": {}, "f:name": {}, "f:valueFrom": {"f:fieldRef": {}}}}, "f:rules": {}}),
        json!({
            "metadata": {},
            "env": [{"name": "N", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
            "rules": [{"host": "old", "http": {}}],
        }),
    );
    let owned = owned_of(&object, MANAGER);
    let env = json!([{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]);
    assert_eq!(
        changes(
            &owned,
            &json!({"env": env, "rules": [{"host": "old", "http": {}}]})
        ),
        [""; 0]
    );
    assert_eq!(
        changes(&owned, &json!({"env": env, "rules": [{"http": {}}]})),
        [r#"rules: [{"host":"old","http":{}}] -> [{"http":{}}]"#]
    );
}

#[test]
fn quantities_are_compared_by_value() {
    let object = live(
        &json!({"f:requests": {"f:cpu": {}, "f:memory": {}}, "f:label": {}}),
        json!({"metadata": {}, "requests": {"cpu": "1", "memory": "1Gi"}, "label": "1"}),
    );
    let owned = owned_of(&object, MANAGER);
    assert_eq!(
        changes(
            &owned,
            &json!({"requests": {"cpu": "1000m", "memory": "1024Mi"}, "label": "1"})
        ),
        [""; 0]
    );
    assert_eq!(
        changes(
            &owned,
            &json!({"requests": {"cpu": 1, "memory": "2Gi"}, "label": "1000m"})
        ),
        [
            r#"label: "1" -> "1000m""#,
            r#"requests.memory: "1Gi" -> "2Gi""#
        ]
    );
}

#[test]
fn a_changed_order_of_items_is_a_difference() {
    let item = json!({".": {}, "f:name": {}, "f:value": {}});
    let object = live(
        &json!({"f:env": {"k:{\"name\":\"A\"}": item, "k:{\"name\":\"B\"}": item}}),
        json!({"metadata": {}, "env": [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "1"}]}),
    );
    let owned = owned_of(&object, MANAGER);
    let (a, b) = (
        json!({"name": "A", "value": "1"}),
        json!({"name": "B", "value": "$(A)"}),
    );
    assert_eq!(changes(&owned, &json!({"env": [b, a]})), [""; 0]);
    assert_eq!(changes(&owned, &json!({"env": [a, b]})), ["env[order]"]);
}

#[test]
fn finalizer_sets_compare_without_order() {
    let object = live(
        &json!({"f:finalizers": {".": {}, "v:\"a\"": {}, "v:\"b\"": {}}}),
        json!({"metadata": {}, "finalizers": ["b", "a", "c"]}),
    );
    let owned = owned_of(&object, MANAGER);
    assert_eq!(changes(&owned, &json!({"finalizers": ["b", "a"]})), [""; 0]);
    assert_eq!(changes(&owned, &json!({"finalizers": ["a"]})).len(), 1);
}

#[test]
fn survives_the_way_through_the_cache() {
    let owned = owned_of(&service(), MANAGER);
    let text = serde_json::to_string(&owned).unwrap();
    assert_eq!(serde_json::from_str::<Owned>(&text).unwrap(), owned);
}

proptest::proptest! {
    /// Hostile field sets and objects give some answer, never a panic.
    #[test]
    fn no_field_set_makes_it_panic(fields in any_json(), object in any_json(), desired in any_json()) {
        let mut object = json!({"metadata": {}, "spec": object});
        object["metadata"]["managedFields"] = json!([{"manager": MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": fields}}]);
        let _ = owned_of(&object, MANAGER).differences(&json!({"spec": desired}));
    }
}

fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        any::<i64>().prop_map(|number| json!(number)),
        "[a-z]{0,3}".prop_map(|text| json!(text))
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            "f:[a-c]",
            Just(".".to_owned()),
            Just("k:{\"a\":1}".to_owned()),
            "v:[0-9]",
            "k:.{0,4}",
            "[a-c]"
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| json!(items)),
            proptest::collection::btree_map(name, inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

#[test]
fn items_that_somebody_else_added_to_our_lists_are_found_last_ones_first() {
    let fields = json!({"f:spec": {
        "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:env": {"k:{\"name\":\"X\"}": {"f:name": {}}}}},
        "f:tolerations": {},
    }});
    let object = json!({"metadata": {"finalizers": ["x"]}, "spec": {
        "containers": [{"name": "a", "env": [{"name": "Y"}, {"name": "X"}]}, {"name": "b"}],
        "tolerations": [{"key": "k"}],
        "volumes": [{"name": "not a list of ours"}],
    }});
    assert_eq!(
        foreign_items(&fields, &object),
        ["/spec/containers/1", "/spec/containers/0/env/0"]
    );
    assert!(foreign_items(&json!({}), &object).is_empty());
}

#[test]
fn what_was_set_once_is_kept_where_it_sticks_and_what_is_wanted_wins() {
    let fields = json!({
        "f:metadata": {"f:annotations": {"f:old": {}, "f:both": {}}},
        "f:spec": {"f:suspend": {}, "f:schedule": {}},
    });
    let object = json!({"metadata": {"annotations": {"old": "1", "both": "1", "theirs": "1"}}, "spec": {"suspend": true, "schedule": "x"}});
    let owned = Owned::from_field_set(&fields, &object);
    let mut desired =
        json!({"metadata": {"annotations": {"both": "2"}}, "spec": {"schedule": "y"}});
    owned.keep(
        &mut desired,
        &[
            "/metadata/annotations",
            "/spec/suspend",
            "/spec/absent",
            "/status/x",
        ],
    );
    assert_eq!(
        desired,
        json!({"metadata": {"annotations": {"both": "2", "old": "1"}}, "spec": {"schedule": "y", "suspend": true}})
    );
}

#[test]
fn lists_of_twenty_thousand_items_are_compared_item_by_item() {
    let name = |number: usize| format!("VARIABLE_{number}");
    let env: Vec<Value> = (0..20_000)
        .map(|number| json!({"name": name(number), "value": "x"}))
        .collect();
    let fields: Map<String, Value> = (0..20_000)
        .map(|number| {
            let key = format!("k:{}", json!({"name": name(number)}));
            (key, json!({".": {}, "f:name": {}, "f:value": {}}))
        })
        .collect();
    let fields = json!({"f:spec": {"f:env": fields}});
    let mut object = json!({"spec": {"env": env}});
    let owned = Owned::from_field_set(&fields, &object);
    assert_eq!(changes(&owned, &object), [""; 0]);
    let mut wanted = object.clone();
    wanted["spec"]["env"][19_999]["value"] = json!("y");
    assert_eq!(
        changes(&owned, &wanted),
        [r#"spec.env[name=VARIABLE_19999].value: "x" -> "y""#]
    );
    object["spec"]["env"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "FOREIGN"}));
    assert_eq!(foreign_items(&fields, &object), ["/spec/env/20000"]);
}
