use serde_json::{Value, json};

use super::*;
use crate::providers::{
    app_config::BrokerConfig,
    app_config::{KafkaConfig, SaslConfig},
    fixture::{Case, case},
};

fn scaled(deployment: &Value) -> Case {
    let mut deployment = deployment.clone();
    deployment["name"] = json!("api");
    let providers =
        json!({"autoScaler": {"mode": "enabled"}, "metrics": {"mode": "none", "port": 9000}});
    case(providers, json!({"deployments": [deployment]}))
}

#[test]
fn the_simple_way_wins_and_lists_memory_before_processor_time() {
    let case = scaled(
        &json!({"autoScaler": {}, "autoScalerSimple": {"replicas": {"min": 2, "max": 6},
        "ram": {"scaleAtUtilization": 80, "scaleAtValue": "300Mi"}, "cpu": {"scaleAtValue": "500m"}}}),
    );
    let rendered = case.render(&[&Autoscaler]).unwrap();
    assert_eq!(
        rendered.names(),
        ["HorizontalPodAutoscaler market/shop-api-hpa"]
    );
    let metric = |resource: &str, target: Value| json!({"type": "Resource", "resource": {"name": resource, "target": target}});
    assert_eq!(
        rendered.object("HorizontalPodAutoscaler", "shop-api-hpa"),
        &json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "shop-api-hpa", "namespace": "market", "ownerReferences": [
                {"apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp", "name": "shop", "uid": "app-uid"}]},
            "spec": {"minReplicas": 2, "maxReplicas": 6,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop-api"},
                "metrics": [
                    metric("memory", json!({"type": "Utilization", "averageUtilization": 80})),
                    metric("memory", json!({"type": "AverageValue", "averageValue": "300Mi"})),
                    metric("cpu", json!({"type": "AverageValue", "averageValue": "500m"}))]}})
    );
    let bad = scaled(
        &json!({"autoScalerSimple": {"replicas": {"min": 1, "max": 2}, "cpu": {"scaleAtValue": "lots"}}}),
    );
    assert_eq!(
        bad.render(&[&Autoscaler]).unwrap_err().to_string(),
        "lots is not a valid quantity of cpu: "
    );
}

#[test]
fn keda_is_told_the_bounds_and_the_address_of_prometheus() {
    let case = scaled(
        &json!({"autoScaler": {"cooldownPeriod": 90, "maxReplicaCount": 7,
        "fallback": {"failureThreshold": 3, "replicas": 4, "behavior": "static"},
        "advanced": {"restoreToOriginalReplicaCount": true},
        "triggers": [{"type": "cpu", "metadata": {"type": "Utilization", "value": "60"}},
            {"type": "prometheus", "name": "q", "authenticationRef": {"name": "auth"},
                "metadata": {"query": "up", "serverAddress": "mine"}}]}}),
    );
    let rendered = case.render(&[&Autoscaler]).unwrap();
    let object = rendered.object("ScaledObject", "shop-api");
    assert_eq!(object["apiVersion"], "keda.sh/v1alpha1");
    assert_eq!(
        object["metadata"]["labels"],
        json!({"app": "shop", "pod": "shop-api"})
    );
    assert_eq!(
        object["spec"],
        json!({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop-api"},
            "cooldownPeriod": 90, "minReplicaCount": 1, "maxReplicaCount": 7,
            "fallback": {"failureThreshold": 3, "replicas": 4},
            "advanced": {"restoreToOriginalReplicaCount": true},
            "triggers": [{"type": "cpu", "metadata": {"type": "Utilization", "value": "60"}},
                {"type": "prometheus", "name": "q", "authenticationRef": {"name": "auth"}, "metadata": {"query": "up",
                    "serverAddress": "http://prometheus-operated.stage-env.svc.cluster.local:9090"}}]})
    );
    let bare = scaled(&json!({"autoScaler": {}}))
        .render(&[&Autoscaler])
        .unwrap();
    assert_eq!(
        bare.object("ScaledObject", "shop-api")["spec"]["maxReplicaCount"],
        10
    );
    assert_eq!(
        bare.object("ScaledObject", "shop-api")["spec"]["triggers"],
        json!([])
    );
}

#[test]
fn a_kafka_trigger_is_told_the_brokers() {
    let mut case = scaled(
        &json!({"autoScaler": {"triggers": [{"type": "kafka", "metadata": {"topic": "t"}}]}}),
    );
    let error = case.render(&[&Autoscaler]).unwrap_err().to_string();
    assert_eq!(
        error,
        "a kafka trigger needs an environment that provides kafka: "
    );
    let broker = |hostname: &str, port, sasl| BrokerConfig {
        hostname: hostname.to_owned(),
        port,
        sasl,
        ..BrokerConfig::default()
    };
    let mut triggered = |sasl: Option<SaslConfig>| {
        case.config.kafka = Some(KafkaConfig {
            brokers: vec![broker("one", Some(9093), sasl), broker("two", None, None)],
            topics: Vec::new(),
        });
        let rendered = case.render(&[&Autoscaler]);
        rendered.map(|rendered| {
            rendered.object("ScaledObject", "shop-api")["spec"]["triggers"][0]["metadata"].clone()
        })
    };
    assert_eq!(
        triggered(None).unwrap(),
        json!({"topic": "t", "bootstrapServers": "one:9093,two"})
    );
    let login = SaslConfig {
        sasl_mechanism: Some("SCRAM-SHA-512".to_owned()),
        ..SaslConfig::default()
    };
    assert_eq!(
        triggered(Some(login)).unwrap(),
        json!({"topic": "t", "bootstrapServers": "one:9093,two", "sasl": "SCRAM-SHA-512", "tls": "enable"})
    );
    let error = triggered(Some(SaslConfig::default()))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "a kafka trigger needs an app that uses kafka topics: "
    );
}

#[test]
fn an_environment_without_scaling_leaves_everything_alone() {
    let mut case = scaled(&json!({"autoScaler": {}}));
    for (mode, keda, count) in [
        ("none", true, 0),
        ("", true, 0),
        ("keda", false, 1),
        ("enabled", true, 1),
    ] {
        case.environment["spec"]["providers"]["autoScaler"]["mode"] = json!(mode);
        case.settings.config.features.enable_keda_resources = keda;
        let rendered = case.render(&[&Autoscaler]).unwrap();
        assert_eq!(rendered.names().len(), count, "{mode}");
        if count == 1 {
            assert_eq!(rendered.set.prune.covers(&kinds::SCALED_OBJECT), keda);
        }
    }
}
