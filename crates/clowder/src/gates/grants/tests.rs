use std::sync::Arc;

use mainstay_api::clowder::{ClowdApp, ClowdEnvironment};
use mainstay_engine::reconciler::ValidateError;
use serde_json::{Value, json};

use super::*;
use crate::{settings::Settings, views};

fn environment(annotations: &Value) -> Value {
    json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
        "metadata": {"name": "stage", "uid": "environment-uid", "annotations": annotations},
        "spec": {"providers": {"kafka": {"mode": "operator"}}},
        "status": {"targetNamespace": "stage-env"},
    })
}

fn app(namespace: &str, name: &str, created: &str, spec: Value) -> Value {
    let mut app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": created},
    });
    app["spec"] = spec;
    app["spec"]["envName"] = json!("stage");
    app
}

fn namespace(name: &str, team: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}})
}

/// Why the first of some apps has to wait, with grants required or not.
fn reason(required: bool, annotations: &Value, apps: &[Value]) -> Option<&'static str> {
    let environment = environment(annotations);
    let namespaces = [namespace("market", "shop"), namespace("cellar", "stock")];
    let objects = apps.iter().cloned().chain(namespaces);
    let snapshot = views::files(objects.chain([environment.clone()]));
    let mut settings = Settings::default();
    settings.config.settings.require_environment_grant = required;
    let app: ClowdApp = serde_json::from_value(apps[0].clone()).unwrap();
    let environment: ClowdEnvironment = serde_json::from_value(environment).unwrap();
    let lookup = Lookup::new(&snapshot, &settings);
    match check_app(lookup, &app, &environment) {
        Ok(()) => None,
        Err(ValidateError::Waiting(waiting)) => Some(waiting.reason),
        Err(other) => panic!("{other:?}"),
    }
}

const MORNING: &str = "2026-01-01T08:00:00Z";
const EVENING: &str = "2026-01-01T20:00:00Z";

#[test]
fn a_namespace_joins_if_the_environment_names_or_selects_it_and_not_by_its_label_alone() {
    let shop = [app("market", "shop", MORNING, json!({}))];
    for (annotations, expected) in [
        (json!({}), Some(NOT_GRANTED)),
        (json!({"mainstay/join-namespaces": "cellar, market"}), None),
        (
            json!({"mainstay/join-namespaces": "cellar"}),
            Some(NOT_GRANTED),
        ),
        (
            json!({"mainstay/join-namespaces": "mark"}),
            Some(NOT_GRANTED),
        ),
        (json!({"mainstay/join-namespaces": ""}), Some(NOT_GRANTED)),
        (json!({"mainstay/join-selector": "team in (shop)"}), None),
        (
            json!({"mainstay/join-selector": "team=stock"}),
            Some(NOT_GRANTED),
        ),
        (json!({"mainstay/join-selector": ""}), Some(NOT_GRANTED)),
        (
            json!({"mainstay/join-selector": "team=(shop"}),
            Some(NOT_GRANTED),
        ),
        (json!({"mainstay/share-namespaces": "market"}), None),
    ] {
        assert_eq!(reason(true, &annotations, &shop), expected, "{annotations}");
        assert_eq!(reason(false, &annotations, &shop), None, "{annotations}");
    }
    let own = [app("stage-env", "shop", MORNING, json!({}))];
    assert_eq!(reason(true, &json!({}), &own), None, "its own namespace");
}

#[test]
fn of_two_apps_with_one_name_the_older_one_that_may_join_has_it() {
    let both = json!({"mainstay/join-namespaces": "market, cellar"});
    let young = app("market", "shop", EVENING, json!({}));
    let old = app("cellar", "shop", MORNING, json!({}));
    let (young_first, old_first) = ([young.clone(), old.clone()], [old, young]);
    assert_eq!(reason(true, &both, &young_first), Some(NAME_TAKEN));
    assert_eq!(reason(true, &both, &old_first), None);
    assert_eq!(reason(false, &both, &young_first), None);
    let one = json!({"mainstay/join-namespaces": "market"});
    assert_eq!(
        reason(true, &one, &young_first),
        None,
        "who may not join has no name"
    );
    let shared =
        json!({"mainstay/join-namespaces": "cellar", "mainstay/share-namespaces": "market"});
    assert_eq!(reason(true, &shared, &young_first), None);
    let connect = [app("market", "connect", MORNING, json!({}))];
    assert_eq!(
        reason(true, &both, &connect),
        Some(NAME_TAKEN),
        "the user of Kafka Connect"
    );
    assert_eq!(reason(false, &both, &connect), None);
}

