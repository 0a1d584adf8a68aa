//! What users of the original may rely on, one test per promise.

mod endpoint;
mod repair;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kube::api::{DeleteParams, PostParams};
use mainstay_testkit::{
    Namespace, Operator, Plane,
    audit::{Entry, Mark},
    fault::Fault,
    managed_fields::{self, Claims},
    namespace::{object_gone, object_when},
    operator::http_get,
    proxy::Proxy,
    wait::eventually,
};
use serde_json::{Value, json};

use crate::{condition, mainstay, message, operated, run};

const IMAGE: &str = "/spec/template/spec/containers/0/image";
const DEFAULT_IMAGE: &str = "quay.io/kaotoio/kaoto-app:stable";

#[tokio::test]
async fn without_ingress_there_are_a_service_and_a_deployment() {
    let (plane, namespace, _operator) = operated("plain").await;
    let mark = Mark::quiet(plane.audit_log(), &namespace.name).await;
    namespace.create_kaoto("designer", json!({})).await;
    let kaoto = namespace.kaoto_ready("designer").await;
    let conditions = kaoto["status"]["conditions"].as_array().unwrap().iter();
    let types: Vec<&str> = conditions
        .map(|condition| condition["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["Deployment", "Ingress", "Reconcile", "Service"]);
    assert_eq!(condition(&kaoto, "Ingress"), "False NotRequires");
    assert!(exists(&namespace.services(), "designer").await);
    assert!(exists(&namespace.deployments(), "designer").await);
    assert!(!exists(&namespace.ingresses(), "designer").await);
    let sent = mark.settled(&namespace.name).await;
    let writes: Vec<_> = sent.iter().filter(|entry| entry.is_write()).collect();
    assert_eq!(writes.len(), 4, "finalizer, two objects, status: {sent:?}");
    assert_eq!(sent.len(), 4, "and not one read: {sent:?}");
}

async fn exists(api: &kube::Api<kube::api::DynamicObject>, name: &str) -> bool {
    api.get_opt(name).await.unwrap().is_some()
}

#[tokio::test]
async fn an_empty_ingress_asks_for_an_ingress_that_rewrites_by_expression() {
    let (_plane, namespace, _operator) = operated("exposed").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Ingress"), "True Deployed");
    let ingress = namespace.ingresses().get("designer").await.unwrap();
    let annotations = ingress.metadata.annotations.clone().unwrap();
    assert_eq!(
        serde_json::to_value(annotations).unwrap(),
        json!({
            "nginx.ingress.kubernetes.io/use-regex": "true",
            "nginx.ingress.kubernetes.io/rewrite-target": "/$2",
        })
    );
    assert_eq!(
        ingress.data["spec"]["rules"],
        json!([{"http": {"paths": [{
            "path": "/designer(/|$)(.*)",
            "pathType": "ImplementationSpecific",
            "backend": {"service": {"name": "designer", "port": {"name": "http"}}},
        }]}}])
    );
}

#[tokio::test]
async fn an_ingress_that_is_no_longer_wanted_is_deleted() {
    let (_plane, namespace, _operator) = operated("unexposed").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    namespace
        .patch_kaoto("designer", json!({"spec": {"ingress": null}}))
        .await;
    object_gone(&namespace.ingresses(), "designer").await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Ingress"), "False NotRequires");
}

#[tokio::test]
async fn an_ingress_of_somebody_else_stays_when_none_is_wanted() {
    let (plane, namespace, _operator) = operated("foreign-ingress").await;
    let foreign = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "designer"},
        "spec": {"defaultBackend": {"service": {"name": "other", "port": {"number": 80}}}},
    });
    let foreign = serde_json::from_value(foreign).unwrap();
    let before = namespace
        .ingresses()
        .create(&PostParams::default(), &foreign)
        .await
        .unwrap();
    let mark = Mark::quiet(plane.audit_log(), &namespace.name).await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    let sent = mark.settled(&namespace.name).await;
    assert!(
        sent.iter().all(|entry| entry.resource != "ingresses"),
        "{sent:?}"
    );
    assert_eq!(namespace.ingresses().get("designer").await.unwrap(), before);
}

