//! Crashes and faults: whatever happens between operator and API server, the end is the same, and nothing is made up
//! twice.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use kube::api::{DynamicObject, ListParams};
use mainstay_testkit::{
    audit::Mark,
    fault::{Fault, Seen},
    namespace::object_gone,
    proxy::Proxy,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::stage::{
    CONFIG_MAP, DEPLOYMENT, ROLE_BINDING, RunningOperator, SECRET, SERVICE, SERVICE_ACCOUNT, Stage,
    container, merge, web_app,
};
use crate::{
    crashes::{Killer, Moment},
    faults::Weather,
};

const APPS: [&str; 3] = ["shop", "stock", "prices"];

/// One app with a database, one with a cache that depends on it, and one with another database.
fn app(name: &str, version: u32) -> Value {
    let mut app = web_app();
    let storage = match name {
        "stock" => json!({"inMemoryDb": true, "dependencies": ["shop"]}),
        _ => json!({"database": {"name": "goods"}}),
    };
    merge(&mut app, &storage);
    app["deployments"][0]["podSpec"]["image"] = json!(format!("registry.test/shop:{version}"));
    app
}

/// What users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workload {
    /// A new environment with three apps that have databases, caches and an object store.
    Fresh,
    /// Every app gets another image.
    Image,
    /// One of the apps goes.
    Deletion,
}

impl Workload {
    const ALL: [Self; 3] = [Self::Fresh, Self::Image, Self::Deletion];

    async fn change(self, stage: &Stage) {
        match self {
            Self::Fresh => {
                let local = json!({
                    "db": {"mode": "local"}, "inMemoryDb": {"mode": "redis"},
                    "objectStore": {"mode": "minio"},
                });
                stage.create_environment(json!({"providers": local})).await;
                for name in APPS {
                    stage.create_app(name, app(name, 1)).await;
                }
            }
            Self::Image => {
                for name in APPS {
                    stage.patch_app(name, json!({"spec": app(name, 2)})).await;
                }
            }
            Self::Deletion => stage.delete_app("prices").await,
        }
    }

    async fn ended(self, stage: &Stage) {
        let left = match self {
            Self::Fresh | Self::Image => &APPS[..],
            Self::Deletion => {
                object_gone(&stage.apps(), "prices").await;
                for kind in [DEPLOYMENT, SERVICE, SECRET, CONFIG_MAP, SERVICE_ACCOUNT] {
                    for name in stage.names(kind).await {
                        if name == "prices" || name.starts_with("prices-") {
                            stage.gone(kind, &name).await;
                        }
                    }
                }
                &APPS[..2]
            }
        };
        stage
            .environment_when("is ready and lists its apps", |environment| {
                let apps = environment["status"]["apps"].as_array();
                super::stage::is_done(environment)
                    && environment["status"]["ready"] == true
                    && apps.is_some_and(|apps| apps.len() == left.len())
            })
            .await;
        join_all(left.iter().map(|name| stage.app_ready(name))).await;
        if self == Self::Image {
            for name in left {
                let deployment = stage.get(DEPLOYMENT, &format!("{name}-web")).await;
                assert_eq!(container(&deployment)["image"], "registry.test/shop:2");
            }
        }
    }
}

/// The values that were made up, by Secret; those of apps that are gone are gone too.
async fn made_up(stage: &Stage) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for name in stage.names(SECRET).await {
        if name.ends_with("-db") || name.ends_with("-minio") {
            all.insert(name.clone(), stage.secret(&name).await);
        }
    }
    all
}

/// What is there, without what differs from run to run.
async fn state(stage: &Stage) -> Value {
    let mut state = json!({});
    for kind in [
        DEPLOYMENT,
        SERVICE,
        SECRET,
        CONFIG_MAP,
        SERVICE_ACCOUNT,
        ROLE_BINDING,
    ] {
        let list = stage.api(kind).list(&ListParams::default()).await.unwrap();
        for object in list.items {
            let (name, portrait) = portrait(object);
            if name != "kube-root-ca.crt" && name != "default" {
                state[format!("{kind:?} {name}")] = portrait;
            }
        }
    }
    let apps = stage.apps().list(&ListParams::default()).await.unwrap();
    for app in apps.items {
        let name = app.metadata.name.clone().unwrap();
        let config = stage.config(&name).await;
        state[&name] =
            json!({"status": without_times(app.data["status"].clone()), "config": config});
    }
    let environment = stage.environment_ready().await;
    state["environment"] = without_times(environment["status"].clone());
    let mut text = state.to_string().replace(&stage.environment, "NAMESPACE");
    for (secret, values) in made_up(stage).await {
        for (key, value) in values {
            if matches!(
                key.as_str(),
                "username" | "password" | "pgPass" | "accessKey" | "secretKey"
            ) {
                let secret = secret.replace(&stage.environment, "NAMESPACE");
                text = text.replace(&value, &format!("{key} of {secret}"));
            }
        }
    }
    serde_json::from_str(&text).unwrap()
}

fn portrait(object: DynamicObject) -> (String, Value) {
    let mut spec = object.data.get("spec").cloned().unwrap_or_default();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("clusterIP");
        fields.remove("clusterIPs");
    }
    // The hash of a configuration with other passwords.
    if let Some(annotations) = spec.pointer_mut("/template/metadata/annotations") {
        annotations["configHash"] = Value::Null;
    }
    let data = object.data.get("data").and_then(Value::as_object);
    let keys: Option<Vec<&String>> = data.map(|data| data.keys().collect());
    let owners = object.metadata.owner_references.iter().flatten();
    let owners: Vec<&String> = owners.map(|owner| &owner.name).collect();
    let portrait = json!({
        "labels": object.metadata.labels, "owners": owners, "spec": spec, "keys": keys,
    });
    (object.metadata.name.unwrap(), portrait)
}

