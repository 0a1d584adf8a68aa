use serde_json::{Value, json};

use super::*;
use crate::providers::{
    effect::{Effect, Hidden},
    fixture::{Case, case, secret},
};

fn minio() -> Case {
    case(
        json!({"objectStore": {"mode": "minio"}}),
        json!({"objectStore": ["photos", "labels"]}),
    )
}

fn stored() -> Value {
    secret(
        "stage-env",
        "stage-minio",
        json!({"accessKey": "a", "secretKey": "s", "hostname": "minio.svc", "port": "9000"}),
    )
}

fn failure(case: &Case) -> String {
    case.render(&[&ObjectStore]).unwrap_err().to_string()
}

#[test]
fn the_server_is_the_same_in_every_pass() {
    let case = minio().among([stored()]);
    let environment = case.render_environment(&ObjectStore).unwrap();
    let app = case.render(&[&ObjectStore]).unwrap();
    for kind in ["Deployment", "Service"] {
        assert_eq!(
            environment.object(kind, "stage-minio"),
            app.object(kind, "stage-minio")
        );
    }
    let from_secret = |name, key| json!({"name": name, "valueFrom": {"secretKeyRef": {"name": "stage-minio", "key": key}}});
    let probe = |delay| {
        json!({"tcpSocket": {"port": 9000}, "initialDelaySeconds": delay, "timeoutSeconds": 2, "periodSeconds": 10,
            "successThreshold": 1, "failureThreshold": 3})
    };
    let labels = json!({"app": "stage", "env-app": "stage-minio"});
    let deployment = app.object("Deployment", "stage-minio");
    assert_eq!(
        deployment["metadata"]["ownerReferences"][0]["uid"],
        "environment-uid"
    );
    assert_eq!(
        deployment["spec"],
        json!({
            "replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {
                "serviceAccountName": "stage-env",
                "volumes": [{"name": "stage-minio", "emptyDir": {}}],
                "containers": [{"name": "stage-minio", "image": "minio/minio:RELEASE.2020-11-19T23-48-16Z-amd64",
                    "imagePullPolicy": "IfNotPresent", "args": ["server", "/storage"],
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "env": [from_secret("MINIO_ACCESS_KEY", "accessKey"), from_secret("MINIO_SECRET_KEY", "secretKey"),
                        from_secret("MINIO_ROOT_USER", "accessKey"), from_secret("MINIO_ROOT_PASSWORD", "secretKey")],
                    "ports": [{"name": "minio", "containerPort": 9000, "protocol": "TCP"}],
                    "volumeMounts": [{"name": "stage-minio", "mountPath": "/storage"}],
                    "livenessProbe": probe(10), "readinessProbe": probe(20)}]}},
        })
    );
    let policy = environment.object("NetworkPolicy", "allow-from-clowder-system-namespace");
    assert_eq!(policy["metadata"]["labels"], json!({"app": "stage"}));
    assert_eq!(
        policy["spec"],
        json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "clowder-system"}}}]}]})
    );
    assert!(
        app.names()
            .iter()
            .all(|name| !name.starts_with("NetworkPolicy"))
    );
}

#[test]
fn storage_and_image_are_the_environment_s_choice() {
    let mut case = minio();
    case.settings.config.images.object_store_minio = "settings:1".to_owned();
    case.environment["spec"]["providers"]["objectStore"]["pvc"] = json!(true);
    let rendered = case.render_environment(&ObjectStore).unwrap();
    assert_eq!(
        rendered.pod("stage-minio")["volumes"][0]["persistentVolumeClaim"],
        json!({"claimName": "stage-minio"})
    );
    assert_eq!(
        rendered.pod("stage-minio")["containers"][0]["image"],
        "settings:1"
    );
    let claim = rendered.object("PersistentVolumeClaim", "stage-minio");
    assert_eq!(
        claim["metadata"]["labels"],
        json!({"app": "stage", "env-app": "stage-minio"})
    );
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "1Gi");
    let secret = crate::views::SecretFacts::of(rendered.object("Secret", "stage-minio"));
    assert_eq!(
        secret.text("hostname").unwrap(),
        "stage-minio.stage-env.svc"
    );
    assert_eq!(secret.text("accessKey").unwrap().len(), 12);
}

