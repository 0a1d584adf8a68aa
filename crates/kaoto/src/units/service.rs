//! The Service in front of the editor.

use k8s_openapi::{
    api::core::v1::{Service, ServicePort, ServiceSpec},
    apimachinery::pkg::util::intstr::IntOrString,
};
use mainstay_engine::{
    ObjectSet,
    unit::{RenderError, Unit},
};

use super::{SERVICE, metadata};
use crate::{names, validate::KaotoInput};

/// Renders the Service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceUnit;

impl Unit<KaotoInput> for ServiceUnit {
    fn name(&self) -> &'static str {
        SERVICE
    }

    fn render(&self, input: &KaotoInput, set: &mut ObjectSet) -> Result<(), RenderError> {
        set.add(SERVICE, &build_service(input))?;
        Ok(())
    }
}

fn build_service(input: &KaotoInput) -> Service {
    let port = ServicePort {
        name: Some(names::PORT_NAME.to_owned()),
        protocol: Some("TCP".to_owned()),
        port: names::PORT,
        target_port: Some(IntOrString::String(names::PORT_NAME.to_owned())),
        ..ServicePort::default()
    };
    Service {
        metadata: metadata(input),
        spec: Some(ServiceSpec {
            selector: Some(names::selector(&input.name)),
            session_affinity: Some("None".to_owned()),
            publish_not_ready_addresses: Some(true),
            ports: Some(vec![port]),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}
