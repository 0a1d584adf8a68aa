mod laws;
mod tables;

use serde_json::json;

use mainstay_engine::Kind;

use super::*;

fn shape(group: &'static str, kind: &'static str) -> Shape {
    Shape::of(&Kind::new(group, "v1", kind))
}

/// Merges the three of them and checks that a second merge has nothing to do.
fn settled(applied: &Value, wanted: &Value, live: &Value, shape: Shape) -> Value {
    let patch = three_way(Some(applied), wanted, live, shape);
    let merged = patched(live, &patch, shape).unwrap();
    assert_eq!(
        three_way(Some(wanted), wanted, &merged, shape),
        json!({}),
        "patch was {patch}"
    );
    assert!(!merged.to_string().contains("\"$"), "{merged}");
    merged
}

fn pod(spec: &Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

#[test]
fn what_is_no_longer_wanted_goes_and_what_others_wrote_stays() {
    let deployment = shape("apps", "Deployment");
    let applied = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"paused": true}});
    let wanted = json!({"metadata": {"labels": {"a": "9"}}, "spec": {}});
    let live = json!({"metadata": {"labels": {"a": "1", "b": "2", "c": "3"}}, "spec": {"paused": true, "replicas": 5}});
    let merged = settled(&applied, &wanted, &live, deployment);
    assert_eq!(
        merged,
        json!({"metadata": {"labels": {"a": "9", "c": "3"}}, "spec": {"replicas": 5}})
    );
}

#[test]
fn lists_with_keys_are_merged_item_by_item() {
    let deployment = shape("apps", "Deployment");
    let applied = pod(
        &json!({"containers": [{"name": "a", "image": "a:1", "tty": true}, {"name": "b", "image": "b:1"}]}),
    );
    let wanted =
        pod(&json!({"containers": [{"name": "c", "image": "c:1"}, {"name": "a", "image": "a:2"}]}));
    let live = pod(&json!({"containers": [
        {"name": "a", "image": "a:1", "tty": true, "stdin": true}, {"name": "b", "image": "b:1"}, {"name": "injected", "image": "x"},
    ]}));
    let patch = three_way(Some(&applied), &wanted, &live, deployment);
    assert_eq!(
        patch,
        pod(&json!({
            "containers": [
                {"name": "c", "image": "c:1"}, {"name": "a", "image": "a:2", "tty": null}, {"name": "b", "$patch": "delete"},
            ],
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
        }))
    );
    let merged = settled(&applied, &wanted, &live, deployment);
    assert_eq!(
        merged,
        pod(&json!({"containers": [
            {"name": "c", "image": "c:1"}, {"name": "injected", "image": "x"}, {"name": "a", "image": "a:2", "stdin": true},
        ]})),
        "wanted containers are in their order, and the injected one stays where it was"
    );
}

#[test]
fn another_source_of_a_volume_takes_the_old_one_away() {
    let applied = pod(&json!({"volumes": [{"name": "v", "hostPath": {"path": "/a"}}]}));
    let wanted = pod(&json!({"volumes": [{"name": "v", "emptyDir": {}}]}));
    let live = pod(&json!({"volumes": [{"name": "v", "hostPath": {"path": "/a", "type": ""}}]}));
    for before in [&applied, &json!({})] {
        assert_eq!(
            settled(before, &wanted, &live, shape("apps", "Deployment")),
            wanted
        );
    }
    let strategy = |value: Value| json!({"spec": {"strategy": value}});
    let live = strategy(json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}));
    let wanted = strategy(json!({"type": "Recreate"}));
    assert_eq!(
        settled(&json!({}), &wanted, &live, shape("apps", "Deployment")),
        wanted
    );
}

#[test]
fn the_selector_of_a_budget_is_replaced_as_a_whole() {
    let selector = |value: Value| json!({"spec": {"selector": value}});
    let live = selector(json!({"matchLabels": {"a": "1", "b": "2"}}));
    let wanted = selector(json!({"matchLabels": {"a": "1"}}));
    assert_eq!(
        settled(
            &json!({}),
            &wanted,
            &live,
            shape("policy", "PodDisruptionBudget")
        ),
        wanted
    );
}

#[test]
fn finalizers_are_a_set() {
    let meta = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    let (applied, wanted, live) = (meta(&["a", "b"]), meta(&["b", "c"]), meta(&["x", "a", "b"]));
    let patch = three_way(Some(&applied), &wanted, &live, shape("", "ConfigMap"));
    assert_eq!(
        patch,
        json!({"metadata": {"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"]}})
    );
    assert_eq!(
        settled(&applied, &wanted, &live, shape("", "ConfigMap")),
        meta(&["x", "b", "c"])
    );
}

