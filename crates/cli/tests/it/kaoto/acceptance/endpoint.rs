//! Addresses, paths and names, as the real server takes them.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{condition, message, operated};

#[tokio::test]
async fn the_endpoint_follows_the_address_of_the_load_balancer() {
    let (_plane, namespace, _operator) = operated("address").await;
    let cases = [
        (
            "named",
            json!({}),
            json!({"hostname": "lb.test"}),
            "http://lb.test/named/",
        ),
        (
            "numbered",
            json!({}),
            json!({"ip": "192.0.2.8"}),
            "http://192.0.2.8/numbered/",
        ),
        (
            "hosted",
            json!({"host": "draw.test"}),
            json!({"ip": "192.0.2.8"}),
            "http://draw.test/hosted/",
        ),
        (
            "deep",
            json!({"path": "/tools/draw/"}),
            json!({"hostname": "lb.test"}),
            "http://lb.test/tools/draw/",
        ),
        (
            "root",
            json!({"host": "draw.test", "path": "/"}),
            json!({"ip": "192.0.2.8"}),
            "http://draw.test/",
        ),
    ];
    for (name, ingress, address, expected) in cases {
        namespace
            .create_kaoto(name, json!({"ingress": ingress}))
            .await;
        let kaoto = namespace.kaoto_ready(name).await;
        assert_eq!(
            kaoto["status"]["endpoint"],
            format!("http://{name}.{}.svc.cluster.local:8080/", namespace.name),
            "before there is an address"
        );
        let status = json!({"status": {"loadBalancer": {"ingress": [address]}}});
        namespace
            .ingresses()
            .patch_status(name, &PatchParams::default(), &Patch::Merge(&status))
            .await
            .unwrap();
        namespace
            .kaoto_when(name, expected, |kaoto| {
                kaoto["status"]["endpoint"] == expected
            })
            .await;
    }
    namespace
        .patch_kaoto("named", json!({"spec": {"ingress": null}}))
        .await;
    let kaoto = namespace.kaoto_ready("named").await;
    assert_eq!(
        kaoto["status"]["endpoint"],
        format!("http://named.{}.svc.cluster.local:8080/", namespace.name),
        "when the Ingress is gone"
    );
}

#[tokio::test]
async fn every_way_to_write_a_path_is_accepted_by_the_server() {
    let (_plane, namespace, _operator) = operated("paths").await;
    let cases = [
        ("empty", "", "/empty(/|$)(.*)"),
        ("own", "/own(/|$)(.*)", "/own(/|$)(.*)"),
        ("plain", "/designer", "/designer(/|$)(.*)"),
        ("slash", "/designer/", "/designer(/|$)(.*)"),
        ("root", "/", "/()(.*)"),
        ("relative", "designer", "/designer(/|$)(.*)"),
    ];
    for (name, path, _) in cases {
        namespace
            .create_kaoto(name, json!({"ingress": {"path": path}}))
            .await;
    }
    for (name, path, expected) in cases {
        namespace.kaoto_ready(name).await;
        let ingress = namespace.ingresses().get(name).await.unwrap();
        assert_eq!(
            ingress.data["spec"]["rules"][0]["http"]["paths"][0]["path"], expected,
            "{path:?}"
        );
    }
}

#[tokio::test]
async fn a_name_that_is_no_name_for_a_service_still_gets_a_deployment() {
    let (_plane, namespace, _operator) = operated("names").await;
    for name in ["my.designer", "1st"] {
        namespace.create_kaoto(name, json!({"ingress": {}})).await;
        let kaoto = namespace
            .kaoto_when(name, "says Error", |kaoto| {
                kaoto["status"]["phase"] == "Error"
            })
            .await;
        assert_eq!(condition(&kaoto, "Service"), "False Failure", "{name}");
        assert_eq!(condition(&kaoto, "Ingress"), "False Failure", "{name}");
        assert_eq!(condition(&kaoto, "Deployment"), "True Deployed", "{name}");
        assert!(kaoto["status"]["observedGeneration"].is_null(), "{name}");
        let text = message(&kaoto, "Service");
        assert!(text.contains("DNS-1035"), "{text}");
        let text = message(&kaoto, "Reconcile");
        assert!(text.contains("; Ingress "), "both are named: {text}");
        namespace.deployments().get(name).await.unwrap();
    }
}

#[tokio::test]
async fn a_name_that_is_no_label_gets_nothing_and_says_so() {
    let (_plane, namespace, _operator) = operated("long").await;
    let name = "n".repeat(64);
    namespace.create_kaoto(&name, json!({})).await;
    let kaoto = namespace
        .kaoto_when(&name, "says Error", |kaoto| {
            kaoto["status"]["phase"] == "Error"
        })
        .await;
    for r#type in ["Service", "Deployment"] {
        assert_eq!(condition(&kaoto, r#type), "False Failure", "{type}");
        let text = message(&kaoto, r#type);
        assert!(text.contains("63"), "{text}");
    }
    assert_eq!(namespace.deployments().get_opt(&name).await.unwrap(), None);
}
