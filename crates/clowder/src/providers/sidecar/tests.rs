use serde_json::{Value, json};

use super::*;
use crate::providers::{
    cronjob::CronJobs,
    deployment::Deployments,
    fixture::{Case, Rendered, case},
};

fn with_sidecars(provided: &Value, wanted: &Value) -> Case {
    let pod = json!({"sidecars": wanted, "initContainers": [{"name": "prep"}]});
    case(
        json!({"sidecars": provided}),
        json!({"deployments": [{"name": "api", "podSpec": pod}],
            "jobs": [{"name": "sweep", "schedule": "@daily", "podSpec": pod}, {"name": "manual", "podSpec": pod}]}),
    )
}

fn render(case: &Case) -> Rendered {
    case.render(&[&CronJobs, &Deployments, &Sidecars]).unwrap()
}

fn both() -> Value {
    json!([{"name": "token-refresher", "enabled": true}, {"name": "otel-collector", "enabled": true}])
}

#[test]
fn both_sides_have_to_want_a_sidecar() {
    let on = json!({"tokenRefresher": {"enabled": true}, "otelCollector": {"enabled": true}});
    let off = json!([{"name": "token-refresher", "enabled": false}, {"name": "otel-collector", "enabled": false}]);
    for (provided, wanted) in [(&on, &off), (&json!({}), &both())] {
        let rendered = render(&with_sidecars(provided, wanted));
        let pod = rendered.pod("shop-api");
        assert_eq!(pod["containers"].as_array().unwrap().len(), 1);
        assert_eq!(pod["initContainers"].as_array().unwrap().len(), 1);
    }
    let unknown = json!([{"name": "other", "enabled": false}]);
    let error = with_sidecars(&on, &unknown)
        .render(&[&CronJobs, &Deployments, &Sidecars])
        .unwrap_err();
    assert_eq!(error.to_string(), "other is not a valid sidecar name");
}

#[test]
fn deployments_and_cron_jobs_get_the_same_sidecars() {
    let on = json!({"tokenRefresher": {"enabled": true, "image": "ignored:1"}, "otelCollector": {"enabled": true}});
    let rendered = render(&with_sidecars(&on, &both()));
    let job = &rendered.object("CronJob", "shop-sweep")["spec"]["jobTemplate"]["spec"]["template"]
        ["spec"];
    for pod in [rendered.pod("shop-api"), job] {
        let refresher = &pod["containers"][1];
        assert_eq!(refresher["name"], "token-refresher");
        assert_eq!(refresher["image"], images::TOKEN_REFRESHER);
        let names: Vec<_> = refresher["env"]
            .as_array()
            .unwrap()
            .iter()
            .map(|variable| {
                let source = &variable["valueFrom"]["secretKeyRef"];
                assert_eq!(
                    source,
                    &json!({"name": "shop-token-refresher", "key": variable["name"]})
                );
                variable["name"].as_str().unwrap()
            })
            .collect();
        assert_eq!(
            names,
            ["CLIENT_ID", "CLIENT_SECRET", "ISSUER_URL", "SCOPE", "URL"]
        );
        assert_eq!(refresher["args"].as_array().unwrap().len(), 7);
        let amounts = json!({"limits": {"cpu": "100m", "memory": "150Mi"}, "requests": {"cpu": "50m", "memory": "128Mi"}});
        assert_eq!(refresher["resources"], amounts);
        let collector = &pod["initContainers"][1];
        assert_eq!(collector["name"], "otel-collector");
        assert_eq!(collector["restartPolicy"], "Always");
        assert_eq!(collector["image"], images::OTEL_COLLECTOR);
        let amounts = json!({"limits": {"cpu": "500m", "memory": "1024Mi"}, "requests": {"cpu": "250m", "memory": "512Mi"}});
        assert_eq!(collector["resources"], amounts);
        assert_eq!(collector["env"], Value::Null);
        assert_eq!(
            collector["volumeMounts"],
            json!([{"name": "shop-otel-config", "mountPath": "/etc/otelcol/"}])
        );
        let probe = json!({"httpGet": {"path": "/", "port": 13133}, "initialDelaySeconds": 20, "timeoutSeconds": 4,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3});
        assert_eq!(collector["livenessProbe"], probe);
        assert_eq!(collector["readinessProbe"]["initialDelaySeconds"], 40);
        let volume = json!({"name": "shop-otel-config", "configMap": {"name": "shop-otel-config", "optional": true}});
        assert_eq!(pod["volumes"][1], volume);
    }
}

#[test]
fn the_app_overrides_the_collector_of_the_environment() {
    let provided = json!({"otelCollector": {"enabled": true, "image": "otel:environment", "configMap": "environment",
        "memoryRequest": "300Mi", "memoryLimit": "900Mi",
        "envVars": [{"name": "LEVEL", "value": "info"}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}});
    let wanted = json!([{"name": "otel-collector", "enabled": true, "memoryLimit": "2Gi",
        "envVars": [{"name": "MORE", "value": "1"}, {"name": "LEVEL", "value": "debug"}],
        "volumeMounts": [{"name": "x", "mountPath": "/x"}]}]);
    let mut case = with_sidecars(&provided, &wanted);
    case.settings.config.images.otel_collector = "otel:operator".to_owned();
    let rendered = render(&case);
    let pod = rendered.pod("shop-api");
    let collector = &pod["initContainers"][1];
    assert_eq!(collector["image"], "otel:environment");
    let memory =
        ["limits", "requests"].map(|side| collector["resources"][side]["memory"].as_str().unwrap());
    assert_eq!(memory, ["2Gi", "300Mi"]);
    assert_eq!(
        collector["env"],
        json!([{"name": "LEVEL", "value": "debug"},
            {"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
            {"name": "MORE", "value": "1"}])
    );
    assert_eq!(
        collector["volumeMounts"][1],
        json!({"name": "x", "mountPath": "/x"})
    );
    assert_eq!(pod["volumes"][1]["configMap"]["name"], "environment");
    case.app["spec"]["deployments"][0]["podSpec"]["sidecars"][0]["memoryLimit"] = json!("much");
    let error = case
        .render(&[&CronJobs, &Deployments, &Sidecars])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "much is not a valid quantity of memory: ");
}
