use mainstay_engine::ObjectKey;
use serde_json::{Value, json};

use super::*;
use crate::providers::fixture::{Case, Rendered, case, live};

fn web() -> Value {
    json!({"web": {"mode": "operator", "port": 8000}})
}

fn one(deployment: &Value) -> Case {
    let mut deployment = deployment.clone();
    deployment["name"] = json!("api");
    case(web(), json!({"deployments": [deployment]}))
}

fn render(case: &Case) -> Rendered {
    case.render(&[&Deployments]).unwrap()
}

fn container(rendered: &Rendered) -> &Value {
    &rendered.pod("shop-api")["containers"][0]
}

#[test]
fn a_plain_deployment_states_exactly_what_the_original_assigns() {
    let rendered = render(&one(&json!({"podSpec": {"image": "shop:1"}})));
    let labels = json!({"app": "shop", "pod": "shop-api"});
    let near = |weight, topology| {
        json!({"weight": weight,
            "podAffinityTerm": {"labelSelector": {"matchLabels": labels}, "topologyKey": topology}})
    };
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "shop-api", "namespace": "market", "labels": labels, "ownerReferences": [
            {"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp", "name": "shop", "uid": "app-uid",
                "controller": true}]},
        "spec": {
            "replicas": 1,
            "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": labels}, "spec": {
                "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                    near(100, "failure-domain.beta.kubernetes.io/zone"), near(99, "kubernetes.io/hostname")]}},
                "containers": [{
                    "name": "shop-api", "image": "shop:1", "imagePullPolicy": "IfNotPresent",
                    "env": [{"name": "ACG_CONFIG", "value": "/cdapp/cdappconfig.json"}],
                    "resources": {"limits": {"cpu": "400m", "memory": "512Mi"},
                        "requests": {"cpu": "40m", "memory": "64Mi"}},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "volumeMounts": [{"name": "config-secret", "mountPath": "/cdapp/"}]}],
                "volumes": [{"name": "config-secret", "secret": {"secretName": "shop", "defaultMode": 420}}],
            }},
        },
    });
    assert_eq!(rendered.object("Deployment", "shop-api"), &expected);
}

#[test]
fn probes_come_from_the_app_or_the_public_service() {
    let public = json!({"webServices": {"public": {"enabled": true}}, "podSpec": {}});
    let rendered = render(&one(&public));
    let usual = |delay| {
        json!({"httpGet": {"path": "/healthz", "port": 8000, "scheme": "HTTP"}, "initialDelaySeconds": delay,
            "periodSeconds": 30, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3})
    };
    assert_eq!(container(&rendered)["livenessProbe"], usual(10));
    assert_eq!(container(&rendered)["readinessProbe"], usual(45));

    let given = json!({"web": true, "podSpec": {
        "livenessProbe": {"httpGet": {"port": 8000}, "initialDelaySeconds": 7, "periodSeconds": 0},
        "readinessProbe": {"tcpSocket": {"port": 1}, "periodSeconds": 33, "failureThreshold": 9}}});
    let rendered = render(&one(&given));
    assert_eq!(
        container(&rendered)["livenessProbe"],
        json!({"httpGet": {"port": 8000, "path": "/", "scheme": "HTTP"}, "initialDelaySeconds": 7,
            "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3})
    );
    assert_eq!(
        container(&rendered)["readinessProbe"],
        json!({"tcpSocket": {"port": 1}, "periodSeconds": 33, "timeoutSeconds": 1, "successThreshold": 1,
            "failureThreshold": 9})
    );
}

#[test]
fn a_strategy_follows_the_public_service_unless_a_claim_is_mounted() {
    let strategy = |deployment: Value| {
        let rendered = render(&one(&deployment));
        rendered.object("Deployment", "shop-api")["spec"]["strategy"].clone()
    };
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}});
    let recreate = json!({"type": "Recreate"});
    let private = json!({"privateStrategy": "Recreate"});
    let public = json!({"public": {"enabled": true}});
    assert_eq!(strategy(json!({"deploymentStrategy": private})), recreate);
    assert_eq!(
        strategy(json!({"deploymentStrategy": private, "web": true})),
        recreate
    );
    assert_eq!(
        strategy(json!({"deploymentStrategy": private, "webServices": public})),
        rolling
    );
    assert_eq!(strategy(json!({"web": true})), rolling);
    let claim = json!({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]});
    assert_eq!(
        strategy(json!({"webServices": public, "podSpec": claim})),
        recreate
    );
}