#[tokio::test]
async fn the_image_can_be_set_and_unset() {
    let (_plane, namespace, _operator) = operated("image").await;
    namespace
        .create_kaoto("designer", json!({"image": "example.test/kaoto:2"}))
        .await;
    namespace.kaoto_ready("designer").await;
    let image = |wanted: &'static str| {
        let api = namespace.deployments();
        async move {
            object_when(&api, "designer", wanted, |deployment| {
                deployment.pointer(IMAGE) == Some(&json!(wanted))
            })
            .await;
        }
    };
    image("example.test/kaoto:2").await;
    namespace
        .patch_kaoto(
            "designer",
            json!({"spec": {"image": "example.test/kaoto:3"}}),
        )
        .await;
    image("example.test/kaoto:3").await;
    namespace
        .patch_kaoto("designer", json!({"spec": {"image": null}}))
        .await;
    image(DEFAULT_IMAGE).await;
    namespace
        .patch_kaoto("designer", json!({"spec": {"image": ""}}))
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(kaoto["metadata"]["generation"], 4);
    image(DEFAULT_IMAGE).await;
}

#[tokio::test]
async fn deletion_takes_the_deployment_the_ingress_the_service_and_then_the_finalizer() {
    let (plane, namespace, _operator) = operated("end").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(
        kaoto["metadata"]["finalizers"],
        json!(["kaoto.io/finalizer"])
    );
    let mark = Mark::quiet(plane.audit_log(), &namespace.name).await;
    namespace
        .kaotos()
        .delete("designer", &DeleteParams::default())
        .await
        .unwrap();
    object_gone(&namespace.kaotos(), "designer").await;
    let sent = mark.settled(&namespace.name).await;
    // The Deployment's own controller may write to it at the same moment: then the guard of the delete refuses once.
    let mut sent: Vec<String> = sent.iter().map(in_short).collect();
    sent.retain(|line| !line.ends_with(" 409") && !line.starts_with("get "));
    assert_eq!(
        sent,
        [
            "delete deployments designer 200",
            "delete ingresses designer 200",
            "delete services designer 200",
            "patch kaotoes designer 200",
        ]
    );
    object_gone(&namespace.deployments(), "designer").await;
    object_gone(&namespace.ingresses(), "designer").await;
    object_gone(&namespace.services(), "designer").await;
}

fn in_short(entry: &Entry) -> String {
    format!(
        "{} {} {} {}",
        entry.verb, entry.resource, entry.name, entry.code
    )
}

#[tokio::test]
async fn exactly_the_rendered_fields_are_claimed() {
    let (_plane, namespace, _operator) = operated("claims").await;
    let spec =
        json!({"image": "example.test/kaoto:2", "ingress": {"host": "a.test", "path": "/b"}});
    namespace.create_kaoto("designer", spec.clone()).await;
    let kaoto = namespace.kaoto_ready("designer").await;
    let apis = [
        namespace.services(),
        namespace.ingresses(),
        namespace.deployments(),
    ];
    let bodies = rendered(&kaoto, &namespace.name, "vanilla").await;
    assert_eq!(bodies.len(), apis.len());
    for (api, body) in apis.iter().zip(bodies) {
        let object = api.get("designer").await.unwrap();
        let fields = managed_fields::fields_of(&object, "kaoto-operator", "Apply").unwrap();
        assert_eq!(
            managed_fields::compare(&fields, &body),
            Claims::default(),
            "{}",
            body["kind"]
        );
        let by_update = managed_fields::fields_of(&object, "kaoto-operator", "Update");
        assert_eq!(by_update, None, "{}", body["kind"]);
    }
}

