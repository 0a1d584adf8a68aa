//! What deployments and jobs become.

use serde_json::{Value, json};

use super::stage::{
    AUTOSCALER, CRON_JOB, DEPLOYMENT, SERVICE, Stage, container, deployment, each, patch_object,
};

fn plain(name: &str) -> Value {
    json!({"name": name, "replicas": 0, "podSpec": {"image": "registry.test/shop:1"}})
}

fn with(name: &str, change: &Value) -> Value {
    let mut deployment = plain(name);
    super::stage::merge(&mut deployment, change);
    deployment
}

/// Names and numbers of the ports of a Service.
fn service_ports(service: &Value) -> Vec<(Value, Value)> {
    let ports = &service["spec"]["ports"];
    let names = each(ports, "name").into_iter();
    names.zip(each(ports, "port")).collect()
}

/// Names and numbers of the ports of the first container.
fn container_ports(deployment: &Value) -> Vec<(Value, Value)> {
    let ports = &container(deployment)["ports"];
    let names = each(ports, "name").into_iter();
    names.zip(each(ports, "containerPort")).collect()
}

/// Names and numbers.
type Ports<'a> = &'a [(&'a str, u16)];

fn ports(expected: Ports) -> Vec<(Value, Value)> {
    let values = expected
        .iter()
        .map(|&(name, port)| (json!(name), json!(port)));
    values.collect()
}

#[tokio::test]
async fn ports_and_probes_follow_the_web_services() {
    let stage = Stage::shared("web-ports").await;
    stage.ready_environment(json!({})).await;
    let deployments = json!([
        plain("plain"),
        deployment("public"),
        with("old", &json!({"web": true})),
        with(
            "private",
            &json!({"webServices": {"private": {"enabled": true}}})
        ),
    ]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;

    let public = [("public", 8000), ("metrics", 9000)];
    let public_container = [("web", 8000), ("metrics", 9000)];
    let rows: [(&str, Ports, Ports, bool); 4] = [
        ("plain", &[("metrics", 9000)], &[("metrics", 9000)], false),
        ("public", &public, &public_container, true),
        ("old", &public, &public_container, true),
        (
            "private",
            &[("private", 10000), ("metrics", 9000)],
            &[("private", 10000), ("metrics", 9000)],
            false,
        ),
    ];
    for (name, in_service, in_container, probed) in rows {
        let name = format!("shop-{name}");
        let service = stage.get(SERVICE, &name).await;
        assert_eq!(service_ports(&service), ports(in_service), "{name}");
        let deployment = stage.get(DEPLOYMENT, &name).await;
        assert_eq!(container_ports(&deployment), ports(in_container), "{name}");
        for probe in ["livenessProbe", "readinessProbe"] {
            let probe = &container(&deployment)[probe];
            assert_eq!(probe.is_object(), probed, "{name}: {probe}");
            if probed {
                assert_eq!(probe["httpGet"]["path"], "/healthz", "{name}");
                assert_eq!(probe["httpGet"]["port"], 8000, "{name}");
            }
        }
        assert_eq!(deployment["spec"]["strategy"]["type"], "RollingUpdate");
    }

    let config = stage.config("shop").await;
    assert_eq!(config["privatePort"], 10000);
    assert_eq!(config["webPort"], 8000);
    assert_eq!(config["publicPort"], 8000);
    assert_eq!(
        each(&config["endpoints"], "name"),
        [json!("public"), json!("old")]
    );
    assert_eq!(config["privateEndpoints"][0]["port"], 10000);
    assert_eq!(config["metricsPort"], 9000);
}

#[tokio::test]
async fn a_private_strategy_counts_only_without_the_new_public_service() {
    let stage = Stage::shared("strategy").await;
    stage.ready_environment(json!({})).await;
    let recreate = json!({"deploymentStrategy": {"privateStrategy": "Recreate"}});
    let mut public = deployment("public");
    super::stage::merge(&mut public, &recreate);
    let mut old = with("old", &json!({"web": true}));
    super::stage::merge(&mut old, &recreate);
    let deployments = json!([public, old, with("private", &recreate)]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;
    for (name, expected) in [
        ("public", "RollingUpdate"),
        ("old", "Recreate"),
        ("private", "Recreate"),
    ] {
        let deployment = stage.get(DEPLOYMENT, &format!("shop-{name}")).await;
        assert_eq!(deployment["spec"]["strategy"]["type"], expected, "{name}");
    }
}

#[tokio::test]
async fn replicas_are_those_asked_for_and_zero_wins_over_an_autoscaler() {
    let stage = Stage::shared("replicas").await;
    stage
        .ready_environment(json!({"providers": {"autoScaler": {"mode": "enabled"}}}))
        .await;
    let scaler = json!({"replicas": {"min": 1, "max": 4}, "cpu": {"scaleAtUtilization": 80}});
    let image = json!({"image": "registry.test/shop:1"});
    let deployments = json!([
        with("asleep", &json!({"autoScalerSimple": scaler})),
        {"name": "least", "minReplicas": 2, "podSpec": image},
        {"name": "both", "minReplicas": 2, "replicas": 1, "podSpec": image},
        {"name": "unsaid", "podSpec": image},
        {"name": "scaled", "replicas": 1, "autoScalerSimple": scaler, "podSpec": image},
    ]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;
    for (name, expected) in [
        ("asleep", 0),
        ("least", 2),
        ("both", 1),
        ("unsaid", 1),
        ("scaled", 1),
    ] {
        let deployment = stage.get(DEPLOYMENT, &format!("shop-{name}")).await;
        assert_eq!(deployment["spec"]["replicas"], expected, "{name}");
    }
    assert_eq!(stage.names(AUTOSCALER).await.len(), 2);

    // What an autoscaler chose above the asked number stays; without one, the asked number returns.
    let deployments = stage.api(DEPLOYMENT);
    for name in ["shop-scaled", "shop-both"] {
        patch_object(&deployments, name, json!({"spec": {"replicas": 3}})).await;
    }
    stage
        .patch_app("shop", json!({"metadata": {"labels": {"round": "two"}}}))
        .await;
    // The drift alone is repaired as well, so that a replica count without the label says nothing of this round.
    for (name, expected) in [("shop-scaled", 3), ("shop-both", 1)] {
        mainstay_testkit::namespace::object_when(
            &deployments,
            name,
            &format!("has the label and {expected} replicas"),
            |deployment| {
                deployment["metadata"]["labels"]["round"] == "two"
                    && deployment["spec"]["replicas"] == expected
            },
        )
        .await;
    }
}

#[tokio::test]
async fn pods_get_tolerations_resources_and_init_containers() {
    let stage = Stage::shared("pods").await;
    stage.ready_environment(json!({})).await;
    let some = json!({"requests": {"memory": "600Mi"}, "limits": {"cpu": "900m"}});
    let deployments = json!([
        with("pooled", &json!({"podSpec": {"machinePool": "burst"}})),
        with("partly", &json!({"podSpec": {"resources": some}})),
        with(
            "started",
            &json!({"podSpec": {"initContainers": [{"command": ["migrate"], "inheritEnv": true}]}}),
        ),
    ]);
    stage
        .create_app("shop", json!({"deployments": deployments}))
        .await;
    stage.app_done("shop").await;

    let pooled = stage.get(DEPLOYMENT, "shop-pooled").await;
    assert_eq!(
        pooled["spec"]["template"]["spec"]["tolerations"],
        json!([{"effect": "NoSchedule", "key": "burst", "operator": "Equal", "value": "true"}])
    );
    let partly = stage.get(DEPLOYMENT, "shop-partly").await;
    let tolerations = &partly["spec"]["template"]["spec"]["tolerations"];
    assert!(
        tolerations.as_array().is_none_or(Vec::is_empty),
        "{tolerations}"
    );
    assert_eq!(
        container(&partly)["resources"],
        json!({
            "limits": {"cpu": "900m", "memory": "1Gi"},
            "requests": {"cpu": "30m", "memory": "600Mi"},
        })
    );
    let started = stage.get(DEPLOYMENT, "shop-started").await;
    let containers = &started["spec"]["template"]["spec"]["initContainers"];
    assert_eq!(containers.as_array().map(Vec::len), Some(1), "{containers}");
    assert_eq!(containers[0]["command"], json!(["migrate"]));
}

#[tokio::test]
async fn jobs_with_a_schedule_become_cron_jobs() {
    let stage = Stage::shared("jobs").await;
    stage.ready_environment(json!({})).await;
    let pod = json!({"image": "registry.test/shop:1"});
    let jobs = json!([
        {"name": "tidy", "schedule": "0 3 * * *", "podSpec": pod},
        {"name": "onrequest", "podSpec": pod},
        {"name": "off", "schedule": "0 3 * * *", "disabled": true, "podSpec": pod},
    ]);
    stage.create_app("shop", json!({"jobs": jobs})).await;
    stage.app_done("shop").await;
    assert_eq!(stage.names(CRON_JOB).await, ["shop-tidy"]);
    let job = stage.get(CRON_JOB, "shop-tidy").await;
    let template = &job["spec"]["jobTemplate"]["spec"]["template"];
    assert_eq!(job["spec"]["concurrencyPolicy"], "Allow");
    assert_eq!(template["spec"]["restartPolicy"], "Never");
    let ports = &template["spec"]["containers"][0]["ports"];
    assert_eq!(
        *ports,
        json!([{"containerPort": 9000, "name": "metrics", "protocol": "TCP"}])
    );
    for annotations in [
        &job["metadata"]["annotations"],
        &template["metadata"]["annotations"],
    ] {
        let names = annotations.as_object().unwrap().keys();
        let ignored = names.filter(|name| name.starts_with("ignore-check.kube-linter.io/"));
        assert!(ignored.count() > 0, "{annotations}");
    }

    stage.patch_app("shop", json!({"spec": {"jobs": []}})).await;
    stage.gone(CRON_JOB, "shop-tidy").await;
}
