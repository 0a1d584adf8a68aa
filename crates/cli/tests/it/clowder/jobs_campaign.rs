//! Crashes, faults and old news around invocations: every Job is made exactly once, from the newest app.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mainstay_testkit::{
    audit::Mark,
    fault::{Fault, Seen},
    proxy::Proxy,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{
    crash_point::CrashPoint,
    invocations::{app_with_jobs, tested},
    stage::{JOB, RunningOperator, SECRET, Stage, container, web_app},
};
use crate::kaoto::faults::FaultSchedule;

/// The invocations, and how many Jobs each has.
const INVOCATIONS: [(&str, usize); 3] = [("run", 3), ("smoke", 1), ("both", 2)];

/// An environment with tests and two apps in it, in good schedule.
async fn prepare(stage: &Stage) {
    let calm = stage.operator(&[]).await;
    stage
        .put_secret("vault", json!({}), json!({"url": "https://vault.test"}))
        .await;
    stage.ready_environment(tested(&stage.namespace.name)).await;
    stage.create_app("shop", app_with_jobs(1)).await;
    stage.create_app("stock", web_app()).await;
    stage.app_ready("shop").await;
    stage.app_ready("stock").await;
    drop(calm);
}

async fn invoke(stage: &Stage) {
    let iqe = json!({"iqe": {"marker": "smoke"}});
    stage
        .invoke("run", json!({"jobs": ["fix", "sweep", "fix"]}))
        .await;
    stage.invoke("smoke", json!({"testing": iqe})).await;
    stage
        .invoke("both", json!({"jobs": ["fix"], "testing": iqe}))
        .await;
}

async fn ended(stage: &Stage) {
    for (name, _) in INVOCATIONS {
        stage.completed(name).await;
    }
}

/// What is there in the end, with the ends of names taken off.
async fn state(stage: &Stage) -> Value {
    let mut state = json!({});
    for (name, count) in INVOCATIONS {
        let jobs = stage.jobs_of(name).await;
        assert_eq!(jobs.len(), count, "{name}: {:?}", jobs.keys());
        let status = stage.completed(name).await["status"].clone();
        let map: BTreeMap<&String, &str> = jobs.keys().map(|job| (job, "Complete")).collect();
        assert_eq!(status["jobMap"], json!(map), "{name}");
        let mut pods: Vec<String> = jobs
            .iter()
            .map(|(job, object)| {
                let base = job.rsplit_once('-').unwrap().0;
                let pod = object["spec"]["template"]["spec"].to_string();
                pod.replace(job.as_str(), base)
            })
            .collect();
        pods.sort();
        let words: Vec<Value> = status["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|condition| json!([condition["type"], condition["status"], condition["message"]]))
            .collect();
        state[name] = json!({"pods": pods, "conditions": words});
    }
    for secret in ["smoke-iqe", "smoke-vault", "both-iqe", "both-vault"] {
        let keys: Vec<String> = stage.secret(secret).await.into_keys().collect();
        state[secret] = json!(keys);
    }
    let text = state.to_string().replace(&stage.environment, "NAMESPACE");
    serde_json::from_str(&text).unwrap()
}

/// Every Job was created exactly once, and never touched again; by the audit log.
fn check_once(mark: &Mark, stage: &Stage) {
    let mut made: Vec<String> = mark
        .writes(&stage.namespace.name)
        .into_iter()
        .filter(|entry| entry.resource == "jobs" && entry.code < 300)
        .inspect(|entry| assert_eq!(entry.code, 201, "{entry:?}"))
        .map(|entry| entry.name)
        .collect();
    let all = made.len();
    made.sort();
    made.dedup();
    let expected: usize = INVOCATIONS.iter().map(|(_, count)| count).sum();
    assert_eq!((all, made.len()), (expected, expected), "{made:?}");
}

/// The end in good schedule.
async fn undisturbed() -> &'static Value {
    static END: OnceCell<Value> = OnceCell::const_new();
    let end = END.get_or_init(|| async {
        let stage = Stage::alone("jobs-calm").await;
        prepare(&stage).await;
        let _operator = stage.operator(&[]).await;
        let mark = Mark::now(stage.plane.audit_log());
        invoke(&stage).await;
        ended(&stage).await;
        mark.settled(&stage.namespace.name).await;
        check_once(&mark, &stage);
        state(&stage).await
    });
    end.await
}

