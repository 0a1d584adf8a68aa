//! Invocations of jobs and tests: every Job is made exactly once.

use std::collections::BTreeMap;

use mainstay_testkit::{
    audit::Mark,
    campaign::{Campaign, Workload},
};
use serde_json::{Value, json};

use crate::shared::clowder::{
    invocations::{app_with_jobs, tested},
    stage::{Stage, web_app},
};

/// The invocations, and how many Jobs each has.
const NAMES: [(&str, usize); 3] = [("run", 3), ("smoke", 1), ("both", 2)];

/// An environment with tests and two apps in it, undisturbed.
pub(crate) async fn prepare(stage: &Stage) {
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

pub(crate) async fn invoke(stage: &Stage) {
    let iqe = json!({"iqe": {"marker": "smoke"}});
    stage
        .invoke("run", json!({"jobs": ["fix", "sweep", "fix"]}))
        .await;
    stage.invoke("smoke", json!({"testing": iqe})).await;
    stage
        .invoke("both", json!({"jobs": ["fix"], "testing": iqe}))
        .await;
}

pub(crate) async fn ended(stage: &Stage) {
    for (name, _) in NAMES {
        stage.completed(name).await;
    }
}

/// What is there in the end, with the ends of names taken off.
async fn state(stage: &Stage) -> Value {
    let mut state = json!({});
    for (name, count) in NAMES {
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
    let expected: usize = NAMES.iter().map(|(_, count)| count).sum();
    assert_eq!((all, made.len()), (expected, expected), "{made:?}");
}

/// Users invoke all of them at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invoke;

/// An environment and apps that are there already, and what users invoke.
pub(crate) struct Invocations;

impl Workload for Invocations {
    type Stage = Stage;
    type Step = Invoke;

    fn steps(&self) -> &[Invoke] {
        &[Invoke]
    }

    async fn stage(&self, word: &str) -> Stage {
        Stage::alone(word).await
    }

    async fn prepare(&self, stage: &Stage) {
        prepare(stage).await;
    }

    async fn change(&self, Invoke: Invoke, stage: &Stage) {
        invoke(stage).await;
    }

    async fn ended(&self, Invoke: Invoke, stage: &Stage) {
        ended(stage).await;
    }

    async fn state(&self, stage: &Stage) -> Option<Value> {
        Some(state(stage).await)
    }

    fn check_writes(&self, mark: &Mark, stage: &Stage) {
        check_once(mark, stage);
    }
}

pub(crate) static INVOCATIONS: Campaign<Invocations> = Campaign::new(Invocations);
