use mainstay_engine::outcome::Outcome;
use serde_json::json;

use super::fixture::{Case, Walked, case};
use super::*;

fn jobs(jobs: &[&str]) -> Case {
    let app = json!({"jobs": [
        {"name": "fix", "podSpec": {"image": "registry.test/fix:1.0"}},
        {"name": "sweep", "schedule": "5 * * * *", "podSpec": {"image": "registry.test/sweep:1.0"}},
        {"name": "off", "disabled": true, "podSpec": {"image": "registry.test/off:1.0"}},
        {"name": "l".repeat(60), "podSpec": {}},
        {"name": "unnamed", "podSpec": {"initContainers": [{"command": ["one"]}, {"command": ["two"]}]}},
    ]});
    case(app, json!({"jobs": jobs}))
}

fn job_names(walked: &Walked) -> Vec<&str> {
    let jobs = walked.objects.iter();
    jobs.map(|job| job["metadata"]["name"].as_str().unwrap())
        .collect()
}

fn conditions(walked: &Walked) -> Value {
    let conditions = walked.report.status["conditions"].as_array().unwrap();
    let rows = conditions.iter().map(|condition| {
        json!([
            condition["type"],
            condition["status"],
            condition["reason"],
            condition["message"]
        ])
    });
    rows.collect()
}

