use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use super::*;
use crate::{
    client::{MemoryClient, memory},
    conventions::{LAST_APPLIED_ANNOTATION, ORIGIN_ANNOTATION},
    preview::preview,
    testing::{object, parsed},
};

const SHOP: &str = "
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, creationTimestamp: null, labels: {app: web}}
spec: {template: {spec: {containers: [{name: web, image: 'web:1'}]}}}
status: {replicas: 1}
";

async fn changes(cluster: &MemoryClient, set: &ManifestSet, options: &ApplyOptions) -> Vec<Change> {
    let report = apply(cluster, set, options).await;
    let rows = report.rows.into_iter();
    rows.map(|(object, result)| result.unwrap_or_else(|error| panic!("{object}: {error}")))
        .collect()
}

fn live(cluster: &MemoryClient, name: &str) -> Value {
    let objects = cluster.objects();
    let mut found = objects.into_iter().filter(|(key, _)| key.name == name);
    found.next().unwrap().1
}

fn with(strategy: Strategy) -> ApplyOptions {
    ApplyOptions {
        strategy,
        ..ApplyOptions::default()
    }
}

#[tokio::test]
async fn what_is_created_is_marked_and_remembered() {
    let cluster = MemoryClient::default();
    let set = parsed(SHOP);
    let first = changes(&cluster, &set, &ApplyOptions::default()).await;
    assert_eq!(first, [Change::Created; 2]);
    let web = live(&cluster, "web");
    assert_eq!(web["metadata"]["annotations"][ORIGIN_ANNOTATION], "created");
    let remembered = web["metadata"]["annotations"][LAST_APPLIED_ANNOTATION]
        .as_str()
        .unwrap();
    assert_eq!(
        remembered,
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"labels\":{\"app\":\"web\"},\"name\":\"web\",\"namespace\":\"shop\"},\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":\"web:1\",\"name\":\"web\"}]}}}}\n"
    );
    assert!(web.get("status").is_none());
}

#[tokio::test]
async fn a_second_apply_sends_nothing_and_a_preview_is_empty() {
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let cluster = MemoryClient::default();
        let set = parsed(SHOP);
        changes(&cluster, &set, &with(strategy)).await;
        assert_eq!(
            preview(&cluster, &set, strategy).await.unwrap().len(),
            0,
            "{strategy:?}"
        );
        let version = live(&cluster, "web")["metadata"]["resourceVersion"].clone();
        let again = changes(&cluster, &set, &with(strategy)).await;
        assert_eq!(again, [Change::Unchanged; 2]);
        assert_eq!(
            live(&cluster, "web")["metadata"]["resourceVersion"],
            version
        );
        if strategy == Strategy::ThreeWay {
            assert_eq!(cluster.writes(), 2, "the two creates");
        }
    }
}

#[tokio::test]
async fn both_strategies_drop_what_is_no_longer_wanted_and_keep_what_others_wrote() {
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let cluster = MemoryClient::default();
        changes(&cluster, &parsed(SHOP), &with(strategy)).await;
        let mut scaled = live(&cluster, "web");
        scaled["spec"]["replicas"] = json!(5);
        cluster.put(scaled);
        let wanted = parsed(&SHOP.replace("labels: {app: web}", "labels: {tier: front}"));
        let changed = changes(&cluster, &wanted, &with(strategy)).await;
        assert_eq!(changed, [Change::Unchanged, Change::Configured]);
        let web = live(&cluster, "web");
        assert_eq!(
            web["metadata"]["labels"],
            json!({"tier": "front"}),
            "{strategy:?}"
        );
        assert_eq!(web["spec"]["replicas"], 5);
        assert_eq!(
            web["metadata"]["annotations"][ORIGIN_ANNOTATION], "created",
            "the mark stays"
        );
    }
}

#[tokio::test]
async fn what_was_there_before_is_not_marked_as_ours() {
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let namespace = object(
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"x": "y"}}}),
        );
        let cluster = MemoryClient::with_objects([namespace]);
        changes(&cluster, &parsed(SHOP), &with(strategy)).await;
        let shop = live(&cluster, "shop");
        assert!(
            shop["metadata"]["annotations"]
                .get(ORIGIN_ANNOTATION)
                .is_none(),
            "{shop}"
        );
        assert_eq!(shop["metadata"]["labels"], json!({"x": "y"}));
    }
}

#[tokio::test]
async fn names_that_are_made_up_are_made_up_each_time() {
    let cluster = MemoryClient::default();
    let set = parsed(
        "{apiVersion: batch/v1, kind: Job, metadata: {generateName: once-, namespace: shop}}",
    );
    for _ in 0..2 {
        assert_eq!(
            changes(&cluster, &set, &ApplyOptions::default()).await,
            [Change::Created]
        );
    }
    assert_eq!(cluster.objects().len(), 2);
    let reads = cluster
        .calls()
        .iter()
        .filter(|(verb, _)| *verb == memory::Verb::Get)
        .count();
    assert_eq!(reads, 0, "nothing is read");
    let job = cluster.objects().into_values().next().unwrap();
    assert!(
        job["metadata"].get("annotations").is_none(),
        "there is no later merge: {job}"
    );
}

