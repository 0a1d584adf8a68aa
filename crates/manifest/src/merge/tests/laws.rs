use proptest::prelude::*;

use super::*;
use crate::testing::any_json;

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

/// Whether everything that is wanted is there; items of containers and variables are found by name. What says no more
/// than nothing may be missing: servers drop it.
fn holds(wanted: &Value, merged: &Value) -> bool {
    let is_empty =
        |value: &Value| [json!({}), json!([]), json!(""), json!(0), json!(false)].contains(value);
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

#[test]
fn long_lists_are_merged_in_time() {
    let pod = |value: &str| {
        let env = (0..20_000).map(|number| json!({"name": format!("V{number}"), "value": value}));
        json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "env": env.collect::<Vec<_>>()}]}}}})
    };
    let started = std::time::Instant::now();
    let merged = settled(&pod("1"), &pod("2"), &pod("1"), shape("apps", "Deployment"));
    assert_eq!(merged, pod("2"));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
