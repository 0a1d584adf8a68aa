//! What is not ours is never touched, and what others add to ours is never taken away.

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use mainstay_testkit::{
    Namespace,
    audit::Mark,
    namespace::{object_gone, object_when},
};
use serde_json::{Value, json};

use crate::{condition, message, operated};

/// The ways in which an object of the right name can be somebody else's.
const HELD: [&str; 3] = ["unowned", "controlled", "labelled"];

/// Creates an object of each way, named after it, and returns them as they stand.
async fn foreign(
    namespace: &Namespace,
    api: &Api<DynamicObject>,
    object: &Value,
    settled: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let holder = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "holder"}});
    let holder = serde_json::from_value(holder).unwrap();
    let maps = namespace.api("v1", "ConfigMap", "configmaps");
    let holder = maps.create(&PostParams::default(), &holder).await.unwrap();
    let mut objects = Vec::new();
    for name in HELD {
        let mut object = object.clone();
        object["metadata"] = match name {
            // The owner exists, else the garbage collector would delete the object.
            "controlled" => json!({"name": name, "ownerReferences": [{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "holder",
                "uid": holder.metadata.uid, "controller": true,
            }]}),
            "labelled" => json!({"name": name, "labels": {
                "app.kubernetes.io/name": "kaoto", "app.kubernetes.io/instance": name,
                "app.kubernetes.io/component": "designer", "app.kubernetes.io/part-of": "kaoto",
                "app.kubernetes.io/managed-by": "kaoto-operator",
            }}),
            _ => json!({"name": name}),
        };
        let object = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
        objects.push(object_when(api, name, "has settled", &settled).await);
    }
    objects
}

/// Creates Kaotos of the same names, looks at what they say, and at the end of everything.
async fn left_alone(
    namespace: &Namespace,
    api: &Api<DynamicObject>,
    kind: &str,
    before: &[Value],
    log: Mark,
) {
    for name in HELD {
        namespace.create_kaoto(name, json!({"ingress": {}})).await;
    }
    for name in HELD {
        let kaoto = namespace
            .kaoto_when(name, "says Error", |kaoto| {
                kaoto["status"]["phase"] == "Error"
            })
            .await;
        for r#type in ["Service", "Ingress", "Deployment"] {
            let expected = if r#type == kind {
                "False Failure"
            } else {
                "True Deployed"
            };
            assert_eq!(condition(&kaoto, r#type), expected, "{type} of {name}");
        }
        let text = message(&kaoto, kind);
        assert!(
            text.contains(&format!("{kind} {}/{name}", namespace.name)),
            "{text}"
        );
        let holder = if name == "controlled" {
            "belongs to ConfigMap holder"
        } else {
            "was not created by this operator"
        };
        assert!(text.contains(holder), "{text}");
        namespace.delete_kaoto(name).await;
        object_gone(&namespace.kaotos(), name).await;
    }
    log.settled(&namespace.name).await;
    for (name, before) in HELD.iter().zip(before) {
        let now = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
        assert_eq!(now, *before);
    }
}

#[tokio::test]
async fn a_foreign_service_stays_as_it_is() {
    let (plane, namespace, _operator) = operated("their-service").await;
    let api = namespace.services();
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "spec": {"selector": {"app": "theirs"}, "ports": [{"name": "web", "port": 8080}]},
    });
    let before = foreign(&namespace, &api, &service, |_| true).await;
    let log = Mark::now(plane.audit_log());
    left_alone(&namespace, &api, "Service", &before, log).await;
}

#[tokio::test]
async fn a_foreign_ingress_stays_as_it_is() {
    let (plane, namespace, _operator) = operated("their-ingress").await;
    let api = namespace.ingresses();
    let ingress = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "spec": {"defaultBackend": {"service": {"name": "theirs", "port": {"number": 80}}}},
    });
    let before = foreign(&namespace, &api, &ingress, |_| true).await;
    let log = Mark::now(plane.audit_log());
    left_alone(&namespace, &api, "Ingress", &before, log).await;
}

#[tokio::test]
async fn a_foreign_deployment_stays_as_it_is() {
    let (plane, namespace, _operator) = operated("their-deployment").await;
    let api = namespace.deployments();
    // Paused and without pods, so that its own controller has nothing more to say.
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "spec": {
            "replicas": 0, "paused": true, "selector": {"matchLabels": {"app": "theirs"}},
            "template": {
                "metadata": {"labels": {"app": "theirs"}},
                "spec": {"containers": [{"name": "app", "image": "example.test/theirs:1"}]},
            },
        },
    });
    let settled = |deployment: &Value| {
        let conditions = deployment["status"]["conditions"].as_array();
        deployment["status"]["observedGeneration"] == 1
            && conditions.is_some_and(|conditions| conditions.len() == 2)
    };
    let before = foreign(&namespace, &api, &deployment, settled).await;
    let log = Mark::now(plane.audit_log());
    left_alone(&namespace, &api, "Deployment", &before, log).await;
}

#[tokio::test]
async fn once_the_foreign_object_is_gone_nobody_has_to_do_anything() {
    let (_plane, namespace, _operator) = operated("healing").await;
    let name = "designer";
    let api = namespace.services();
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}]},
    });
    let service = serde_json::from_value(service).unwrap();
    api.create(&PostParams::default(), &service).await.unwrap();
    namespace.create_kaoto(name, json!({})).await;
    namespace
        .kaoto_when(name, "says Error", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    api.delete(name, &DeleteParams::default()).await.unwrap();
    let kaoto = namespace.kaoto_ready(name).await;
    assert_eq!(condition(&kaoto, "Service"), "True Deployed");
    let service = api.get(name).await.unwrap();
    assert_eq!(
        service.metadata.owner_references.unwrap()[0].uid,
        kaoto["metadata"]["uid"].as_str().unwrap()
    );
}

#[tokio::test]
async fn what_others_add_to_our_objects_stays_while_drift_of_ours_is_repaired() {
    let (_plane, namespace, _operator) = operated("added").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    let metadata = json!({
        "labels": {"team": "blue", "app.kubernetes.io/part-of": "drift"},
        "annotations": {"example.test/note": "keep"},
    });
    let cases = [
        (
            namespace.services(),
            json!({"internalTrafficPolicy": "Local", "sessionAffinity": "ClientIP"}),
            json!({"internalTrafficPolicy": "Local", "sessionAffinity": "None"}),
        ),
        (
            namespace.ingresses(),
            json!({"ingressClassName": "theirs", "rules": [{"host": "drift.test"}]}),
            json!({"ingressClassName": "theirs"}),
        ),
        (
            namespace.deployments(),
            json!({"minReadySeconds": 7, "replicas": 2}),
            json!({"minReadySeconds": 7, "replicas": 1}),
        ),
    ];
    for (api, change, expected) in cases {
        let patch = json!({"metadata": metadata, "spec": change});
        api.patch("designer", &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .unwrap();
        let repaired = object_when(&api, "designer", "is repaired", |object| {
            object["metadata"]["labels"]["app.kubernetes.io/part-of"] == "kaoto"
        })
        .await;
        assert_eq!(repaired["metadata"]["labels"]["team"], "blue");
        assert_eq!(
            repaired["metadata"]["annotations"]["example.test/note"],
            "keep"
        );
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(repaired["spec"][field], *value, "{field}");
        }
        let host = &repaired["spec"]["rules"][0]["host"];
        assert!(host.is_null(), "the rule is ours again: {host}");
    }
}