#[test]
fn two_ports_of_one_number_are_not_mixed_up() {
    let ports = |value: Value| json!({"spec": {"ports": value}});
    let dns = json!([{"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 53, "protocol": "TCP", "name": "dns-tcp"}]);
    let service = shape("", "Service");
    let live = ports(json!([{"port": 53, "protocol": "UDP", "name": "dns", "targetPort": 53}]));
    assert_eq!(
        settled(&json!({}), &ports(dns.clone()), &live, service),
        ports(dns.clone())
    );
    let stored = ports(json!([
        {"port": 53, "protocol": "UDP", "name": "dns", "targetPort": 53}, {"port": 53, "protocol": "TCP", "name": "dns-tcp", "targetPort": 53},
    ]));
    assert_eq!(
        three_way(Some(&ports(dns.clone())), &ports(dns), &stored, service),
        json!({}),
        "as it was stored"
    );
    let container = json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53, "protocol": "TCP"}]}]}});
    let patch = json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 53, "name": "tcp"}]}]}});
    let merged = strategic(&container, &patch, Shape::PodTemplate).unwrap();
    assert_eq!(
        merged["spec"]["containers"][0]["ports"][1],
        json!({"containerPort": 53, "protocol": "TCP", "name": "tcp"})
    );
}

#[test]
fn lists_without_keys_are_one_value_and_unknown_types_have_no_others() {
    let items = |value: Value| json!({"spec": {"items": value}});
    let unknown = shape("example.com", "Widget");
    let (applied, wanted) = (items(json!([{"name": "a"}])), items(json!([{"name": "b"}])));
    let live = items(json!([{"name": "a"}, {"name": "x"}]));
    assert_eq!(settled(&applied, &wanted, &live, unknown), wanted);
    assert_eq!(three_way(None, &wanted, &live, unknown), wanted);
}

#[test]
fn what_the_server_stores_in_another_form_is_no_difference() {
    let deployment = shape("apps", "Deployment");
    let same = |wanted: &Value, live: &Value| {
        three_way(Some(wanted), wanted, live, deployment) == json!({})
    };
    let wanted = pod(
        &json!({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1000m", "memory": 1024}}}], "nodeSelector": {}}),
    );
    let live = pod(
        &json!({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1Ki"}}}]}),
    );
    assert!(same(&wanted, &live));
    let variable = pod(
        &json!({"containers": [{"name": "a", "env": [{"name": "A", "value": ""}]}], "hostNetwork": false}),
    );
    let stored = pod(&json!({"containers": [{"name": "a", "env": [{"name": "A"}]}]}));
    assert!(same(&variable, &stored));
    let other = pod(&json!({"containers": [{"name": "a", "env": [{"name": "A", "value": "x"}]}]}));
    assert!(!same(&variable, &other));
    let wanted = pod(&json!({"tolerations": [{"key": "a"}]}));
    assert!(
        same(
            &wanted,
            &pod(&json!({"tolerations": [{"key": "a", "operator": "Equal"}]}))
        ),
        "a default in an item"
    );
    assert!(
        !same(
            &wanted,
            &pod(&json!({"tolerations": [{"key": "b", "operator": "Equal"}]}))
        ),
        "somebody changed it"
    );
    let fewer = three_way(
        Some(&pod(
            &json!({"tolerations": [{"key": "a", "operator": "Exists"}]}),
        )),
        &wanted,
        &pod(&json!({"tolerations": [{"key": "a", "operator": "Exists"}]})),
        deployment,
    );
    assert_eq!(fewer, wanted, "a field of an item is no longer wanted");
}

#[test]
fn directives_of_users_are_followed_and_wrong_ones_named() {
    let before = json!({"metadata": {"finalizers": ["a", "b"]}, "spec": {"volumes": [{"name": "v", "hostPath": {}}], "tolerations": [{"key": "a"}]}});
    let merge = |patch: Value| strategic(&before, &patch, Shape::PodTemplate);
    let merged = merge(json!({
        "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]},
        "spec": {
            "volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}],
            "tolerations": [{"$patch": "replace"}, {"key": "b", "value": null}],
            "affinity": {"$patch": "delete"}, "securityContext": {"$patch": "merge", "runAsUser": 1},
        },
    }));
    assert_eq!(
        merged.unwrap(),
        json!({
            "metadata": {"finalizers": ["b"]},
            "spec": {"volumes": [{"name": "v", "emptyDir": {}}], "tolerations": [{"key": "b"}], "securityContext": {"runAsUser": 1}},
        })
    );
    let merged =
        merge(json!({"spec": {"volumes": [{"$patch": "replace"}, {"name": "w"}]}})).unwrap();
    assert_eq!(merged["spec"]["volumes"], json!([{"name": "w"}]));
    let wrong = merge(json!({"spec": {"volumes": [{"name": "v"}, {"emptyDir": {}}]}})).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "spec.volumes[1]: an item here needs its `name`"
    );
    let wrong = merge(json!({"spec": {"affinity": {"$patch": "remove"}}})).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "spec.affinity: $patch is `merge`, `replace` or `delete`"
    );
    assert!(merge(json!({"spec": {"volumes": ["v"]}})).is_err());
    assert!(merge(json!([])).is_err());
}

#[test]
fn an_overlay_keeps_what_only_the_live_object_has_and_cuts_lists() {
    let mut live = json!({"a": {"x": 1, "y": 2}, "long": [1, {"b": 1, "c": 2}, 3], "short": [1]});
    overlay(
        &mut live,
        &json!({"a": {"x": 9}, "long": [7, {"b": 8}], "short": [4, 5]}),
    );
    assert_eq!(
        live,
        json!({"a": {"x": 9, "y": 2}, "long": [7, {"b": 8, "c": 2}], "short": [4, 5]})
    );
}