#[test]
fn what_belongs_to_apps_of_other_namespaces_is_taken_only_by_those_who_may_share() {
    let both = json!({"mainstay/join-namespaces": "market, cellar"});
    let shared =
        json!({"mainstay/join-namespaces": "cellar", "mainstay/share-selector": "team=shop"});
    for spec in [
        json!({"database": {"sharedDbAppName": "stock"}}),
        json!({"sharedInMemoryDbAppName": "stock"}),
        json!({"cyndi": {"enabled": true, "appName": "stock"}}),
    ] {
        let shop = app("market", "shop", MORNING, spec.clone());
        let far = [shop.clone(), app("cellar", "stock", MORNING, json!({}))];
        let near = [shop.clone(), app("market", "stock", MORNING, json!({}))];
        assert_eq!(reason(true, &both, &far), Some(NOT_SHARED), "{spec}");
        assert_eq!(reason(true, &both, &near), None, "{spec}");
        assert_eq!(reason(true, &shared, &far), None, "{spec}");
        assert_eq!(reason(false, &both, &far), None, "{spec}");
        // A namesake in the own namespace that does not have the name does not help.
        let namesake = app("market", "stock", EVENING, json!({}));
        let [shop, stock] = far;
        assert_eq!(
            reason(true, &both, &[shop, stock, namesake]),
            Some(NOT_SHARED),
            "{spec}"
        );
    }
}

#[test]
fn who_does_not_belong_to_an_environment_is_seen_by_nobody_in_it() {
    let topic = |partitions: i32| json!({"kafkaTopics": [{"topicName": "orders", "partitions": partitions}]});
    let objects = [
        environment(&json!({"mainstay/join-namespaces": "market"})),
        app("market", "shop", MORNING, topic(2)),
        app("cellar", "stock", MORNING, topic(9)),
        json!({"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdAppRef",
            "metadata": {"namespace": "cellar", "name": "prices"}, "spec": {"envName": "stage"}}),
    ];
    let snapshot = views::files(objects);
    let mut settings = Settings::default();
    for (required, apps, partitions, references) in [
        (false, vec!["shop", "stock"], 9, 1),
        (true, vec!["shop"], 2, 0),
    ] {
        settings.config.settings.require_environment_grant = required;
        let lookup = Lookup::new(&snapshot, &settings);
        let all = lookup.apps("stage");
        let names: Vec<&str> = all.iter().map(|app| app.name.as_str()).collect();
        assert_eq!(names, apps);
        let stock = lookup.apps_named("stage", "stock").len();
        assert_eq!(
            (stock, lookup.places_named("stage", "stock").len()),
            (apps.len() - 1, apps.len() - 1)
        );
        assert_eq!(lookup.topic("stage", "orders").partitions(), partitions);
        assert_eq!(lookup.app_refs_named("stage", "prices").len(), references);
    }
}

#[test]
fn a_grant_that_changes_is_seen_by_the_apps_of_the_environment() {
    let (before, after) = (
        environment(&json!({})),
        environment(&json!({"mainstay/join-namespaces": "market"})),
    );
    let shop: ClowdApp = serde_json::from_value(app("market", "shop", MORNING, json!({}))).unwrap();
    let shop = Arc::new(crate::views::summary::AppSummary::of(&shop));
    let key = crate::kinds::environment_key("stage");
    let seen = views::who_sees(&key, Some(&before), &after, |_| vec![shop.clone()]);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [shop.key()]);
    assert!(views::who_sees(&key, Some(&after), &after, |_| vec![shop.clone()]).is_empty());
}
