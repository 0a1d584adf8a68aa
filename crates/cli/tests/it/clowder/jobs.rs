//! Invocations: what they run, when, and what becomes of it.

use std::{collections::BTreeMap, time::Duration};

use kube::api::DeleteParams;
use mainstay_testkit::{
    audit::{Entry, Mark},
    namespace::object_gone,
    wait::eventually,
};
use serde_json::{Value, json};

use super::{
    invocations::{app_with_jobs, tested},
    scenarios::conditions,
    stage::{JOB, SECRET, SERVICE_ACCOUNT, Stage, container, failure, web_app},
};

/// A stage with an app that is ready.
async fn shop(prefix: &str) -> Stage {
    let stage = Stage::shared(prefix).await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", app_with_jobs(1)).await;
    stage.app_ready("shop").await;
    stage
}

#[tokio::test]
async fn jobs_run_once_and_are_remembered() {
    let stage = shop("jobs").await;
    let metadata = json!({"labels": {"team": "sales"}, "annotations": {"from": "invocation"}});
    let spec = json!({"jobs": ["fix", "sweep", "fix"]});
    stage.invoke_with("run", metadata, spec).await;
    let invocation = stage.completed("run").await;
    let jobs = stage.jobs_of("run").await;
    assert_eq!(jobs.len(), 3, "scheduled jobs too, and one job twice");
    let states: BTreeMap<&String, &str> = jobs.keys().map(|name| (name, "Complete")).collect();
    assert_eq!(invocation["status"]["jobMap"], json!(states));
    assert_eq!(
        conditions(&invocation),
        json!([
            [
                "JobInvocationComplete",
                "True",
                "JobsComplete",
                "All ClowdJob invocations complete"
            ],
            [
                "ReconciliationFailed",
                "False",
                "ReconciliationNotComplete",
                ""
            ],
            [
                "ReconciliationSuccessful",
                "True",
                "ReconciliationSucceeded",
                ""
            ],
        ])
    );
    for (name, job) in &jobs {
        let suffix = name.rsplit('-').next().unwrap();
        assert_eq!(suffix.len(), 7, "{name}");
        assert_eq!(job["metadata"]["labels"]["team"], "sales");
        assert_eq!(job["metadata"]["labels"]["clowdjob"], "run");
        assert_eq!(container(job)["name"], name.as_str());
        let invoked = format!("Normal ClowdJobInvoked: Job [{name}] was invoked successfully");
        stage.event_here("run", &invoked).await;
    }
    let complete =
        "Normal ClowdJobInvocationComplete: ClowdJobInvocation [run] has completed all jobs";
    stage.event_here("run", complete).await;

    // Who cleans up does not make it incomplete, nor run again.
    for name in jobs.keys() {
        let background = DeleteParams::background();
        stage.api(JOB).delete(name, &background).await.unwrap();
        stage.gone(JOB, name).await;
    }
    stage
        .patch_app("shop", json!({"metadata": {"labels": {"seen": "yes"}}}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = stage.completed("run").await;
    assert_eq!(after["status"], invocation["status"]);
    assert!(stage.jobs_of("run").await.is_empty());
}

#[tokio::test]
async fn jobs_go_with_their_invocation() {
    let stage = shop("jobs-gone").await;
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage.completed("run").await;
    let jobs = stage.jobs_of("run").await;
    let params = DeleteParams::default();
    stage.invocations().delete("run", &params).await.unwrap();
    object_gone(&stage.invocations(), "run").await;
    for name in jobs.keys() {
        stage.gone(JOB, name).await;
    }
    // The same name is another invocation.
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage.completed("run").await;
    let again = stage.jobs_of("run").await;
    assert!(
        again.keys().all(|name| !jobs.contains_key(name)),
        "{again:?}"
    );
}

#[tokio::test]
async fn who_is_disabled_or_asks_for_nothing_is_complete_at_once() {
    let stage = Stage::shared("jobs-none").await;
    stage
        .invoke("off", json!({"jobs": ["fix"], "disabled": true}))
        .await;
    stage.invoke("empty", json!({"testing": {"iqe": {}}})).await;
    for name in ["off", "empty"] {
        let invocation = stage.completed(name).await;
        assert_eq!(invocation["status"]["jobMap"], json!({}));
        assert_eq!(conditions(&invocation)[2][1], "True");
        let complete = format!(
            "Normal ClowdJobInvocationComplete: ClowdJobInvocation [{name}] has completed all jobs"
        );
        stage.event_here(name, &complete).await;
    }
    let disabled =
        "Normal ClowdJobInvocationDisabled: ClowdJobInvocation [off] is disabled; no jobs will run";
    stage.event_here("off", disabled).await;
    assert!(stage.names(JOB).await.is_empty());
}

#[tokio::test]
async fn an_invocation_waits_for_its_app_and_for_its_environment() {
    let stage = Stage::shared("jobs-early").await;
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage
        .invocation_failed("run", "clowdapps.cloud.redhat.com \"shop\" not found")
        .await;
    let missing = "Warning ClowdAppMissing: ClowdApp [shop] is missing; Job cannot be invoked";
    stage.event_here("run", missing).await;
    stage.create_app("shop", app_with_jobs(1)).await;
    stage
        .invoke("forced", json!({"jobs": ["fix"], "runOnNotReady": true}))
        .await;
    let name = stage.environment.clone();
    let words = format!("ClowdEnvironment.cloud.redhat.com \"{name}\" not found");
    let event =
        format!("Warning ClowdEnvMissing: ClowdEnv [{name}] is missing; Job cannot be invoked");
    // An app of which nothing is deployed counts as ready, also without an environment.
    for invocation in ["run", "forced"] {
        stage.invocation_failed(invocation, &words).await;
        stage.event_here(invocation, &event).await;
    }
    stage.ready_environment(json!({})).await;
    for invocation in ["run", "forced"] {
        stage.completed(invocation).await;
        assert_eq!(stage.jobs_of(invocation).await.len(), 1);
    }
}

#[tokio::test]
async fn an_app_that_is_not_ready_is_waited_for_unless_told_otherwise() {
    let stage = Stage::shared("jobs-unready").await;
    stage.ready_environment(json!({})).await;
    stage.namespace.forbid_pods().await;
    let mut app = app_with_jobs(1);
    app["deployments"][0]["replicas"] = json!(1);
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage
        .invoke("forced", json!({"jobs": ["fix"], "runOnNotReady": true}))
        .await;
    stage
        .invocation_failed("run", "The shop app must be ready for CJI to start: ")
        .await;
    let unready = "Warning ClowdAppNotReady: ClowdApp [shop] is not ready";
    stage.event_here("shop", unready).await;
    let running = stage
        .invocation_when("forced", "has started", |invocation| {
            invocation["status"]["jobMap"]
                .as_object()
                .is_some_and(|jobs| jobs.len() == 1)
        })
        .await;
    assert_eq!(running["status"]["completed"], false);
    assert_eq!(conditions(&running)[0][3], "Some Jobs are still incomplete");
    assert!(stage.jobs_of("run").await.is_empty());
    stage.namespace.allow_pods().await;
    stage.completed("run").await;
    stage.completed("forced").await;
}

#[tokio::test]
async fn a_job_that_fails_has_ended_too() {
    let stage = Stage::shared("jobs-fail").await;
    stage.ready_environment(json!({})).await;
    let mut app = app_with_jobs(1);
    app["jobs"][0]["activeDeadlineSeconds"] = json!(1);
    stage.create_app("shop", app).await;
    stage.app_ready("shop").await;
    stage.namespace.forbid_pods().await;
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    let invocation = stage.completed("run").await;
    let states = invocation["status"]["jobMap"].as_object().unwrap().values();
    assert_eq!(states.collect::<Vec<_>>(), [&json!("Failed")]);
}

#[tokio::test]
async fn jobs_that_cannot_be_started_are_named_and_heal_with_the_app() {
    let stage = shop("jobs-bad").await;
    let long = "l".repeat(55);
    let mut app = app_with_jobs(1);
    app["jobs"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": long, "podSpec": {"image": "registry.test/long:1"}}));
    app["jobs"].as_array_mut().unwrap().push(json!({
        "name": "two", "podSpec": {"image": "registry.test/two:1", "initContainers": [{"command": ["a"]}, {"command": ["b"]}]},
    }));
    stage.patch_app("shop", json!({"spec": app})).await;
    stage.app_ready("shop").await;
    let tag = json!({"annotations": {"clowder.redhat.com/expected-image-tag": "2"}});
    stage
        .invoke_with("tag", tag, json!({"jobs": ["fix"]}))
        .await;
    for (name, jobs) in [
        ("unknown", json!(["fix", "later"])),
        ("disabled", json!(["off"])),
        ("long", json!([long])),
        ("unnamed", json!(["two"])),
    ] {
        stage.invoke(name, json!({"jobs": jobs})).await;
    }
    stage
        .invocation_failed(
            "tag",
            "ClowdApp [shop] job images do not contain expected tag [2]: ",
        )
        .await;
    stage.event_here("tag", "Warning ImageTagMismatch: ClowdApp [shop] does not yet have expected image tag [2]; requeueing").await;
    stage
        .invocation_failed("unknown", "No such job later: ")
        .await;
    stage
        .event_here(
            "shop",
            "Warning JobNameMissing: ClowdApp [later] has no job defined for that name",
        )
        .await;
    stage
        .invocation_failed("disabled", "Job [off] is disabled: ")
        .await;
    stage
        .event_here(
            "shop",
            "Warning JobNameMissing: ClowdApp [off] has no job defined for that name",
        )
        .await;
    let refused = stage
        .invocation_when("long", "is refused", |invocation| {
            failure(invocation).is_some()
        })
        .await;
    let words = failure(&refused).unwrap();
    assert!(
        words.starts_with(&format!("[shop-{long}-"))
            && words.ends_with("] contains a label with character length greater than 63: "),
        "{words}"
    );
    stage
        .event_here(
            "long",
            &format!("Warning JobNotInvoked: Job [{long}] could not be invoked"),
        )
        .await;
    stage
        .invocation_failed("unnamed", "multiple init containers must have name")
        .await;
    stage
        .event_here(
            "unnamed",
            "Warning JobNotInvoked: Job [two] could not be invoked",
        )
        .await;
    assert!(stage.names(JOB).await.is_empty(), "nothing half done");

    let mut app = app_with_jobs(2);
    app["jobs"][2]["disabled"] = json!(false);
    app["jobs"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "later", "podSpec": {"image": "registry.test/later:2"}}));
    stage.patch_app("shop", json!({"spec": app})).await;
    for (name, count) in [("tag", 1), ("unknown", 2), ("disabled", 1)] {
        stage.completed(name).await;
        let jobs = stage.jobs_of(name).await;
        assert_eq!(jobs.len(), count, "{name}");
        for job in jobs.values() {
            let image = container(job)["image"].as_str().unwrap();
            assert!(image.ends_with(":2"), "{image}");
        }
    }
}

#[tokio::test]
async fn what_the_api_refuses_is_tried_again_and_what_was_made_is_not_made_twice() {
    let stage = Stage::shared("jobs-refused").await;
    stage.ready_environment(json!({})).await;
    let mut app = app_with_jobs(1);
    app["jobs"][1]["schedule"] = json!("");
    app["jobs"][1]["podSpec"]["resources"] = json!({"requests": {"memory": "4Gi"}});
    stage.create_app("shop", app).await;
    stage.app_ready("shop").await;
    stage.invoke("run", json!({"jobs": ["fix", "sweep"]})).await;
    let refused = stage
        .invocation_when("run", "is refused", |invocation| {
            failure(invocation).is_some()
        })
        .await;
    let words = failure(&refused).unwrap();
    assert!(
        words.starts_with("error creating resource Job shop-sweep-")
            && words.contains("memory limit"),
        "{words}"
    );
    assert_eq!(refused["status"]["jobMap"], json!({}));
    assert_eq!(conditions(&refused)[2][1], "False");
    stage
        .patch_app("shop", json!({"spec": app_with_jobs(1)}))
        .await;
    stage.completed("run").await;
    assert_eq!(stage.jobs_of("run").await.len(), 2);
}

#[tokio::test]
async fn jobs_are_made_from_the_newest_app() {
    let stage = shop("jobs-newest").await;
    for version in 2..8 {
        let name = format!("run-{version}");
        stage
            .patch_app("shop", json!({"spec": app_with_jobs(version)}))
            .await;
        stage.invoke(&name, json!({"jobs": ["fix"]})).await;
        stage.completed(&name).await;
        let jobs = stage.jobs_of(&name).await;
        let images: Vec<&Value> = jobs.values().map(|job| &container(job)["image"]).collect();
        assert_eq!(images, [&json!(format!("registry.test/fix:{version}"))]);
    }
}

#[tokio::test]
async fn tests_run_with_browsers_vault_and_the_configuration_of_the_environment() {
    let stage = Stage::shared("jobs-iqe").await;
    stage.ready_environment(tested(&stage.namespace.name)).await;
    let mut app = app_with_jobs(1);
    app["testing"] = json!({"iqePlugin": "shop-plugin"});
    stage.create_app("shop", app).await;
    stage.create_app("stock", web_app()).await;
    stage.app_ready("shop").await;
    stage.app_ready("stock").await;
    let iqe = json!({"marker": "smoke", "ui": {"selenium": {"deploy": true}, "playwright": {"deploy": true}}});
    stage
        .invoke("smoke", json!({"jobs": ["fix"], "testing": {"iqe": iqe}}))
        .await;
    stage
        .invocation_failed("smoke", "Secret \"vault\" not found")
        .await;
    eventually("the event names the Job", || async {
        let events = stage.events(&stage.namespace.name, "smoke").await;
        let told = events.iter().any(|event| {
            event.starts_with("Warning IQEJobFailure: Job [smoke-iqe-")
                && event.ends_with("] failed to invoke")
        });
        told.then_some(())
    })
    .await;
    assert!(stage.names(JOB).await.is_empty(), "not even the other job");
    stage
        .put_secret("vault", json!({}), json!({"url": "https://vault.test"}))
        .await;
    stage.completed("smoke").await;
    let jobs = stage.jobs_of("smoke").await;
    assert_eq!(jobs.len(), 2);
    let (name, job) = jobs
        .iter()
        .find(|(name, _)| name.starts_with("smoke-iqe-"))
        .unwrap();
    let pod = &job["spec"]["template"]["spec"];
    stage
        .get(SERVICE_ACCOUNT, pod["serviceAccountName"].as_str().unwrap())
        .await;
    assert_eq!(pod["initContainers"].as_array().unwrap().len(), 2);
    assert_eq!(container(job)["image"], "registry.test/iqe:shop-plugin");
    let config: Value =
        serde_json::from_str(&stage.secret("smoke-iqe").await["cdenvconfig.json"]).unwrap();
    assert_eq!(config["cdappconfigs"]["shop"], stage.config("shop").await);
    assert_eq!(config["cdappconfigs"]["stock"], stage.config("stock").await);
    let copy = stage.get(SECRET, "smoke-vault").await;
    assert_eq!(copy["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(
        stage.secret("smoke-vault").await["url"],
        "https://vault.test"
    );
    stage
        .event_here(
            "smoke",
            &format!("Normal IQEJobInvoked: Job [{name}] was invoked successfully"),
        )
        .await;
}

#[tokio::test]
async fn what_waits_or_has_run_costs_nothing() {
    let stage = Stage::alone("jobs-quiet").await;
    let mut operator = stage.operator(&[]).await;
    stage.ready_environment(json!({})).await;
    stage.create_app("shop", app_with_jobs(1)).await;
    stage.app_ready("shop").await;
    // A Job that ended at once would cost one status less.
    stage.namespace.forbid_pods().await;
    let mark = stage.at_rest().await;
    let here = stage.namespace.name.clone();
    stage.invoke("run", json!({"jobs": ["fix"]})).await;
    stage
        .invocation_when("run", "has started", |invocation| {
            invocation["status"]["jobMap"]
                .as_object()
                .is_some_and(|jobs| jobs.len() == 1)
        })
        .await;
    stage.namespace.allow_pods().await;
    stage.completed("run").await;
    // Events come last.
    let complete =
        "Normal ClowdJobInvocationComplete: ClowdJobInvocation [run] has completed all jobs";
    stage.event_here("run", complete).await;
    let sent = mark.settled(&here).await;
    let reads: Vec<&Entry> = sent.iter().filter(|entry| !entry.is_write()).collect();
    assert_eq!(reads.len(), 2, "the app and the invocation: {reads:?}");
    let mut written = mark.carried_out(&here);
    written.retain(|word| !word.contains("events"));
    assert_eq!(
        written.len(),
        3,
        "the Job and twice the status: {written:?}"
    );

    stage
        .invoke("absent", json!({"appName": "absent", "jobs": ["fix"]}))
        .await;
    stage.invoke("unknown", json!({"jobs": ["unknown"]})).await;
    for name in ["absent", "unknown"] {
        stage
            .invocation_when(name, "fails", |invocation| failure(invocation).is_some())
            .await;
    }
    let missing = "Warning ClowdAppMissing: ClowdApp [absent] is missing; Job cannot be invoked";
    stage.event_here("absent", missing).await;
    let lacking = "Warning JobNameMissing: ClowdApp [unknown] has no job defined for that name";
    stage.event_here("shop", lacking).await;
    let mark = Mark::quiet(stage.plane.audit_log(), &here).await;
    // Longer than waiting invocations are left alone.
    tokio::time::sleep(Duration::from_secs(17)).await;
    assert_eq!(mark.settled(&here).await, [], "who waits");
    operator.process.terminate().await;
    drop(operator);
    let _operator = stage.operator(&[]).await;
    let mut written = mark.settled(&here).await;
    written.retain(|entry| entry.is_write() && entry.resource != "events");
    assert_eq!(written, [], "a restart");
}
