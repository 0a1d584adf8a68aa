use serde_json::{Value, json};

use super::*;
use crate::providers::{
    deployment::Deployments,
    fixture::{Case, Rendered, case},
    web::Web,
};

fn environment(mode: &str) -> Case {
    let metrics = json!({"mode": mode, "port": 9000, "path": "/metrics",
        "prometheus": {"deploy": true, "appInterfaceInternalURL": "http://shared:9090"},
        "prometheusGateway": {"deploy": true}});
    let providers = json!({"web": {"mode": "none", "port": 8000}, "metrics": metrics});
    let mut case = case(providers, json!({"deployments": [{"name": "api"}]}));
    case.settings.config.features.create_service_monitor = true;
    case
}

fn render(case: &Case) -> Rendered {
    case.render(&[&Deployments, &Web, &Metrics]).unwrap()
}

fn monitor(rendered: &Rendered) -> &Value {
    rendered.object("ServiceMonitor", "shop-api")
}

#[test]
fn every_mode_gives_a_port_and_only_two_a_monitor() {
    for mode in ["none", ""] {
        let case = environment(mode);
        let rendered = render(&case);
        assert_eq!(
            rendered.names(),
            ["Deployment market/shop-api", "Service market/shop-api"]
        );
        let port = json!([{"name": "metrics", "port": 9000, "targetPort": 9000, "protocol": "TCP", "appProtocol": "http"}]);
        assert_eq!(
            rendered.object("Service", "shop-api")["spec"]["ports"],
            port
        );
        let port = json!([{"name": "metrics", "containerPort": 9000, "protocol": "TCP"}]);
        assert_eq!(rendered.pod("shop-api")["containers"][0]["ports"], port);
        assert!(
            case.render_environment(&Metrics)
                .unwrap()
                .names()
                .is_empty()
        );
    }
    let error = environment("other").render(&[&Metrics]).unwrap_err();
    assert!(
        matches!(error, ProviderError::Setup(text) if text == "No matching metrics mode for other")
    );
}

#[test]
fn a_prometheus_of_others_finds_monitors_in_its_own_namespace() {
    let mut case = environment("app-interface");
    let rendered = render(&case);
    let monitor = monitor(&rendered);
    assert_eq!(
        monitor["metadata"]["namespace"],
        "openshift-customer-monitoring"
    );
    assert_eq!(
        monitor["metadata"]["labels"],
        json!({"app": "stage", "prometheus": "app-sre"})
    );
    assert_eq!(rendered.config["prometheusGateway"], Value::Null);
    assert!(
        case.render_environment(&Metrics)
            .unwrap()
            .names()
            .is_empty()
    );
    case.settings.config.features.create_service_monitor = false;
    assert_eq!(render(&case).names().len(), 2);
}

#[test]
fn a_prometheus_of_the_environment_may_look_into_the_app() {
    let rendered = render(&environment("operator"));
    assert_eq!(
        monitor(&rendered),
        &json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
            "metadata": {"name": "shop-api", "namespace": "stage-env",
                "labels": {"app": "stage", "prometheus": "stage"},
                "ownerReferences": [{"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
                    "name": "stage", "uid": "environment-uid", "controller": true}]},
            "spec": {"endpoints": [{"interval": "15s", "path": "/metrics", "port": "metrics"}],
                "namespaceSelector": {"matchNames": ["market"]},
                "selector": {"matchLabels": {"pod": "shop-api"}}}})
    );
    let binding = rendered.object("RoleBinding", "shop");
    assert_eq!(
        binding["roleRef"],
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "clowder-prometheus"})
    );
    assert_eq!(
        binding["subjects"],
        json!([{"kind": "ServiceAccount", "name": "prometheus", "namespace": "stage-env"}])
    );
    assert_eq!(
        binding["metadata"]["ownerReferences"][0]["kind"],
        "ClowdApp"
    );
    assert_eq!(
        rendered.config["prometheusGateway"],
        json!({"hostname": "stage-prometheus-gateway.stage-env.svc", "port": 9091})
    );
}