fn without_times(mut status: Value) -> Value {
    // An environment sees its generation only; how many writes it took to get there is not part of the end.
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        for condition in conditions {
            condition["lastTransitionTime"] = Value::Null;
        }
    }
    status
}

/// What all workloads come to, one after the other.
#[derive(Debug, PartialEq)]
struct Ends(Vec<Value>);

/// Every Secret with values that were made up was written exactly once.
fn check_made_up_once(mark: &Mark, stage: &Stage) {
    let mut written: Vec<String> = mark
        .writes(&stage.namespace.name)
        .into_iter()
        .filter(|entry| entry.resource == "secrets" && entry.code < 300 && entry.verb != "delete")
        .map(|entry| entry.name)
        .filter(|name| name.ends_with("-db") || name.ends_with("-minio"))
        .collect();
    written.sort();
    let minio = format!("{}-minio", stage.environment);
    let mut expected = vec!["shop-db".to_owned(), "prices-db".to_owned(), minio];
    expected.sort();
    assert_eq!(written, expected, "each once");
}

/// The ends in good weather.
async fn undisturbed() -> &'static Ends {
    static ENDS: OnceCell<Ends> = OnceCell::const_new();
    let ends = ENDS.get_or_init(|| async {
        let stage = Stage::alone("calm").await;
        let _operator = stage.operator(&[]).await;
        let mark = Mark::now(stage.plane.audit_log());
        let mut ends = Vec::new();
        for workload in Workload::ALL {
            workload.change(&stage).await;
            workload.ended(&stage).await;
            ends.push(state(&stage).await);
        }
        mark.settled(&stage.namespace.name).await;
        check_made_up_once(&mark, &stage);
        Ends(ends)
    });
    ends.await
}

fn is_event(seen: &Seen) -> bool {
    seen.resource().ends_with("/events")
}

/// Waits for the end in a life that lasts: before, there is something left to write.
async fn end_of(workload: Workload, stage: &Stage) {
    tokio::time::sleep(Duration::from_secs(2)).await;
    workload.ended(stage).await;
}

/// The process dies after each of its writes, before it hears the answer, until there is nothing left to write. The
/// cluster after a write is the cluster before the next one, so these are all the moments that a crash can leave behind.
#[tokio::test]
async fn a_crash_at_every_write_leaves_no_trace() {
    let expected = undisturbed().await;
    let stage = Stage::alone("crashes").await;
    let killer = Arc::new(Killer::default());
    let struck = Arc::new(AtomicBool::new(false));
    let proxy = Proxy::start(&stage.plane, {
        let (killer, struck) = (killer.clone(), struck.clone());
        move |seen: &Seen| {
            // An event that is lost is lost.
            if !seen.is_write() || is_event(seen) {
                return Fault::None;
            }
            // What else was on its way dies with the process.
            if struck.swap(true, Ordering::SeqCst) {
                return Fault::Drop;
            }
            killer.decide(seen, Moment::After)
        }
    })
    .await;
    let doomed = |operator: &RunningOperator| {
        struck.store(false, Ordering::SeqCst);
        killer.arm(operator.process.id(), 0);
    };
    let mark = Mark::now(stage.plane.audit_log());
    let mut ends = Vec::new();
    let begun = Instant::now();
    let mut lives = 0;
    for workload in Workload::ALL {
        let mut operator = RunningOperator::start(&proxy.kubeconfig(), &[]).await;
        doomed(&operator);
        workload.change(&stage).await;
        let mut end = Box::pin(end_of(workload, &stage));
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = operator.process.ended() => {}
            }
            lives += 1;
            assert!(lives < 300, "no end in sight: {}", operator.process.log());
            operator = RunningOperator::begin(&proxy.kubeconfig(), &[]);
            doomed(&operator);
            end = Box::pin(end_of(workload, &stage));
        }
        ends.push(state(&stage).await);
    }
    mark.settled(&stage.namespace.name).await;
    check_made_up_once(&mark, &stage);
    println!("{lives} crashes in {:?}", begun.elapsed());
    assert!(lives > 30, "only {lives} crashes");
    assert_eq!(Ends(ends), *expected);
}

/// Plays all workloads through the weather.
async fn ends_as_undisturbed(percent: u64, seed: u64, least: u64) {
    let expected = undisturbed().await;
    let stage = Stage::alone("weather").await;
    let weather = Arc::new(Weather::new(percent, seed));
    let proxy = Proxy::start(&stage.plane, {
        let weather = weather.clone();
        move |seen: &Seen| weather.decide(seen)
    })
    .await;
    let mut operator = RunningOperator::start(&proxy.kubeconfig(), &[]).await;
    let mark = Mark::now(stage.plane.audit_log());
    let mut ends = Vec::new();
    for workload in Workload::ALL {
        workload.change(&stage).await;
        workload.ended(&stage).await;
        ends.push(state(&stage).await);
    }
    let met = weather.clear_up();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(operator.process.is_running(), "a fault ended the operator");
    mark.settled(&stage.namespace.name).await;
    check_made_up_once(&mark, &stage);
    assert!(met >= least, "only {met} requests met a fault");
    assert_eq!(Ends(ends), *expected);
}

#[tokio::test]
async fn one_failing_request_in_a_hundred_changes_nothing() {
    ends_as_undisturbed(1, 7, 1).await;
}

#[tokio::test]
async fn one_failing_request_in_ten_changes_nothing() {
    ends_as_undisturbed(10, 10, 10).await;
}

#[tokio::test]
async fn every_second_request_failing_changes_nothing() {
    ends_as_undisturbed(50, 50, 50).await;
}
