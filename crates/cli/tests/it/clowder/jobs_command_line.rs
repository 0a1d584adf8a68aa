//! Invocations without an operator: the command line plans and runs them, and explains what they wait for.

use mainstay_testkit::program::Ended;
use serde_json::{Value, json};

use super::{
    invocations::{GROUP_VERSION, app_with_jobs},
    stage::{JOB, Stage, container},
};
use crate::run;

/// An environment, an app and an invocation of some of its jobs, as one file.
fn documents(stage: &Stage, name: &str, jobs: &[&str]) -> String {
    let mut app = app_with_jobs(1);
    app["envName"] = json!(stage.environment);
    let own = |kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": GROUP_VERSION, "kind": kind,
            "metadata": {"name": name, "namespace": stage.namespace.name}, "spec": spec,
        })
    };
    [
        own(
            "ClowdJobInvocation",
            name,
            json!({"appName": "shop", "jobs": jobs}),
        ),
        own("ClowdApp", "shop", app),
        stage.environment_with(&json!({})),
    ]
    .map(|document| document.to_string())
    .join("\n---\n")
}

async fn mainstay(stage: &Stage, arguments: &[&str], input: String) -> Ended {
    let program = run(arguments).kubeconfig(&stage.plane.kubeconfig());
    program.input(input).run().await
}

#[tokio::test]
async fn a_plan_shows_the_jobs_and_apply_runs_them_once() {
    let stage = Stage::alone("jobs-apply").await;
    let file = documents(&stage, "run", &["fix", "sweep"]);
    let plan = mainstay(&stage, &["plan", "-f", "-", "-o", "json"], file.clone()).await;
    let lines: Vec<Value> = serde_json::from_str(&plan.stdout).unwrap();
    let jobs = lines.iter().filter(|line| line["kind"] == "Job");
    let deeds: Vec<&Value> = jobs.map(|line| &line["action"]).collect();
    assert_eq!(deeds, ["create", "create"], "{plan}");
    assert!(stage.names(JOB).await.is_empty(), "a plan writes nothing");

    let apply = ["apply", "-f", "-", "--wait"];
    let applied = mainstay(&stage, &apply, file.clone()).await.success();
    assert!(applied.contains("ClowdJobInvocation"), "{applied}");
    let invocation = stage.completed("run").await;
    let started = stage.jobs_of("run").await;
    assert_eq!(started.len(), 2);
    for (name, job) in &started {
        assert_eq!(invocation["status"]["jobMap"][name], "Complete");
        assert_eq!(container(job)["image"], "registry.test/fix:1");
    }

    let again = mainstay(&stage, &apply, file.clone()).await.success();
    assert!(!again.contains("created"), "{again}");
    let names = stage.jobs_of("run").await.into_keys();
    assert!(names.eq(started.into_keys()), "nothing runs twice");
    let plan = mainstay(&stage, &["plan", "-f", "-"], file).await.success();
    assert!(!plan.contains(" Job "), "nothing is left to do: {plan}");
}

#[tokio::test]
async fn why_follows_an_invocation_to_what_it_waits_for() {
    let stage = Stage::alone("jobs-why").await;
    let file = documents(&stage, "first", &["fix"]);
    let wait = ["apply", "-f", "-", "--wait"];
    mainstay(&stage, &wait, file).await.success();
    let file = documents(&stage, "run", &["fix", "unknown"]);
    let applied = mainstay(&stage, &["apply", "-f", "-"], file).await;
    assert_eq!(applied.code, Some(1), "{applied}");
    assert!(applied.stderr.contains("No such job unknown"), "{applied}");
    let here = stage.namespace.name.as_str();
    let why = mainstay(&stage, &["why", "cji/run", "-n", here], String::new()).await;
    assert!(
        why.stdout
            .contains("ClowdJobInvocation run has failed: No such job unknown: "),
        "{why}"
    );
}