#[test]
fn an_autoscaler_keeps_the_number_of_pods_that_it_chose() {
    let replicas = |deployment: Value, current: Option<i32>| {
        let mut case = one(&deployment);
        if let Some(current) = current {
            let key = ObjectKey::new(kinds::DEPLOYMENT, "market", "shop-api");
            case.snapshot
                .add_live(live(key, json!({"replicas": current})));
        }
        let rendered = render(&case);
        rendered.object("Deployment", "shop-api")["spec"]["replicas"]
            .as_i64()
            .unwrap()
    };
    let scaled = |wanted: i32| json!({"replicas": wanted, "autoScaler": {}});
    assert_eq!(replicas(json!({}), None), 1);
    assert_eq!(replicas(json!({"minReplicas": 3}), None), 3);
    assert_eq!(
        replicas(json!({"minReplicas": 3, "replicas": 2}), Some(9)),
        2
    );
    assert_eq!(replicas(scaled(2), Some(5)), 5);
    assert_eq!(replicas(scaled(2), Some(1)), 2);
    assert_eq!(replicas(scaled(0), Some(5)), 0);
    let simple = json!({"minReplicas": 2, "autoScalerSimple": {"replicas": {"min": 1, "max": 9}}});
    assert_eq!(replicas(simple, Some(4)), 4);
}

#[test]
fn a_live_selector_is_kept_and_matched_by_the_template() {
    let mut case = one(&json!({}));
    case.app["metadata"]["labels"] = json!({"tier": "gold", "team": "a"});
    let key = ObjectKey::new(kinds::DEPLOYMENT, "market", "shop-api");
    let selector = json!({"app": "shop", "pod": "shop-api", "tier": "silver"});
    case.snapshot
        .add_live(live(key, json!({"selector": selector})));
    let rendered = render(&case);
    let object = rendered.object("Deployment", "shop-api");
    assert_eq!(object["spec"]["selector"]["matchLabels"], selector);
    assert_eq!(object["metadata"]["labels"]["tier"], "gold");
    let labels = json!({"app": "shop", "pod": "shop-api", "team": "a", "tier": "silver"});
    assert_eq!(object["spec"]["template"]["metadata"]["labels"], labels);
}

#[test]
fn annotations_of_the_app_the_deployment_and_the_pod_meet() {
    let mut case = one(&json!({
        "metadata": {"annotations": {"of": "deployment", "deployment": "1"}},
        "podSpec": {"metadata": {"annotations": {"of": "pod"}}}}));
    case.app["metadata"]["annotations"] = json!({"of": "app", "app": "1"});
    let rendered = render(&case);
    let object = rendered.object("Deployment", "shop-api");
    let own = json!({"app": "1", "deployment": "1", "of": "deployment"});
    assert_eq!(object["metadata"]["annotations"], own);
    assert_eq!(
        object["spec"]["template"]["metadata"]["annotations"],
        json!({"of": "pod"})
    );
}