#[tokio::test]
async fn a_conflict_is_settled_by_looking_again() {
    let tries = AtomicUsize::new(0);
    let cluster = MemoryClient::default().failing(memory::Verb::Update, move |_| {
        let conflict = ClientError::Conflict {
            message: "changed".to_owned(),
        };
        (tries.fetch_add(1, Ordering::Relaxed) < 2).then_some(conflict)
    });
    changes(&cluster, &parsed(SHOP), &ApplyOptions::default()).await;
    let wanted = parsed(&SHOP.replace("web:1", "web:2"));
    assert_eq!(
        changes(&cluster, &wanted, &ApplyOptions::default()).await,
        [Change::Unchanged, Change::Configured]
    );

    let always = |_: &_| {
        Some(ClientError::Conflict {
            message: "changed".to_owned(),
        })
    };
    let cluster = MemoryClient::with_objects([object(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    )])
    .failing(memory::Verb::Update, always);
    let wanted = parsed("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: y}}");
    let report = apply(&cluster, &wanted, &ApplyOptions::default()).await;
    assert_eq!(report.failures().count(), 1);
    assert_eq!(cluster.writes(), TRIES);
}

#[tokio::test]
async fn an_invalid_merge_is_laid_over_only_if_that_is_wanted() {
    let cluster = || {
        let refused = AtomicUsize::new(0);
        let before = object(
            &json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
            "spec": {"items": [1, 2, 3], "kept": true}}),
        );
        MemoryClient::with_objects([before]).failing(memory::Verb::Update, move |_| {
            let invalid = ClientError::Invalid {
                message: "no".to_owned(),
            };
            (refused.fetch_add(1, Ordering::Relaxed) == 0).then_some(invalid)
        })
    };
    let wanted = parsed(
        "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {items: [9]}}",
    );
    let first = cluster();
    assert_eq!(
        changes(&first, &wanted, &ApplyOptions::default()).await,
        [Change::Configured]
    );
    assert_eq!(
        live(&first, "a")["spec"],
        json!({"items": [9], "kept": true})
    );
    let careful = ApplyOptions {
        overwrite: false,
        ..ApplyOptions::default()
    };
    let report = apply(&cluster(), &wanted, &careful).await;
    assert!(matches!(
        report.failures().next(),
        Some((_, ClientError::Invalid { .. }))
    ));
}

#[tokio::test]
async fn an_object_that_is_too_large_to_be_remembered_is_left_to_the_server() {
    let data = "x".repeat(300 * 1024);
    let set = parsed(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{x: {data}}}}}"
    ));
    let cluster = MemoryClient::default();
    assert_eq!(
        changes(&cluster, &set, &ApplyOptions::default()).await,
        [Change::Created]
    );
    let map = live(&cluster, "a");
    assert!(
        map["metadata"]["annotations"]
            .get(LAST_APPLIED_ANNOTATION)
            .is_none()
    );
    assert!(
        cluster
            .calls()
            .iter()
            .any(|(verb, _)| *verb == memory::Verb::Apply)
    );
    assert_eq!(
        preview(&cluster, &set, Strategy::ThreeWay)
            .await
            .unwrap()
            .len(),
        0
    );
}

#[tokio::test]
async fn the_first_failure_ends_it_unless_it_shall_go_on() {
    let set = parsed(
        "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: A, metadata: {name: b}}",
    );
    let cluster = || {
        MemoryClient::default().failing(memory::Verb::Create, |key| {
            let forbidden = ClientError::Forbidden {
                message: "no".to_owned(),
            };
            (key.name == "a").then_some(forbidden)
        })
    };
    let report = apply(&cluster(), &set, &ApplyOptions::default()).await;
    assert_eq!(report.rows.len(), 1);
    let on = ApplyOptions {
        continue_on_error: true,
        ..ApplyOptions::default()
    };
    let report = apply(&cluster(), &set, &on).await;
    assert_eq!(report.rows.len(), 2);
    assert_eq!(
        report
            .failures()
            .map(|(object, _)| object)
            .collect::<Vec<_>>(),
        ["A a"]
    );
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let cluster = MemoryClient::default();
        let dry = ApplyOptions {
            dry_run: true,
            ..with(strategy)
        };
        assert_eq!(
            changes(&cluster, &parsed(SHOP), &dry).await,
            [Change::Created; 2]
        );
        assert!(cluster.objects().is_empty());
    }
}

