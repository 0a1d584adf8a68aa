//! Crashes, faults and old news around invocations: every Job is made exactly once, from the newest app.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mainstay_testkit::{
    audit::Mark,
    campaign::{Workload as _, crash::Moments},
    fault::{Fault, Seen},
    proxy::Proxy,
};
use serde_json::{Value, json};

use super::{
    invocations::app_with_jobs,
    stage::{JOB, RunningOperator, SECRET, Stage, container},
    workloads::jobs::{INVOCATIONS, Invoke, prepare},
};

#[tokio::test]
async fn a_crash_at_every_write_makes_no_second_job() {
    // Six Jobs, four Secrets, and the status of each invocation: once, if its Jobs end while nobody looks.
    INVOCATIONS
        .survives_a_crash_at_every_write(Moments::InTurn, 13)
        .await;
}

#[tokio::test]
async fn one_failing_request_in_ten_makes_no_second_job() {
    INVOCATIONS.ends_the_same_through_faults(10, 11, 5).await;
}

#[tokio::test]
async fn every_second_request_failing_makes_no_second_job() {
    INVOCATIONS.ends_the_same_through_faults(50, 51, 30).await;
}

#[tokio::test]
async fn two_operators_at_once_make_no_second_job() {
    let expected = INVOCATIONS.undisturbed().await;
    let workload = &INVOCATIONS.workload;
    let stage = workload.stage("jobs-race").await;
    workload.prepare(&stage).await;
    let _operators = [stage.operator(&[]).await, stage.operator(&[]).await];
    let mark = Mark::now(stage.plane.audit_log());
    workload.change(Invoke, &stage).await;
    workload.ended(Invoke, &stage).await;
    mark.settled(&stage.namespace.name).await;
    workload.check_writes(&mark, &stage);
    let state = workload.state(&stage).await;
    assert_eq!(state.as_ref(), expected.last().map(|end| &end.state));
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
