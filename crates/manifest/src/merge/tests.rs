use proptest::prelude::*;
use serde_json::json;

use mainstay_engine::Kind;

use super::{tables::Rule, *};
use crate::testing::any_json;

fn shape(group: &'static str, kind: &'static str) -> Shape {
    Shape::of(&Kind::new(group, "v1", kind))
}

/// The rule at a path; steps through keyed lists go into their items.
fn rule_at(group: &'static str, kind: &'static str, path: &str) -> Rule {
    let mut at = Rule::Map(shape(group, kind));
    for field in path.split('.') {
        let inside = match at {
            Rule::Map(shape) | Rule::Keyed { item: shape, .. } => shape,
            _ => Shape::Plain,
        };
        at = inside.rule(field);
    }
    at
}

fn key_at(group: &'static str, kind: &'static str, path: &str) -> Option<(&'static str, bool)> {
    match rule_at(group, kind, path) {
        Rule::Keyed {
            key, retain_keys, ..
        } => Some((key, retain_keys)),
        _ => None,
    }
}

#[test]
fn the_table_of_keyed_lists_in_pods() {
    let pods = [
        ("apps", "Deployment", "spec.template.spec"),
        ("apps", "StatefulSet", "spec.template.spec"),
        ("apps", "DaemonSet", "spec.template.spec"),
        ("apps", "ReplicaSet", "spec.template.spec"),
        ("batch", "Job", "spec.template.spec"),
        ("batch", "CronJob", "spec.jobTemplate.spec.template.spec"),
        ("", "Pod", "spec"),
        ("", "PodTemplate", "template.spec"),
        ("", "ReplicationController", "spec.template.spec"),
    ];
    let lists = [
        ("containers", "name", false),
        ("initContainers", "name", false),
        ("ephemeralContainers", "name", false),
        ("imagePullSecrets", "name", false),
        ("schedulingGates", "name", false),
        ("volumes", "name", true),
        ("resourceClaims", "name", true),
        ("hostAliases", "ip", false),
        ("topologySpreadConstraints", "topologyKey", false),
        ("containers.env", "name", false),
        ("containers.ports", "containerPort", false),
        ("containers.volumeMounts", "mountPath", false),
        ("initContainers.volumeDevices", "devicePath", false),
    ];
    for (group, kind, pod) in pods {
        for (list, key, retain) in lists {
            let path = format!("{pod}.{list}");
            assert_eq!(
                key_at(group, kind, &path),
                Some((key, retain)),
                "{kind} {path}"
            );
        }
        for list in [
            "tolerations",
            "containers.command",
            "containers.args",
            "containers.envFrom",
            "affinity",
        ] {
            assert_eq!(
                key_at(group, kind, &format!("{pod}.{list}")),
                None,
                "{kind} {list}"
            );
        }
        assert_eq!(
            key_at(group, kind, "metadata.ownerReferences"),
            Some(("uid", false))
        );
        assert_eq!(rule_at(group, kind, "metadata.finalizers"), Rule::Set);
        assert_eq!(
            key_at(group, kind, "status.conditions"),
            Some(("type", false))
        );
    }
}

#[test]
fn the_table_of_keyed_lists_outside_of_pods() {
    let admission = "admissionregistration.k8s.io";
    for (group, kind, path, key) in [
        ("", "Service", "spec.ports", Some("port")),
        ("", "ServiceAccount", "secrets", Some("name")),
        ("", "ServiceAccount", "imagePullSecrets", None),
        (
            admission,
            "ValidatingWebhookConfiguration",
            "webhooks",
            Some("name"),
        ),
        (
            admission,
            "MutatingWebhookConfiguration",
            "webhooks.matchConditions",
            Some("name"),
        ),
        (
            admission,
            "ValidatingAdmissionPolicy",
            "spec.variables",
            Some("name"),
        ),
        (
            admission,
            "ValidatingAdmissionPolicy",
            "spec.matchConditions",
            Some("name"),
        ),
        ("rbac.authorization.k8s.io", "ClusterRole", "rules", None),
        ("rbac.authorization.k8s.io", "RoleBinding", "subjects", None),
        ("networking.k8s.io", "Ingress", "spec.rules", None),
        ("networking.k8s.io", "Ingress", "spec.tls", None),
        ("apps", "StatefulSet", "spec.volumeClaimTemplates", None),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            "spec.metrics",
            None,
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            "status.conditions",
            Some("type"),
        ),
        ("example.com", "Widget", "status.conditions", None),
        (
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "metadata.ownerReferences",
            None,
        ),
    ] {
        assert_eq!(
            key_at(group, kind, path).map(|(key, _)| key),
            key,
            "{kind} {path}"
        );
    }
    assert_eq!(
        rule_at("apps", "Deployment", "spec.strategy"),
        Rule::MapRetainingKeys
    );
    assert_eq!(
        rule_at("policy", "PodDisruptionBudget", "spec.selector"),
        Rule::Replace
    );
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

