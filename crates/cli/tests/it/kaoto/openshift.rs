//! The same promises where Routes are served.

use kube::api::{DeleteParams, Patch, PatchParams};
use mainstay_testkit::{
    Namespace, Plane,
    audit::Mark,
    managed_fields::{self, Claims},
    namespace::object_gone,
};
use serde_json::{Value, json};

use crate::{condition, kaoto::acceptance::rendered, operated_on, run};

#[tokio::test]
async fn exposure_is_a_route_with_edge_tls_and_redirect() {
    let (_plane, namespace, _operator) = operated_on(Plane::openshift().await, "route").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Ingress"), "True Deployed");
    let route = namespace.routes().get("designer").await.unwrap();
    // The weight and the policy are defaults of the server.
    assert_eq!(
        route.data["spec"],
        json!({
            "path": "/", "wildcardPolicy": "None",
            "to": {"kind": "Service", "name": "designer", "weight": 100},
            "port": {"targetPort": 8080},
            "tls": {"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect"},
        })
    );
    assert_eq!(route.metadata.annotations, None);
    assert_eq!(
        namespace.ingresses().get_opt("designer").await.unwrap(),
        None
    );
}

#[tokio::test]
async fn a_path_of_the_user_brings_the_rewrite_annotation() {
    let (_plane, namespace, _operator) = operated_on(Plane::openshift().await, "route-path").await;
    namespace
        .create_kaoto(
            "designer",
            json!({"ingress": {"host": "draw.test", "path": "deep"}}),
        )
        .await;
    namespace.kaoto_ready("designer").await;
    let route = namespace.routes().get("designer").await.unwrap();
    assert_eq!(
        serde_json::to_value(&route.metadata.annotations).unwrap(),
        json!({"haproxy.router.openshift.io/rewrite-target": "/"})
    );
    assert_eq!(route.data["spec"]["host"], "draw.test");
    assert_eq!(route.data["spec"]["path"], "/deep");
}

#[tokio::test]
async fn the_endpoint_is_https_once_the_router_reports_a_host() {
    let (_plane, namespace, _operator) = operated_on(Plane::openshift().await, "route-host").await;
    for (name, path, expected) in [
        ("root", "", "https://draw.test/"),
        ("deep", "/deep", "https://draw.test/deep/"),
    ] {
        namespace
            .create_kaoto(name, json!({"ingress": {"path": path}}))
            .await;
        let kaoto = namespace.kaoto_ready(name).await;
        let inside = format!("http://{name}.{}.svc.cluster.local:8080/", namespace.name);
        assert_eq!(kaoto["status"]["endpoint"], inside);
        let status = json!({"status": {"ingress": [{"host": "draw.test"}]}});
        namespace
            .routes()
            .patch_status(name, &PatchParams::default(), &Patch::Merge(&status))
            .await
            .unwrap();
        namespace
            .kaoto_when(name, expected, |kaoto| {
                kaoto["status"]["endpoint"] == expected
            })
            .await;
    }
}

#[tokio::test]
async fn a_route_that_is_no_longer_wanted_is_deleted() {
    let (_plane, namespace, _operator) = operated_on(Plane::openshift().await, "route-off").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    namespace
        .patch_kaoto("designer", json!({"spec": {"ingress": null}}))
        .await;
    object_gone(&namespace.routes(), "designer").await;
    let kaoto = namespace.kaoto_ready("designer").await;
    assert_eq!(condition(&kaoto, "Ingress"), "False NotRequires");
}

#[tokio::test]
async fn deletion_takes_the_route_between_deployment_and_service() {
    let (plane, namespace, _operator) = operated_on(Plane::openshift().await, "route-end").await;
    namespace
        .create_kaoto("designer", json!({"ingress": {}}))
        .await;
    namespace.kaoto_ready("designer").await;
    let mark = Mark::quiet(plane.audit_log(), &namespace.name).await;
    namespace
        .kaotos()
        .delete("designer", &DeleteParams::default())
        .await
        .unwrap();
    object_gone(&namespace.kaotos(), "designer").await;
    let sent = mark.settled(&namespace.name).await;
    let done = sent
        .iter()
        .filter(|entry| entry.is_write() && entry.code != 409);
    let sent: Vec<_> = done
        .map(|entry| (entry.verb.as_str(), entry.resource.as_str()))
        .collect();
    assert_eq!(
        sent,
        [
            ("delete", "deployments"),
            ("delete", "routes"),
            ("delete", "services"),
            ("patch", "kaotoes"),
        ]
    );
}

#[tokio::test]
async fn exactly_the_rendered_fields_are_claimed() {
    let (_plane, namespace, _operator) =
        operated_on(Plane::openshift().await, "route-claims").await;
    namespace
        .create_kaoto(
            "designer",
            json!({"ingress": {"host": "a.test", "path": "/b"}}),
        )
        .await;
    let kaoto = namespace.kaoto_ready("designer").await;
    let bodies = rendered(&kaoto, &namespace.name, "openshift").await;
    let is_route = |body: &&Value| body["kind"] == "Route";
    let body = bodies.iter().find(is_route).unwrap();
    let route = namespace.routes().get("designer").await.unwrap();
    let fields = managed_fields::fields_of(&route, "kaoto-operator", "Apply").unwrap();
    assert_eq!(managed_fields::compare(&fields, body), Claims::default());
}

#[tokio::test]
async fn the_command_line_finds_out_by_itself() {
    let plane = Plane::openshift().await;
    let namespace = Namespace::create(&plane.client().await, "route-apply").await;
    let file = json!({
        "apiVersion": "designer.kaoto.io/v1alpha1", "kind": "Kaoto",
        "metadata": {"name": "designer"}, "spec": {"ingress": {}},
    });
    let arguments = ["apply", "-f", "-", "-n", &namespace.name];
    let apply = run(&arguments).kubeconfig(&plane.kubeconfig());
    let printed = apply.input(file.to_string()).run().await.success();
    assert!(
        printed.contains(&format!("Route {}/designer created\n", namespace.name)),
        "{printed}"
    );
    namespace.routes().get("designer").await.unwrap();
    namespace.kaoto_ready("designer").await;
}