#[tokio::test]
async fn a_hook_sees_every_write_and_may_object() {
    #[derive(Debug, Default)]
    struct Watch(Mutex<Vec<String>>);
    impl Observer for Watch {
        fn before(&self, object: &Object, verb: Verb) -> Result<(), String> {
            self.0
                .lock()
                .unwrap()
                .push(format!("before {verb:?} {object}"));
            if object.is("apps", "Deployment") {
                Err("not today".to_owned())
            } else {
                Ok(())
            }
        }
        fn after(&self, object: &Object, verb: Verb, result: Result<(), &ClientError>) {
            self.0
                .lock()
                .unwrap()
                .push(format!("after {verb:?} {object} {}", result.is_ok()));
        }
        fn done(&self, object: &Object, result: Result<&str, &ClientError>) {
            self.0
                .lock()
                .unwrap()
                .push(format!("done {object} {}", result.unwrap_or("failed")));
        }
    }
    let watch = Arc::new(Watch::default());
    let options = ApplyOptions {
        observer: Some(watch.clone()),
        ..ApplyOptions::default()
    };
    let cluster = MemoryClient::default();
    let report = apply(&cluster, &parsed(SHOP), &options).await;
    let failure = report.failures().next().unwrap().1.to_string();
    assert_eq!(failure, "vetoed: not today");
    assert_eq!(
        *watch.0.lock().unwrap(),
        [
            "before Create Namespace shop",
            "after Create Namespace shop true",
            "done Namespace shop created",
            "before Create Deployment shop/web",
            "done Deployment shop/web failed"
        ]
    );
    assert_eq!(cluster.objects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_apply_ends_when_its_caller_or_the_clock_says_so() {
    let options = ApplyOptions {
        continue_on_error: true,
        ..ApplyOptions::default()
    };
    options.cancellation.cancel();
    let cluster = MemoryClient::default();
    let report = apply(&cluster, &parsed(SHOP), &options).await;
    assert_eq!(report.rows.len(), 1);
    assert!(matches!(
        report.failures().next(),
        Some((_, ClientError::Cancelled))
    ));
    assert!(cluster.objects().is_empty());
    let late = ApplyOptions {
        deadline: Some(Duration::ZERO),
        ..ApplyOptions::default()
    };
    let report = apply(&cluster, &parsed(SHOP), &late).await;
    assert!(matches!(
        report.failures().next(),
        Some((_, ClientError::Deadline))
    ));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_the_set_defines_is_waited_for_and_no_other() {
    let widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}";
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, names: {kind: Widget}}}";
    let cluster = |tries: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let unserved = move |key: &mainstay_engine::ObjectKey| {
            let unknown = ClientError::NotServed {
                kind: "Widget".to_owned(),
                api_version: "example.com/v1".to_owned(),
            };
            let is_early =
                key.kind.kind == "Widget" && asked.fetch_add(1, Ordering::Relaxed) < tries;
            is_early.then_some(unknown)
        };
        MemoryClient::default()
            .failing(memory::Verb::Get, unserved.clone())
            .failing(memory::Verb::Create, unserved)
    };
    let set = parsed(&format!("{definition}\n---\n{widget}"));
    assert_eq!(
        changes(&cluster(5), &set, &ApplyOptions::default()).await,
        [Change::Created; 2]
    );
    let report = apply(&cluster(10_000), &set, &ApplyOptions::default()).await;
    assert!(matches!(
        report.failures().next(),
        Some((_, ClientError::NotServed { .. }))
    ));
    let alone = apply(&cluster(1), &parsed(widget), &ApplyOptions::default()).await;
    assert!(matches!(
        alone.failures().next(),
        Some((_, ClientError::NotServed { .. }))
    ));
}

#[tokio::test]
async fn the_rules_that_a_role_gathers_are_left_to_the_control_plane() {
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, aggregationRule: {clusterRoleSelectors: []}, rules: []}";
    for strategy in [Strategy::ThreeWay, Strategy::ServerSide] {
        let cluster = MemoryClient::default();
        changes(&cluster, &parsed(role), &with(strategy)).await;
        let mut filled = live(&cluster, "all");
        filled["rules"] = json!([{"verbs": ["get"]}]);
        cluster.put(filled);
        assert_eq!(
            changes(&cluster, &parsed(role), &with(strategy)).await,
            [Change::Unchanged]
        );
    }
}

#[tokio::test]
async fn a_new_set_costs_one_request_for_each_object_after_the_first() {
    let objects = |range: std::ops::Range<u8>| {
        range.fold(String::new(), |text, name| {
            format!("{text}---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: n{name}}}}}\n")
        })
    };
    let cluster = MemoryClient::default();
    changes(&cluster, &parsed(&objects(0..10)), &ApplyOptions::default()).await;
    assert_eq!(cluster.calls().len(), 11);
    // One that is there among those that are not is found out by the server.
    let mixed = format!("{}{}", objects(10..12), objects(0..1));
    let changed = changes(&cluster, &parsed(&mixed), &ApplyOptions::default()).await;
    assert_eq!(
        changed,
        [Change::Created, Change::Created, Change::Unchanged]
    );
    assert_eq!(cluster.objects().len(), 12);
}