#[test]
fn jobs_are_started_and_remembered_by_name() {
    let walked = jobs(&["fix", "sweep"]).reconcile();
    let names = job_names(&walked);
    assert!(names[0].starts_with("shop-fix-") && names[1].starts_with("shop-sweep-"));
    assert_eq!(
        walked.report.status["jobMap"],
        json!({names[0]: "Invoked", names[1]: "Invoked"})
    );
    assert_eq!(walked.report.status["completed"], false);
    assert_eq!(
        conditions(&walked),
        json!([
            [
                "JobInvocationComplete",
                "False",
                "JobsIncomplete",
                "Some Jobs are still incomplete"
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
    let invoked =
        |name: &str| format!("Normal ClowdJobInvoked: Job [{name}] was invoked successfully");
    assert_eq!(walked.events(), [invoked(names[0]), invoked(names[1])]);
    assert_eq!(walked.report.outcome, Outcome::Success);
}

#[test]
fn a_pass_that_was_forgotten_asks_for_the_same_jobs() {
    let case = jobs(&["fix", "fix"]);
    let first = case.reconcile();
    let names = job_names(&first);
    assert_ne!(names[0], names[1], "twice the same job is two Jobs");
    assert_eq!(first.objects, case.reconcile().objects);
}

#[test]
fn who_has_run_starts_nothing_again() {
    for status in [
        json!({"completed": false, "jobMap": {"shop-fix-1234567": "Invoked"}}),
        json!({"completed": true, "jobMap": {}}),
        json!({"completed": false, "jobMap": {}, "jobs": ["shop-fix-1234567"]}),
    ] {
        let mut case = jobs(&["fix"]);
        case.invocation["status"] = status.clone();
        let walked = case.reconcile();
        assert!(walked.objects.is_empty(), "{status}");
        assert_eq!(conditions(&walked)[2][1], "True", "{status}");
    }
}

#[test]
fn an_old_list_of_jobs_is_kept_and_nothing_else_is_known() {
    let mut case = jobs(&["fix"]);
    case.invocation["status"] =
        json!({"completed": false, "jobs": ["a"], "jobMap": {"b": "Invoked"}});
    let status = case.reconcile().report.status;
    assert_eq!(status["jobs"], json!(["a"]));
    assert_eq!(status["jobMap"], json!({}));
    assert_eq!(status["completed"], false);
}

#[test]
fn it_is_complete_when_all_have_ended_well_or_not_and_stays_so() {
    let mut case = jobs(&["fix", "sweep"]);
    let invoked = json!({"completed": false, "jobMap": {"a": "Invoked", "b": "Invoked"}});
    case.invocation["status"] = invoked;
    case.jobs = vec![("a".to_owned(), "Complete"), ("b".to_owned(), "")];
    let half = case.reconcile().report.status;
    assert_eq!(half["jobMap"], json!({"a": "Complete", "b": "Invoked"}));
    assert_eq!(half["completed"], false);
    // The first is cleaned away while the second still runs.
    case.invocation["status"] = half;
    case.jobs = vec![("b".to_owned(), "Failed")];
    let walked = case.reconcile();
    assert_eq!(
        walked.report.status["jobMap"],
        json!({"a": "Complete", "b": "Failed"})
    );
    assert_eq!(walked.report.status["completed"], true);
    assert_eq!(
        conditions(&walked)[0],
        json!([
            "JobInvocationComplete",
            "True",
            "JobsComplete",
            "All ClowdJob invocations complete"
        ])
    );
    assert_eq!(
        walked.events(),
        ["Normal ClowdJobInvocationComplete: ClowdJobInvocation [run] has completed all jobs"]
    );
    case.invocation["status"] = walked.report.status.clone();
    case.jobs = Vec::new();
    let again = case.reconcile();
    assert_eq!(again.report.status, walked.report.status);
    assert!(again.events().is_empty(), "no news");
}

#[test]
fn who_is_disabled_or_asks_for_nothing_is_complete_at_once() {
    let mut case = jobs(&["fix"]);
    case.invocation["spec"]["disabled"] = json!(true);
    let walked = case.reconcile();
    assert!(walked.objects.is_empty());
    assert_eq!(walked.report.status["completed"], true);
    assert_eq!(walked.report.status["jobMap"], json!({}));
    let complete =
        "Normal ClowdJobInvocationComplete: ClowdJobInvocation [run] has completed all jobs";
    assert_eq!(
        walked.events(),
        [
            "Normal ClowdJobInvocationDisabled: ClowdJobInvocation [run] is disabled; no jobs will run",
            complete
        ]
    );
    for spec in [json!({}), json!({"testing": {"iqe": {}}})] {
        let walked = super::fixture::case(json!({}), spec).reconcile();
        assert_eq!(walked.report.status["completed"], true);
        assert_eq!(walked.events(), [complete]);
    }
}

/// Passes, expects a failure that is waited out, and returns its text with all events.
fn obstacle(case: &Case) -> (String, Vec<String>) {
    let walked = case.reconcile();
    assert!(walked.objects.is_empty());
    assert_eq!(walked.report.status["jobMap"], json!({}));
    assert_eq!(walked.report.status["completed"], false);
    assert!(matches!(walked.report.outcome, Outcome::Waiting { .. }));
    let conditions = conditions(&walked);
    assert_eq!(conditions[0][3], walked.failure(), "both say it");
    let mut events = walked.events();
    if walked.related_events.is_some() {
        let related_events = walked.events_aside().into_iter();
        events.extend(related_events.map(|event| format!("on the app: {event}")));
    }
    (walked.failure().to_owned(), events)
}

#[test]
fn every_gate_has_its_words() {
    let mut missing = jobs(&["fix"]);
    missing.invocation["spec"]["appName"] = json!("absent");
    assert_eq!(
        obstacle(&missing),
        (
            "clowdapps.cloud.redhat.com \"absent\" not found".to_owned(),
            vec![
                "Warning ClowdAppMissing: ClowdApp [absent] is missing; Job cannot be invoked"
                    .to_owned()
            ]
        )
    );
    let mut old = jobs(&["fix"]);
    old.app["metadata"]["generation"] = json!(3);
    let words = "ClowdApp [shop] has not been reconciled with the current generation (spec: 3, status: 2): ";
    assert_eq!(obstacle(&old), (words.to_owned(), Vec::new()));
    let mut tag = jobs(&["fix"]);
    tag.invocation["metadata"]["annotations"] =
        json!({"clowder.redhat.com/expected-image-tag": "2.0"});
    assert_eq!(
        obstacle(&tag),
        (
            "ClowdApp [shop] job images do not contain expected tag [2.0]: ".to_owned(),
            vec!["Warning ImageTagMismatch: ClowdApp [shop] does not yet have expected image tag [2.0]; requeueing".to_owned()]
        )
    );
    let mut unready = jobs(&["fix"]);
    unready.app["status"]["ready"] = json!(false);
    assert_eq!(
        obstacle(&unready),
        (
            "The shop app must be ready for CJI to start: ".to_owned(),
            vec!["on the app: Warning ClowdAppNotReady: ClowdApp [shop] is not ready".to_owned()]
        )
    );
    let mut homeless = jobs(&["fix"]);
    homeless.app["spec"]["envName"] = json!("gone");
    assert_eq!(
        obstacle(&homeless),
        (
            "ClowdEnvironment.cloud.redhat.com \"gone\" not found".to_owned(),
            vec![
                "Warning ClowdEnvMissing: ClowdEnv [gone] is missing; Job cannot be invoked"
                    .to_owned()
            ]
        )
    );
}

#[test]
fn gates_open_for_who_meets_them() {
    let mut forced = jobs(&["fix"]);
    forced.app["status"]["ready"] = json!(false);
    forced.invocation["spec"]["runOnNotReady"] = json!(true);
    assert_eq!(forced.reconcile().objects.len(), 1);
    let mut unmet = jobs(&["fix"]);
    unmet.app["status"] = json!({"ready": true});
    assert_eq!(
        unmet.reconcile().failure(),
        "The shop app must be ready for CJI to start: ",
        "nobody has looked at the app yet"
    );
    let mut tag = jobs(&["fix", "absent"]);
    tag.invocation["metadata"]["annotations"] =
        json!({"clowder.redhat.com/expected-image-tag": "1.0"});
    assert_eq!(tag.reconcile().failure(), "No such job absent: ");
}

#[test]
fn a_job_that_cannot_be_started_stops_the_others_and_leaves_no_trace() {
    let on_app = |job: &str| {
        vec![format!(
            "on the app: Warning JobNameMissing: ClowdApp [{job}] has no job defined for that name"
        )]
    };
    assert_eq!(
        obstacle(&jobs(&["fix", "absent"])),
        ("No such job absent: ".to_owned(), on_app("absent"))
    );
    assert_eq!(
        obstacle(&jobs(&["off"])),
        ("Job [off] is disabled: ".to_owned(), on_app("off"))
    );
    let long = "l".repeat(60);
    let (text, events) = obstacle(&jobs(&["fix", &long]));
    assert!(
        text.starts_with(&format!("[shop-{long}-"))
            && text.ends_with("] contains a label with character length greater than 63: "),
        "{text}"
    );
    assert_eq!(
        events,
        [format!(
            "Warning JobNotInvoked: Job [{long}] could not be invoked"
        )]
    );
    let (text, events) = obstacle(&jobs(&["fix", "unnamed"]));
    assert_eq!(text, "multiple init containers must have name");
    assert_eq!(
        events,
        ["Warning JobNotInvoked: Job [unnamed] could not be invoked"]
    );
}

#[test]
fn a_refused_write_is_a_failure_and_is_tried_again() {
    let mut case = jobs(&["fix"]);
    case.refused = Some("no room");
    let walked = case.reconcile();
    let name = walked.objects[0]["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        walked.failure(),
        format!("error creating resource Job {name}: no room")
    );
    assert_eq!(walked.report.status["jobMap"], json!({}));
    assert!(walked.events().is_empty());
    assert!(matches!(walked.report.outcome, Outcome::Transient { .. }));
}

#[test]
fn nothing_is_started_for_an_invocation_that_others_have_changed() {
    let case = jobs(&["fix"]);
    let mut newer = case.invocation.clone();
    newer["metadata"]["resourceVersion"] = json!("6");
    let walked = Case {
        others: vec![newer],
        ..case
    }
    .reconcile();
    assert!(walked.objects.is_empty());
    assert_eq!(walked.report.outcome, Outcome::Again);
    assert_eq!(walked.report.status, Value::Null, "and nothing is said");
}

#[test]
fn what_cannot_be_read_is_named_in_a_condition() {
    let mut case = jobs(&["fix"]);
    case.invocation["spec"]["jobs"] = json!("fix");
    let walked = case.reconcile();
    assert!(
        walked.failure().contains("string \"fix\""),
        "{}",
        walked.failure()
    );
    assert_eq!(walked.report.status["jobMap"], json!({}));
    assert!(matches!(walked.report.outcome, Outcome::Terminal { .. }));
}

#[test]
fn every_setting_of_a_job_reaches_its_pods() {
    let app = json!({"jobs": [{
        "name": "fix", "parallelism": 2, "completions": 3, "activeDeadlineSeconds": 60, "restartPolicy": "OnFailure",
        "podSpec": {
            "image": "registry.test/fix:latest", "command": ["mend"], "args": ["--all"],
            "env": [{"name": "MODE", "value": "night"}],
            "livenessProbe": {"exec": {"command": ["true"]}}, "readinessProbe": {},
            "machinePool": "batch", "terminationGracePeriodSeconds": 90,
            "volumes": [{"name": "work", "configMap": {"name": "work", "defaultMode": 0}}],
            "volumeMounts": [{"name": "work", "mountPath": "/work"}],
            "initContainers": [{"command": ["wait"], "inheritEnv": true}],
        },
    }]});
    let mut case = case(app, json!({"jobs": ["fix"]}));
    case.app["metadata"]["annotations"] = json!({"from": "app"});
    case.invocation["metadata"]["annotations"] = json!({"from": "invocation"});
    case.invocation["metadata"]["labels"] = json!({"team": "sales"});
    case.environment["spec"]["providers"]["web"]["tls"] = json!({"enabled": true});
    case.environment["spec"]["providers"]["deployment"] = json!({"omitPullPolicy": true});
    let walked = case.reconcile();
    let job = walked.one("Job");
    let name = job["metadata"]["name"].as_str().unwrap();
    let labels = json!({"clowdjob": "run", "job": "shop-fix", "team": "sales"});
    assert_eq!(job["metadata"]["labels"], labels);
    assert_eq!(job["metadata"]["annotations"]["from"], "app");
    assert_eq!(
        job["metadata"]["ownerReferences"],
        json!([{"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdJobInvocation", "name": "run",
            "uid": "run-uid", "controller": true}])
    );
    let spec = &job["spec"];
    assert_eq!(
        (
            &spec["parallelism"],
            &spec["completions"],
            &spec["activeDeadlineSeconds"],
            &spec["backoffLimit"]
        ),
        (&json!(2), &json!(3), &json!(60), &Value::Null)
    );
    let template = &spec["template"];
    assert_eq!(template["metadata"]["labels"], labels);
    assert_eq!(
        template["metadata"]["annotations"],
        json!({"from": "invocation",
            "ignore-check.kube-linter.io/no-liveness-probe": "probes not required on Job pods",
            "ignore-check.kube-linter.io/no-readiness-probe": "probes not required on Job pods"})
    );
    let pod = &template["spec"];
    assert_eq!(pod["restartPolicy"], "OnFailure");
    assert_eq!(pod["serviceAccountName"], "shop-app");
    assert_eq!(pod["tolerations"][0]["key"], "batch");
    assert_eq!(pod["terminationGracePeriodSeconds"], Value::Null);
    assert_eq!(
        pod["volumes"],
        json!([
            {"name": "work", "configMap": {"name": "work", "defaultMode": 0}},
            {"name": "config-secret", "secret": {"secretName": "shop"}},
            {"name": "tls-ca", "configMap": {"name": "openshift-service-ca.crt"}},
        ])
    );
    let container = &pod["containers"][0];
    assert_eq!(container["name"], name);
    assert_eq!(container["imagePullPolicy"], "Always");
    assert_eq!(container["ports"][0]["containerPort"], 9000);
    assert_eq!(
        container["env"],
        json!([{"name": "MODE", "value": "night"}, {"name": "ACG_CONFIG", "value": "/cdapp/cdappconfig.json"}])
    );
    assert!(container["livenessProbe"]["exec"].is_object());
    assert_eq!(container["readinessProbe"], Value::Null);
    let init = &pod["initContainers"][0];
    assert_eq!(init["name"], format!("{name}-init"));
    assert_eq!(init["volumeMounts"], container["volumeMounts"]);
}
