use proptest::prelude::*;

use super::*;

/// What comes of a pod that is given as JSON.
fn patched(pod: &Value) -> Result<Option<Value>, PodError> {
    patch(AskingPod::deserialize(pod).unwrap())
}

fn pod(annotations: Value, containers: Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shop"}});
    pod["metadata"]["annotations"] = annotations;
    pod["spec"]["containers"] = containers;
    pod
}

fn complete() -> Value {
    json!({ENABLED: "true", PORT: "8000", CONFIG: "caddy-config-shop-web", IMAGE: "registry.test/auth:1"})
}

fn without(annotation: &str) -> Value {
    let mut annotations = complete();
    annotations.as_object_mut().unwrap().remove(annotation);
    annotations
}

#[test]
fn a_pod_that_asks_gets_the_container_behind_the_others() {
    let patch = patched(&pod(complete(), json!([{"name": "web"}])))
        .unwrap()
        .unwrap();
    let stored = |key: &str| json!({"secretKeyRef": {"key": key, "name": "caddy-config-shop-web"}});
    let probe = |delay: u8| {
        json!({
            "tcpSocket": {"port": 8080}, "initialDelaySeconds": delay, "timeoutSeconds": 2,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        })
    };
    assert_eq!(
        patch,
        json!([{"op": "add", "path": "/spec/containers/-", "value": {
            "name": "crcauth",
            "image": "registry.test/auth:1",
            "imagePullPolicy": "IfNotPresent",
            "env": [
                {"name": "CADDY_PORT", "value": "8000"},
                {"name": "CADDY_BOP_URL", "valueFrom": stored("bopurl")},
                {"name": "CADDY_KEYCLOAK_URL", "valueFrom": stored("keycloakurl")},
                {"name": "CADDY_WHITELIST", "valueFrom": stored("whitelist")},
            ],
            "ports": [{"name": "auth", "containerPort": 8080, "protocol": "TCP"}],
            "livenessProbe": probe(10),
            "readinessProbe": probe(15),
            "resources": {
                "limits": {"cpu": "100m", "memory": "200Mi"},
                "requests": {"cpu": "50m", "memory": "100Mi"},
            },
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }}])
    );
}

#[test]
fn a_container_of_that_name_is_replaced_in_its_place() {
    let containers =
        json!([{"name": "web"}, {"name": "crcauth", "image": "old"}, {"name": "last"}]);
    let patch = patched(&pod(complete(), containers)).unwrap().unwrap();
    assert_eq!(
        (&patch[0]["op"], &patch[0]["path"]),
        (&json!("replace"), &json!("/spec/containers/1"))
    );
    assert_eq!(patch[0]["value"]["image"], "registry.test/auth:1");
}

#[test]
fn what_is_missing_is_named_in_order() {
    for (annotations, text) in [
        (without(PORT), "pod does not specify authsidecar port"),
        (without(CONFIG), "pod does not specify authsidecar config"),
        (without(IMAGE), "pod does not specify authsidecar image"),
        (
            json!({ENABLED: "true"}),
            "pod does not specify authsidecar port",
        ),
    ] {
        let refused = patched(&pod(annotations, json!([]))).unwrap_err();
        assert_eq!(refused.to_string(), text);
    }
}

#[test]
fn pods_that_do_not_ask_are_left_alone() {
    let mut off = complete();
    for word in ["false", "True", ""] {
        off[ENABLED] = json!(word);
        assert_eq!(patched(&pod(off.clone(), json!([]))).unwrap(), None);
    }
    for annotations in [without(ENABLED), json!({}), Value::Null] {
        assert_eq!(patched(&pod(annotations, json!([]))).unwrap(), None);
    }
    assert_eq!(patched(&json!({})).unwrap(), None);
}

#[test]
fn a_pod_without_containers_gets_a_list() {
    let pod = pod(complete(), Value::Null);
    let added = patched(&pod).unwrap().unwrap();
    assert_eq!(added[0]["path"], "/spec/containers");
    assert_eq!(added[0]["value"][0]["name"], "crcauth");
    let added = patched(&json!({"metadata": pod["metadata"]}))
        .unwrap()
        .unwrap();
    assert_eq!(added[0]["path"], "/spec");
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in ".{0,200}", annotation in ".{0,20}") {
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({
            "metadata": {"annotations": {ENABLED: annotation, PORT: text}}, "spec": {"containers": text},
        }));
        let _ = AskingPod::deserialize(&value).map(patch);
    }
}

#[test]
fn the_annotations_are_those_by_which_pods_are_annotated() {
    let words = |annotation: &str| json!({"metadata": {"annotations": {annotation: "x"}}});
    for (annotation, found) in [
        (ENABLED, |found: Annotations| found.enabled),
        (PORT, |found: Annotations| found.port),
        (CONFIG, |found: Annotations| found.config),
        (IMAGE, |found: Annotations| found.image),
    ] as [(&str, fn(Annotations) -> Option<String>); 4]
    {
        let pod = AskingPod::deserialize(&words(annotation)).unwrap();
        let value = found(pod.metadata.annotations.unwrap());
        assert_eq!(value.as_deref(), Some("x"), "{annotation}");
    }
}