fn any_pod() -> impl Strategy<Value = Value> {
    let env = prop::collection::btree_map("[A-C]", "[x-z]", 0..3).prop_map(|map| {
        let items = map
            .into_iter()
            .map(|(name, value)| json!({"name": name, "value": value}));
        Value::from(items.collect::<Vec<_>>())
    });
    let container = (
        env,
        prop::option::of(any::<bool>()),
        prop::option::of("[a-c]:[12]"),
    );
    let containers = prop::collection::btree_map("[a-d]", container, 0..4);
    let labels = prop::collection::btree_map("[a-c]", "[x-z]", 0..3);
    (containers, labels, prop::option::of(any_json()), any::<bool>(), any::<prop::sample::Index>()).prop_map(
        |(containers, labels, extra, reversed, _)| {
            let containers = containers.into_iter().map(|(name, (env, tty, image))| {
                let mut container = json!({"name": name, "env": env});
                if let Some(tty) = tty { container["tty"] = json!(tty); }
                if let Some(image) = image { container["image"] = json!(image); }
                container
            });
            let mut containers: Vec<Value> = containers.collect();
            if reversed { containers.reverse(); }
            let mut value = json!({"metadata": {"labels": labels}, "spec": {"template": {"spec": {"containers": containers}}}});
            if let Some(extra) = extra { value["spec"]["extra"] = extra; }
            value
        },
    )
}

/// Whether everything that is wanted is there; items of containers and variables are found by name. A map or list
/// without content may be missing: servers drop them.
fn holds(wanted: &Value, merged: &Value) -> bool {
    let is_empty = |value: &Value| *value == json!({}) || *value == json!([]);
    match (wanted, merged) {
        (Value::Object(wanted), Value::Object(merged)) => wanted.iter().all(|(key, value)| {
            merged
                .get(key)
                .map_or(is_empty(value), |merged| holds(value, merged))
        }),
        (Value::Array(items), Value::Array(merged))
            if items.iter().all(|item| item.get("name").is_some()) =>
        {
            items.iter().all(|item| {
                merged
                    .iter()
                    .any(|merged| merged["name"] == item["name"] && holds(item, merged))
            })
        }
        (wanted, merged) => wanted == merged,
    }
}

proptest! {
    #[test]
    fn after_a_merge_everything_wanted_is_there_and_nothing_is_left_to_do(
        applied in any_pod(), wanted in any_pod(), live in any_pod()
    ) {
        for shape in [shape("apps", "Deployment"), Shape::Unknown] {
            let merged = settled(&applied, &wanted, &live, shape);
            prop_assert!(holds(&wanted, &merged), "{merged}");
        }
    }

    #[test]
    fn an_object_that_is_as_it_was_applied_becomes_what_is_wanted(applied in any_pod(), wanted in any_pod()) {
        for shape in [shape("apps", "Deployment"), Shape::Unknown] {
            let merged = settled(&applied, &wanted, &applied, shape);
            prop_assert_eq!(&merged, &without_nulls(&wanted));
        }
    }

    #[test]
    fn fields_that_only_the_live_object_has_stay(applied in any_pod(), wanted in any_pod(), live in any_pod()) {
        let mut live = live;
        live["spec"]["foreign"] = json!({"kept": [1, 2]});
        live["metadata"]["annotations"] = json!({"other": "kept"});
        let merged = settled(&applied, &wanted, &live, shape("apps", "Deployment"));
        prop_assert_eq!(&merged["spec"]["foreign"], &live["spec"]["foreign"]);
        prop_assert_eq!(&merged["metadata"]["annotations"], &live["metadata"]["annotations"]);
    }

    #[test]
    fn what_is_there_as_wanted_needs_no_patch(applied in any_pod(), wanted in any_pod()) {
        let stale: Value = json!({"spec": {"template": {"spec": {}}}});
        prop_assert_eq!(three_way(None, &wanted, &wanted, shape("apps", "Deployment")), json!({}));
        prop_assert_eq!(three_way(Some(&stale), &wanted, &wanted, shape("apps", "Deployment")), json!({}));
        prop_assert_eq!(three_way(Some(&applied), &wanted, &wanted, Shape::Unknown), json!({}));
    }

    #[test]
    fn no_json_breaks_a_merge(applied in any_json(), wanted in any_json(), live in any_json()) {
        for shape in [shape("apps", "Deployment"), Shape::PodTemplate, Shape::Unknown] {
            let wrap = |value: &Value| json!({"spec": value, "metadata": value});
            let patch = three_way(Some(&wrap(&applied)), &wrap(&wanted), &wrap(&live), shape);
            let _ = patched(&wrap(&live), &patch, shape);
            let _ = strategic(&wrap(&live), &wrap(&wanted), shape);
        }
    }
}
