use mainstay_engine::{
    object_set::{Desired, Entry},
    options::Options,
    unit,
};
use serde_json::{Value, json};

use super::*;
use crate::fixture::{UID, input};

fn entries(cluster_type: ClusterType, spec: Value) -> Vec<Entry> {
    let input = input(cluster_type, spec);
    let set = labelled_set(kinds::declared(cluster_type), &input);
    let set = unit::render(units(cluster_type), set, &input).unwrap();
    set.iter().cloned().collect()
}

fn body(cluster_type: ClusterType, spec: Value, position: usize) -> Value {
    match &entries(cluster_type, spec)[position].desired {
        Desired::Present { body, .. } => body.clone(),
        Desired::Absent { because, .. } => panic!("absent because {because}"),
    }
}

fn common() -> Value {
    json!({
        "name": "canvas",
        "namespace": "studio",
        "labels": labels(),
        "ownerReferences": [{
            "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto", "name": "canvas", "uid": UID,
            "controller": true, "blockOwnerDeletion": true,
        }],
    })
}

fn labels() -> Value {
    json!({
        "app.kubernetes.io/name": "kaoto",
        "app.kubernetes.io/instance": "canvas",
        "app.kubernetes.io/component": "designer",
        "app.kubernetes.io/part-of": "kaoto",
        "app.kubernetes.io/managed-by": "kaoto-operator",
    })
}

fn with_annotations(annotations: Value) -> Value {
    let mut metadata = common();
    metadata["annotations"] = annotations;
    metadata
}

#[test]
fn the_units_run_in_the_order_of_the_original_actions() {
    let names =
        |units: &[&dyn Unit<KaotoInput>]| units.iter().map(|unit| unit.name()).collect::<Vec<_>>();
    assert_eq!(
        names(units(ClusterType::Vanilla)),
        ["service", "ingress", "deployment"]
    );
    assert_eq!(
        names(units(ClusterType::OpenShift)),
        ["service", "route", "deployment"]
    );
}

#[test]
fn the_service_states_these_fields_and_no_other() {
    assert_eq!(
        body(ClusterType::Vanilla, json!({}), 0),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": common(),
            "spec": {
                "selector": {"app.kubernetes.io/name": "kaoto", "app.kubernetes.io/instance": "canvas"},
                "sessionAffinity": "None",
                "publishNotReadyAddresses": true,
                "ports": [{"name": "http", "protocol": "TCP", "port": 8080, "targetPort": "http"}],
            },
        })
    );
}

#[test]
fn the_ingress_states_these_fields_and_no_other() {
    let expected = |rule: Value| {
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": with_annotations(json!({
                "nginx.ingress.kubernetes.io/use-regex": "true",
                "nginx.ingress.kubernetes.io/rewrite-target": "/$2",
            })),
            "spec": {"rules": [rule]},
        })
    };
    let http = |path: &str| {
        json!({"paths": [{
            "path": path,
            "pathType": "ImplementationSpecific",
            "backend": {"service": {"name": "canvas", "port": {"name": "http"}}},
        }]})
    };
    assert_eq!(
        body(ClusterType::Vanilla, json!({"ingress": {}}), 1),
        expected(json!({"http": http("/canvas(/|$)(.*)")}))
    );
    assert_eq!(
        body(
            ClusterType::Vanilla,
            json!({"ingress": {"host": "draw.test", "path": "/x/"}}),
            1
        ),
        expected(json!({"host": "draw.test", "http": http("/x(/|$)(.*)")}))
    );
}

#[test]
fn the_route_states_these_fields_and_no_other() {
    let spec = |path: &str| {
        json!({
            "path": path,
            "to": {"kind": "Service", "name": "canvas"},
            "port": {"targetPort": 8080},
            "tls": {"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect"},
        })
    };
    let route = |metadata: Value, spec: Value| json!({"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": metadata, "spec": spec});
    assert_eq!(
        body(ClusterType::OpenShift, json!({"ingress": {}}), 1),
        route(common(), spec("/"))
    );
    let mut with_host = spec("/x");
    with_host["host"] = json!("draw.test");
    assert_eq!(
        body(
            ClusterType::OpenShift,
            json!({"ingress": {"host": "draw.test", "path": "x"}}),
            1
        ),
        route(
            with_annotations(json!({"haproxy.router.openshift.io/rewrite-target": "/"})),
            with_host
        )
    );
}

#[test]
fn the_deployment_states_these_fields_and_no_other() {
    let probe = json!({
        "httpGet": {"path": "/", "port": 8080, "scheme": "HTTP"},
        "initialDelaySeconds": 5, "periodSeconds": 10, "timeoutSeconds": 10, "successThreshold": 1, "failureThreshold": 10,
    });
    let expected = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": common(),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": labels()},
                "spec": {
                    "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [{
                        "name": "kaoto",
                        "image": "draw:7",
                        "imagePullPolicy": "Always",
                        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                        "env": [{"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}],
                        "readinessProbe": probe,
                        "livenessProbe": probe,
                        "resources": {"requests": {"cpu": "500m", "memory": "600Mi"}},
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "runAsNonRoot": true,
                            "seccompProfile": {"type": "RuntimeDefault"},
                        },
                    }],
                },
            },
        },
    });
    for cluster_type in [ClusterType::Vanilla, ClusterType::OpenShift] {
        assert_eq!(body(cluster_type, json!({"image": "draw:7"}), 2), expected);
    }
}

#[test]
fn without_exposure_only_the_kind_of_this_cluster_is_unwanted() {
    for (cluster_type, kind) in [
        (ClusterType::Vanilla, "Ingress"),
        (ClusterType::OpenShift, "Route"),
    ] {
        let entries = entries(cluster_type, json!({}));
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1].key.to_string(), format!("{kind} studio/canvas"));
        assert_eq!(
            entries[1].desired,
            Desired::Absent {
                because: "spec.ingress is not set",
                options: Options::DEFAULT,
            }
        );
    }
}

#[test]
fn an_object_from_a_file_owns_nothing() {
    let stray = KaotoInput {
        uid: None,
        ..input(ClusterType::Vanilla, json!({"ingress": {}}))
    };
    let set = labelled_set(kinds::KINDS, &stray);
    let set = unit::render(VANILLA, set, &stray).unwrap();
    for body in set.bodies() {
        assert_eq!(body["metadata"].get("ownerReferences"), None);
    }
}
