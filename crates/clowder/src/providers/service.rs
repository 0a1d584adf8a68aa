//! Services: ports, node ports, and the metadata that all of them share.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{Service, ServicePort, ServiceSpec},
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use mainstay_engine::{ObjectKey, ObjectSet};
use serde_json::Value;

use crate::{
    kinds,
    names::{self, Labels},
    views::lookup::Lookup,
};

/// Application protocol of plain HTTP.
pub const HTTP: &str = "http";
/// Application protocol of HTTP/2 without TLS.
pub const H2C: &str = "kubernetes.io/h2c";

/// A TCP port that leads to the same port of the pod.
pub fn port(name: &str, number: i32) -> ServicePort {
    ServicePort {
        name: Some(name.to_owned()),
        port: number,
        target_port: Some(IntOrString::Int(number)),
        protocol: Some("TCP".to_owned()),
        ..ServicePort::default()
    }
}

/// A port that says what is spoken on it.
pub fn port_speaking(name: &str, number: i32, protocol: &str) -> ServicePort {
    ServicePort {
        app_protocol: Some(protocol.to_owned()),
        ..port(name, number)
    }
}

/// A Service. Its selector is given apart from its labels: base labels label, but do not select.
pub fn build(
    lookup: Lookup<'_>,
    metadata: ObjectMeta,
    selector: Labels,
    mut ports: Vec<ServicePort>,
    node_port: bool,
) -> Service {
    if node_port {
        let key = ObjectKey::new(
            kinds::SERVICE,
            names::namespace(&metadata),
            names::name(&metadata),
        );
        for port in &mut ports {
            port.node_port =
                known_node_port(lookup, &key, port.name.as_deref().unwrap_or_default());
        }
    }
    Service {
        metadata,
        spec: Some(ServiceSpec {
            type_: Some(if node_port { "NodePort" } else { "ClusterIP" }.to_owned()),
            selector: Some(selector),
            ports: Some(ports).filter(|ports| !ports.is_empty()),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

/// The node port that a live port of this name has. Naming it keeps it when the number of the port changes.
pub fn known_node_port(lookup: Lookup<'_>, service: &ObjectKey, port: &str) -> Option<i32> {
    let live = lookup.live(service)?;
    let number = live.facts.pointer("/nodePorts")?.get(port)?.as_i64()?;
    i32::try_from(number).ok().filter(|number| *number != 0)
}

/// A Service has each port once, whatever its name. The API server would refuse the second with an error of its own.
pub(crate) fn refuse_collisions(set: &ObjectSet) -> Result<(), String> {
    let services = set.bodies().filter(|body| body["kind"] == "Service");
    for service in services {
        let mut seen = BTreeMap::new();
        let ports = service["spec"]["ports"].as_array().into_iter().flatten();
        for port in ports {
            let (number, protocol) = (port["port"].as_i64(), port["protocol"].as_str());
            let Some(first) = seen.insert((number, protocol), &port["name"]) else {
                continue;
            };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return Err(format!(
                "error creating resource Service {}: spec.ports: Duplicate value: `{}` and `{}` are both port {}; \
                 give the environment another one for one of them",
                text(&service["metadata"]["name"]),
                text(first),
                text(&port["name"]),
                number.unwrap_or_default(),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_port_that_is_taken_is_named_with_both_services() {
        let with_ports = |ports: Value| {
            let mut set = ObjectSet::new(kinds::KINDS);
            let service = json!({"apiVersion": "v1", "kind": "Service",
                "metadata": {"name": "shop-api", "namespace": "market"}, "spec": {"ports": ports}});
            set.add("web", &service).unwrap();
            refuse_collisions(&set)
        };
        let port = |name: &str, port: i32, protocol: &str| json!({"name": name, "port": port, "protocol": protocol});
        let different = json!([
            port("public", 8000, "TCP"),
            port("auth", 8080, "TCP"),
            port("talk", 8080, "UDP")
        ]);
        assert_eq!(with_ports(different), Ok(()));
        let text = with_ports(json!([
            port("public", 8080, "TCP"),
            port("auth", 8080, "TCP")
        ]))
        .unwrap_err();
        assert!(text.contains("Service shop-api"), "{text}");
        assert!(
            text.contains("Duplicate value: `public` and `auth` are both port 8080"),
            "{text}"
        );
    }
}