#[test]
fn buckets_are_made_in_order_and_told_to_the_app() {
    let mut case = minio().among([stored()]);
    let bucket = |name: &str| json!({"accessKey": "a", "endpoint": "minio.svc", "name": name, "requestedName": name, "secretKey": "s"});
    assert_eq!(
        case.render(&[&ObjectStore]).unwrap().config["objectStore"],
        json!({"accessKey": "a",
        "buckets": [bucket("photos"), bucket("labels")], "hostname": "minio.svc", "port": 9000, "secretKey": "s", "tls": false})
    );
    for name in ["labels", "photos"] {
        let effect = Effect::Bucket {
            host: "minio.svc".to_owned(),
            port: 9000,
            access_key: Hidden("a".to_owned()),
            secret_key: Hidden("s".to_owned()),
            name: name.to_owned(),
        };
        case.snapshot.add_effect(&effect, Err(format!("no {name}")));
        assert_eq!(failure(&case), format!("no {name}"));
    }
}

#[test]
fn buckets_wait_until_the_keys_are_stored() {
    assert_eq!(failure(&minio()), "Secret \"stage-minio\" not found");
    let mut without_buckets = minio();
    without_buckets.app["spec"] = json!({});
    let rendered = without_buckets.render(&[&ObjectStore]).unwrap();
    assert_eq!(rendered.config.get("objectStore"), None);
    rendered.object("Deployment", "stage-minio");
    let broken = minio().among([secret("stage-env", "stage-minio", json!({"port": "x"}))]);
    assert!(matches!(
        broken.render(&[&ObjectStore]),
        Err(ProviderError::Setup(_))
    ));
}

fn app_interface(buckets: &Value) -> Case {
    case(
        json!({"objectStore": {"mode": "app-interface"}}),
        json!({"objectStore": buckets}),
    )
}

fn keys(name: &str, further: Value) -> Value {
    let mut values =
        json!({"aws_access_key_id": "a", "aws_secret_access_key": "s", "aws_region": "r"});
    let Value::Object(further) = further else {
        unreachable!("tests give objects")
    };
    values.as_object_mut().unwrap().extend(further);
    secret("market", name, values)
}

#[test]
fn app_interface_finds_buckets_by_the_beginning_of_their_names() {
    let mut listed = keys("z", json!({"endpoint": "listed.s3"}));
    listed["metadata"]["annotations"] = json!({"clowder/bucket-names": "notes,photos-listed"});
    let described = keys(
        "b",
        json!({"bucket": "photos-4711", "endpoint": "described.s3"}),
    );
    let hostless = keys("c", json!({"bucket": "labels-1"}));
    let case = app_interface(&json!(["photos", "labels", "notes"])).among([
        listed.clone(),
        described.clone(),
        hostless.clone(),
    ]);
    let bucket = |name: &str, requested: &str, endpoint: &str| json!({"accessKey": "a", "secretKey": "s", "region": "r", "tls": true, "name": name, "requestedName": requested, "endpoint": endpoint});
    assert_eq!(
        case.render(&[&ObjectStore]).unwrap().config["objectStore"],
        json!({
        "buckets": [bucket("photos-listed", "photos", "listed.s3"), bucket("labels-1", "labels", ""), bucket("notes", "notes", "listed.s3")],
        "hostname": "listed.s3", "port": 443, "tls": true})
    );
    let missing = app_interface(&json!(["x", "photos", "y"])).among([described]);
    assert_eq!(
        failure(&missing),
        "Missing buckets from app-interface: x, y: "
    );
    let hostless = app_interface(&json!(["labels", "x"])).among([hostless]);
    assert_eq!(
        failure(&hostless),
        "Could not find object store hostname from secrets: "
    );
}

#[test]
fn other_modes_give_nothing() {
    let rendered = case(
        json!({"objectStore": {"mode": "none"}}),
        json!({"objectStore": ["photos"]}),
    )
    .render(&[&ObjectStore])
    .unwrap();
    assert_eq!(
        (rendered.names(), rendered.config.get("objectStore")),
        (Vec::new(), None)
    );
    let unknown = case(json!({"objectStore": {"mode": "ceph"}}), json!({}));
    assert_eq!(
        failure(&unknown),
        "No matching object store mode for ceph: "
    );
}