#[test]
fn an_environment_deploys_prometheus_and_its_gateway() {
    let mut case = environment("operator");
    let rendered = case.render_environment(&Metrics).unwrap();
    assert_eq!(
        rendered.names(),
        [
            "ServiceAccount stage-env/prometheus",
            "Prometheus stage-env/stage",
            "Subscription stage-env/prometheus",
            "Deployment stage-env/stage-prometheus-gateway",
            "Service stage-env/stage-prometheus-gateway",
            "ServiceMonitor stage-env/stage-prometheus-gateway",
        ]
    );
    let both = json!({"app": "stage", "env": "stage"});
    let server = rendered.object("Prometheus", "stage");
    assert_eq!(server["metadata"]["labels"], both);
    assert_eq!(
        server["spec"],
        json!({"serviceMonitorSelector": {"matchLabels": {"prometheus": "stage"}}, "serviceAccountName": "prometheus",
            "resources": {"requests": {"cpu": "50m", "memory": "200Mi"}, "limits": {"cpu": "400m", "memory": "400Mi"}},
            "arbitraryFSAccessThroughSMs": {}, "rules": {"alert": {}}})
    );
    let subscription = rendered.object("Subscription", "prometheus");
    assert_eq!(subscription["metadata"]["labels"], both);
    assert_eq!(
        subscription["spec"],
        json!({"channel": "beta", "installPlanApproval": "Automatic", "name": "prometheus",
            "source": "community-operators", "sourceNamespace": "openshift-marketplace",
            "startingCSV": "prometheusoperator.0.56.3"})
    );
    let labels = json!({"app": "prometheus-gateway", "env": "stage"});
    let gateway = rendered.object("Deployment", "stage-prometheus-gateway");
    assert_eq!(gateway["metadata"]["labels"], labels);
    assert_eq!(gateway["spec"]["selector"]["matchLabels"], labels);
    assert_eq!(
        gateway["spec"]["template"]["spec"]["containers"],
        json!([{"name": "prometheus-gateway", "image": "quay.io/prometheus/pushgateway:v1.11.1",
            "ports": [{"name": "http", "containerPort": 9091}],
            "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"cpu": "100m", "memory": "256Mi"}}}])
    );
    assert_eq!(
        rendered.object("Service", "stage-prometheus-gateway")["spec"],
        json!({"selector": labels, "ports": [{"name": "http", "port": 9091, "targetPort": 9091}]})
    );
    assert_eq!(
        rendered.object("ServiceMonitor", "stage-prometheus-gateway")["spec"],
        json!({"selector": {"matchLabels": labels}, "endpoints": [{"port": "http", "path": "/metrics"}],
            "namespaceSelector": {}})
    );

    case.target_namespace = "";
    let empty = "ClowdEnvironment stage has empty TargetNamespace";
    assert_eq!(
        case.render_environment(&Metrics).unwrap_err().to_string(),
        empty
    );
    assert_eq!(
        case.render(&[&Deployments, &Web, &Metrics])
            .unwrap_err()
            .to_string(),
        empty
    );
    case.environment["spec"]["providers"]["metrics"]["prometheus"]["deploy"] = json!(false);
    assert!(
        case.render_environment(&Metrics)
            .unwrap()
            .names()
            .is_empty()
    );
}

#[test]
fn images_of_the_gateway_come_from_the_environment_then_the_operator() {
    let mut case = environment("operator");
    let image = |case: &Case| {
        let rendered = case.render_environment(&Metrics).unwrap();
        rendered.pod("stage-prometheus-gateway")["containers"][0]["image"].clone()
    };
    case.settings.config.images.prometheus_gateway = "gateway:configured".to_owned();
    assert_eq!(image(&case), "gateway:configured");
    case.environment["spec"]["providers"]["metrics"]["prometheusGateway"]["image"] =
        json!("gateway:own");
    assert_eq!(image(&case), "gateway:own");
}