/// What `render` makes of a stored Kaoto, with the owner that only the cluster knows.
pub(crate) async fn rendered(kaoto: &Value, namespace: &str, cluster_type: &str) -> Vec<Value> {
    let file = json!({
        "apiVersion": kaoto["apiVersion"], "kind": kaoto["kind"],
        "metadata": {"name": kaoto["metadata"]["name"]}, "spec": kaoto["spec"],
    });
    let arguments = [
        "render",
        "-f",
        "-",
        "-o",
        "json",
        "-n",
        namespace,
        "--cluster-type",
        cluster_type,
    ];
    let list = run(&arguments).input(file.to_string()).run().await;
    let list: Value = serde_json::from_str(&list.success()).unwrap();
    let mut bodies = list["items"].as_array().unwrap().clone();
    for body in &mut bodies {
        body["metadata"]["ownerReferences"] = json!([{
            "apiVersion": kaoto["apiVersion"], "kind": kaoto["kind"],
            "name": kaoto["metadata"]["name"], "uid": kaoto["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    bodies
}

/// An operator that may not write Services while the switch is on.
async fn operated_without_services(prefix: &str) -> (Proxy, Namespace, Operator, Arc<AtomicBool>) {
    let plane = Plane::vanilla().await;
    let namespace = Namespace::create(&plane.client().await, prefix).await;
    let forbidden = Arc::new(AtomicBool::new(false));
    let switch = forbidden.clone();
    let proxy = Proxy::start(&plane, move |request| {
        let concerned = request.is_write() && request.path.contains("/services/");
        if concerned && switch.load(Ordering::SeqCst) {
            Fault::Refuse(403)
        } else {
            Fault::None
        }
    })
    .await;
    let arguments = ["--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    operator.ready().await;
    (proxy, namespace, operator, forbidden)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forbidden_service_is_reported_and_leaves_the_rest_in_order() {
    let (_proxy, namespace, _operator, forbidden) = operated_without_services("forbidden").await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    forbidden.store(true, Ordering::SeqCst);
    namespace
        .services()
        .delete("designer", &DeleteParams::default())
        .await
        .unwrap();
    // News about Services may be later than those about Kaotos, and with the Service in the cache all would be well.
    namespace
        .kaoto_when("designer", "misses its Service", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    namespace
        .patch_kaoto(
            "designer",
            json!({"spec": {"image": "example.test/kaoto:2"}}),
        )
        .await;
    object_when(
        &namespace.deployments(),
        "designer",
        "has the new image",
        |deployment| deployment.pointer(IMAGE) == Some(&json!("example.test/kaoto:2")),
    )
    .await;
    let kaoto = namespace
        .kaoto_when("designer", "reports generation 2", |kaoto| {
            kaoto["status"]["phase"] == "Error"
                && kaoto["status"]["conditions"][0]["observedGeneration"] == 2
        })
        .await;
    assert_eq!(condition(&kaoto, "Service"), "False Failure");
    let text = message(&kaoto, "Service");
    let name = format!("Service {}/designer: ", namespace.name);
    assert!(
        text.starts_with(&name) && text.contains("Forbidden"),
        "{text}"
    );
    assert_eq!(message(&kaoto, "Reconcile"), text);
    assert_eq!(condition(&kaoto, "Deployment"), "True Deployed");
    assert_eq!(condition(&kaoto, "Reconcile"), "False Failure");
    assert_eq!(kaoto["status"]["observedGeneration"], 1);
    forbidden.store(false, Ordering::SeqCst);
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Service"), "True Deployed");
    assert_eq!(kaoto["status"]["observedGeneration"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_whose_type_is_unknown_is_not_guessed_but_asked_again() {
    let plane = Plane::vanilla().await;
    let broken = Arc::new(AtomicBool::new(true));
    let proxy = Proxy::start(&plane, {
        let broken = broken.clone();
        move |request| {
            let asks = request.path.starts_with("/apis/route.openshift.io/v1");
            if asks && broken.load(Ordering::SeqCst) {
                Fault::Refuse(503)
            } else {
                Fault::None
            }
        }
    })
    .await;
    let namespace = Namespace::create(&plane.client().await, "unknown").await;
    let arguments = ["--systems", "kaoto", "--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &proxy.kubeconfig(), &arguments);
    eventually("the log names what is not known, and why", || async {
        let log = operator.log();
        let named =
            log.contains("could not find out whether the cluster serves route.openshift.io/v1");
        (named && log.contains("ServiceUnavailable")).then_some(())
    })
    .await;
    assert!(operator.is_running());
    assert!(!operator.log().contains("Kaoto takes part"));
    assert_eq!(http_get(operator.probe(), "/readyz").await, Some(503));
    broken.store(false, Ordering::SeqCst);
    operator.ready().await;
    assert!(operator.log().contains("Kaoto takes part"));
}
