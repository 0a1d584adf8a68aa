//! Services: ports, node ports, and the metadata that all of them share.

use k8s_openapi::{
    api::core::v1::{Service, ServicePort, ServiceSpec},
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use mainstay_engine::ObjectKey;

use crate::{
    kinds,
    names::{self, Labels},
    world::World,
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
    world: &dyn World,
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
            port.node_port = known_node_port(world, &key, port.name.as_deref().unwrap_or_default());
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
pub fn known_node_port(world: &dyn World, service: &ObjectKey, port: &str) -> Option<i32> {
    let live = world.live(service)?;
    let number = live.facts.pointer("/nodePorts")?.get(port)?.as_i64()?;
    i32::try_from(number).ok().filter(|number| *number != 0)
}