/// Waits for the end in a life that lasts: before, there is something left to write.
async fn lasting_end(stage: &Stage) {
    tokio::time::sleep(Duration::from_secs(2)).await;
    ended(stage).await;
}

#[tokio::test]
async fn a_crash_at_every_write_makes_no_second_job() {
    let expected = undisturbed().await;
    let stage = Stage::alone("jobs-crash").await;
    prepare(&stage).await;
    let crash_point = CrashPoint::start(&stage.plane).await;
    let mark = Mark::now(stage.plane.audit_log());
    let lives = crash_point
        .lives(invoke(&stage), || lasting_end(&stage))
        .await;
    mark.settled(&stage.namespace.name).await;
    println!("{lives} crashes");
    // Six Jobs, four Secrets, and the status of each invocation: once, if its Jobs end while nobody looks.
    assert!(lives >= 13, "only {lives} crashes");
    check_once(&mark, &stage);
    assert_eq!(state(&stage).await, *expected);
}

async fn ends_as_undisturbed(percent: u64, seed: u64, least: u64) {
    let expected = undisturbed().await;
    let stage = Stage::alone("jobs-storm").await;
    prepare(&stage).await;
    let schedule = Arc::new(FaultSchedule::new(percent, seed));
    let proxy = Proxy::start(&stage.plane, {
        let schedule = schedule.clone();
        move |seen: &Seen| schedule.decide(seen)
    })
    .await;
    let mut operator = RunningOperator::start(&proxy.kubeconfig(), &[]).await;
    let mark = Mark::now(stage.plane.audit_log());
    invoke(&stage).await;
    ended(&stage).await;
    let met = schedule.clear_up();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(operator.process.is_running(), "a fault ended the operator");
    mark.settled(&stage.namespace.name).await;
    check_once(&mark, &stage);
    assert!(met >= least, "only {met} requests met a fault");
    assert_eq!(state(&stage).await, *expected);
}

#[tokio::test]
async fn one_failing_request_in_ten_makes_no_second_job() {
    ends_as_undisturbed(10, 11, 5).await;
}

#[tokio::test]
async fn every_second_request_failing_makes_no_second_job() {
    ends_as_undisturbed(50, 51, 30).await;
}

#[tokio::test]
async fn two_operators_at_once_make_no_second_job() {
    let expected = undisturbed().await;
    let stage = Stage::alone("jobs-race").await;
    prepare(&stage).await;
    let _operators = [stage.operator(&[]).await, stage.operator(&[]).await];
    let mark = Mark::now(stage.plane.audit_log());
    invoke(&stage).await;
    ended(&stage).await;
    mark.settled(&stage.namespace.name).await;
    check_once(&mark, &stage);
    assert_eq!(state(&stage).await, *expected);
}

/// The watch of apps stands still while an app changes: what the operator knows of it is old, and it looks again
/// before it starts anything.
#[tokio::test]
async fn old_news_about_an_app_start_nothing() {
    let stage = Stage::alone("jobs-old").await;
    prepare(&stage).await;
    let blind = Arc::new(AtomicBool::new(false));
    let proxy = Proxy::start(&stage.plane, {
        let blind = blind.clone();
        move |seen: &Seen| {
            let is_apps = seen.resource() == "/apis/cloud.redhat.com/v1alpha1/clowdapps";
            match (is_apps, blind.load(Ordering::SeqCst)) {
                (true, true) => Fault::Refuse(503),
                (true, false) if seen.is_watch() => Fault::Break(Duration::from_millis(300)),
                _ => Fault::None,
            }
        }
    })
    .await;
    let _operator = RunningOperator::start(&proxy.kubeconfig(), &[]).await;
    blind.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(1)).await;
    stage
        .patch_app("shop", json!({"spec": app_with_jobs(2)}))
        .await;
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage.completed("run").await;
    let jobs = stage.jobs_of("run").await;
    let images: Vec<&Value> = jobs.values().map(|job| &container(job)["image"]).collect();
    assert_eq!(images, [&json!("registry.test/fix:2")]);
    assert_eq!(stage.names(JOB).await.len(), 1);
    stage.get(SECRET, "shop").await;
}
