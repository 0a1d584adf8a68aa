use serde_json::{Value, json};

use super::*;
use crate::providers::{deployment::Deployments, fixture::case};

#[test]
fn pods_join_an_enabled_mesh_whatever_they_say() {
    for (mode, inject) in [
        ("enabled", json!("true")),
        ("disabled", json!("false")),
        ("", json!("false")),
    ] {
        let pod = json!({"metadata": {"annotations": {"sidecar.istio.io/inject": "false"}}});
        let case = case(
            json!({"serviceMesh": {"mode": mode}}),
            json!({"deployments": [{"name": "api", "podSpec": pod}]}),
        );
        let rendered = case.render(&[&Deployments, &ServiceMesh]).unwrap();
        let template = &rendered.object("Deployment", "shop-api")["spec"]["template"];
        let annotations = &template["metadata"]["annotations"];
        assert_eq!(annotations["sidecar.istio.io/inject"], inject, "{mode}");
        let ports = if mode == "enabled" {
            json!("443,9093,5432,10000")
        } else {
            Value::Null
        };
        assert_eq!(
            annotations["traffic.sidecar.istio.io/excludeOutboundPorts"], ports,
            "{mode}"
        );
    }
}
