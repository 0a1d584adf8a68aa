use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, case};

fn jobs(jobs: &Value) -> Case {
    let providers =
        json!({"web": {"mode": "none", "port": 8000}, "metrics": {"mode": "none", "port": 9000}});
    case(providers, json!({"jobs": jobs}))
}

#[test]
fn a_scheduled_job_becomes_a_cron_job_and_others_do_not() {
    let mut case = jobs(&json!([
        {"name": "sweep", "schedule": "5 * * * *", "podSpec": {"image": "sweep:1",
            "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}, "terminationGracePeriodSeconds": 7,
            "metadata": {"annotations": {"ignored": "1"}}, "livenessProbe": {}}},
        {"name": "off", "schedule": "5 * * * *", "disabled": true},
        {"name": "manual"}]));
    case.app["metadata"]["annotations"] = json!({"note": "1"});
    let rendered = case.render(&[&CronJobs]).unwrap();
    assert_eq!(rendered.names(), ["CronJob market/shop-sweep"]);
    let object = rendered.object("CronJob", "shop-sweep");
    let labels = json!({"app": "shop", "pod": "shop-sweep"});
    let linter = json!({"ignore-check.kube-linter.io/no-liveness-probe": "probes not required on Job pods",
        "ignore-check.kube-linter.io/no-readiness-probe": "probes not required on Job pods"});
    let mut annotations = linter.clone();
    annotations["note"] = json!("1");
    assert_eq!(object["metadata"]["annotations"], annotations);
    let spec = &object["spec"];
    assert_eq!(
        (&spec["schedule"], &spec["concurrencyPolicy"]),
        (&json!("5 * * * *"), &json!("Allow"))
    );
    assert_eq!(spec["jobTemplate"]["metadata"], json!({"labels": labels}));
    let template = &spec["jobTemplate"]["spec"]["template"];
    assert_eq!(
        template["metadata"],
        json!({"labels": labels, "annotations": linter})
    );
    let pod = &template["spec"];
    for (field, value) in [
        ("restartPolicy", json!("Never")),
        ("serviceAccountName", json!("shop-app")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
        ("dnsPolicy", json!("ClusterFirst")),
    ] {
        assert_eq!(pod[field], value, "{field}");
    }
    let container = &pod["containers"][0];
    assert_eq!(container["name"], "shop-sweep");
    assert_eq!(
        container["ports"],
        json!([{"name": "metrics", "containerPort": 9000, "protocol": "TCP"}])
    );
    assert_eq!(container["imagePullPolicy"], "IfNotPresent");
    assert_eq!(
        (&container["livenessProbe"], &container["lifecycle"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn every_setting_of_a_job_is_passed_on() {
    let mut case = jobs(
        &json!([{"name": "sweep", "schedule": "@daily", "parallelism": 2, "completions": 3,
        "restartPolicy": "OnFailure", "concurrencyPolicy": "Forbid", "suspend": true,
        "successfulJobsHistoryLimit": 4, "failedJobsHistoryLimit": 5, "startingDeadlineSeconds": 6,
        "activeDeadlineSeconds": 7,
        "podSpec": {"image": "sweep:latest", "livenessProbe": {"exec": {"command": ["ok"]}, "periodSeconds": 0},
            "initContainers": [{"command": ["prepare"]}]}}]),
    );
    case.environment["spec"]["providers"]["deployment"] = json!({"omitPullPolicy": true});
    let rendered = case.render(&[&CronJobs]).unwrap();
    let spec = &rendered.object("CronJob", "shop-sweep")["spec"];
    for (field, value) in [
        ("concurrencyPolicy", json!("Forbid")),
        ("suspend", json!(true)),
        ("successfulJobsHistoryLimit", json!(4)),
        ("failedJobsHistoryLimit", json!(5)),
        ("startingDeadlineSeconds", json!(6)),
    ] {
        assert_eq!(spec[field], value, "{field}");
    }
    let job = &spec["jobTemplate"]["spec"];
    let numbers = [
        &job["parallelism"],
        &job["completions"],
        &job["activeDeadlineSeconds"],
    ];
    assert_eq!(numbers.map(Value::as_i64), [Some(2), Some(3), Some(7)]);
    let pod = &job["template"]["spec"];
    assert_eq!(pod["restartPolicy"], "OnFailure");
    assert_eq!(
        pod["containers"][0]["livenessProbe"],
        json!({"exec": {"command": ["ok"]}})
    );
    assert_eq!(pod["containers"][0]["imagePullPolicy"], Value::Null);
    assert_eq!(pod["initContainers"][0]["name"], "shop-sweep-init");
}