#[test]
fn parts_of_the_pod_are_passed_on_as_the_api_server_keeps_them() {
    let rendered = render(&one(&json!({"podSpec": {
        "image": "shop:1", "command": ["run"], "args": ["-v"],
        "env": [
            {"name": "ACG_CONFIG", "value": "mine"}, {"name": "EMPTY", "value": ""},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "lifecycle": {"preStop": {"exec": {"command": ["sleep"]}}},
        "terminationGracePeriodSeconds": 120,
        "machinePool": "gold",
        "volumes": [
            {"name": "c", "configMap": {"name": "c"}}, {"name": "s", "secret": {"secretName": "s", "defaultMode": 256}},
            {"name": "e", "emptyDir": {}}],
        "volumeMounts": [{"name": "c", "mountPath": "/c", "readOnly": false}],
    }})));
    let pod = rendered.pod("shop-api");
    let container = container(&rendered);
    assert_eq!(
        (&container["command"], &container["args"]),
        (&json!(["run"]), &json!(["-v"]))
    );
    let variables = json!([
        {"name": "EMPTY"},
        {"name": "POD", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
        {"name": "ACG_CONFIG", "value": "/cdapp/cdappconfig.json"}]);
    assert_eq!(container["env"], variables);
    assert_eq!(
        container["lifecycle"]["preStop"]["exec"]["command"],
        json!(["sleep"])
    );
    let mounts = json!([{"name": "c", "mountPath": "/c"}, {"name": "config-secret", "mountPath": "/cdapp/"}]);
    assert_eq!(container["volumeMounts"], mounts);
    assert_eq!(pod["terminationGracePeriodSeconds"], 120);
    let toleration =
        json!([{"key": "gold", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]);
    assert_eq!(pod["tolerations"], toleration);
    let volumes = json!([
        {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
        {"name": "s", "secret": {"secretName": "s", "defaultMode": 256}},
        {"name": "e", "emptyDir": {}},
        {"name": "config-secret", "secret": {"secretName": "shop", "defaultMode": 420}}]);
    assert_eq!(pod["volumes"], volumes);
}

#[test]
fn resources_are_completed_one_by_one() {
    let own = json!({"podSpec": {"resources": {"limits": {"memory": "1Gi", "nvidia.com/gpu": "1"}, "requests": {"cpu": "0"}}}});
    let mut case = one(&own);
    let expected = json!({"limits": {"cpu": "400m", "memory": "1Gi"}, "requests": {"cpu": "0", "memory": "64Mi"}});
    assert_eq!(container(&render(&case))["resources"], expected);
    case.environment["spec"]["resourceDefaults"] = json!({});
    let expected = json!({"limits": {"memory": "1Gi"}, "requests": {"cpu": "0", "memory": "0"}});
    assert_eq!(container(&render(&case))["resources"], expected);
}

#[test]
fn the_pull_policy_looks_behind_the_first_colon() {
    let policy = |omit: bool, image: &str| {
        let mut case = one(&json!({"podSpec": {"image": image}}));
        case.environment["spec"]["providers"]["deployment"] = json!({"omitPullPolicy": omit});
        container(&render(&case))["imagePullPolicy"].clone()
    };
    assert_eq!(policy(false, "shop:latest"), "IfNotPresent");
    assert_eq!(policy(true, "shop:latest"), "Always");
    assert_eq!(policy(true, "shop:1"), "IfNotPresent");
    assert_eq!(policy(true, "host:5000/shop:latest"), "IfNotPresent");
    assert_eq!(policy(true, "shop"), "IfNotPresent");
}

#[test]
fn init_containers_share_and_inherit() {
    let rendered = render(&one(&json!({"podSpec": {
        "image": "shop:1", "env": [{"name": "A", "value": "main"}, {"name": "B", "value": "main"}],
        "initContainers": [
            {"name": "first", "image": "first:1", "command": ["migrate"], "env": [{"name": "A", "value": "own"}]},
            {"name": "second", "inheritEnv": true, "args": ["x"], "env": [{"name": "A", "value": "own"}]}]}})));
    let containers = &rendered.pod("shop-api")["initContainers"];
    let config = json!({"name": "ACG_CONFIG", "value": "/cdapp/cdappconfig.json"});
    let (first, second) = (&containers[0], &containers[1]);
    assert_eq!(
        (&first["name"], &first["image"]),
        (&json!("first-init"), &json!("first:1"))
    );
    assert_eq!(first["env"], json!([config, {"name": "A", "value": "own"}]));
    assert_eq!(
        (&second["name"], &second["image"]),
        (&json!("second-init"), &json!("shop:1"))
    );
    assert_eq!(
        second["env"],
        json!([{"name": "A", "value": "own"}, {"name": "B", "value": "main"}, config])
    );
    for field in [
        "resources",
        "volumeMounts",
        "imagePullPolicy",
        "terminationMessagePath",
    ] {
        assert_eq!(second[field], container(&rendered)[field], "{field}");
    }
    let unnamed = render(&one(
        &json!({"podSpec": {"initContainers": [{"command": ["x"]}]}}),
    ));
    assert_eq!(
        unnamed.pod("shop-api")["initContainers"][0]["name"],
        "shop-api-init"
    );
}

#[test]
fn what_cannot_be_made_is_said_in_the_words_of_the_original() {
    let unnamed = one(&json!({"podSpec": {"initContainers": [{"name": "a"}, {}]}}));
    let error = unnamed.render(&[&Deployments]).unwrap_err().to_string();
    assert_eq!(error, "multiple init containers must have name");
    let twice = case(
        web(),
        json!({"deployments": [{"name": "api"}, {"name": "api"}]}),
    );
    let error = twice.render(&[&Deployments]).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot create: ident store [deployment] already has item named [market/shop-api]"
    );
}

#[test]
fn a_public_service_behind_a_local_login_is_annotated_for_the_webhook() {
    let mut case = one(&json!({"web": true}));
    case.environment["spec"]["providers"]["web"]["mode"] = json!("local");
    let rendered = render(&case);
    let annotations =
        &rendered.object("Deployment", "shop-api")["spec"]["template"]["metadata"]["annotations"];
    let expected = json!({"clowder/authsidecar-image": images::CADDY, "clowder/authsidecar-enabled": "true",
        "clowder/authsidecar-port": "8000", "clowder/authsidecar-config": "caddy-config-shop-api"});
    assert_eq!(annotations, &expected);
}
