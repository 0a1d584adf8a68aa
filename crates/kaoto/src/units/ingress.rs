//! Exposure on a plain cluster: an Ingress for nginx, whose path is a regular expression.

use k8s_openapi::{
    api::networking::v1::{
        HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule,
        IngressServiceBackend, IngressSpec, ServiceBackendPort,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use mainstay_engine::{
    ObjectSet,
    unit::{RenderError, Unit},
};

use super::{INGRESS, NOT_EXPOSED, key, metadata};
use crate::{exposure::Exposure, kinds, names, validate::KaotoInput};

const ANNOTATIONS: [(&str, &str); 2] = [
    ("nginx.ingress.kubernetes.io/use-regex", "true"),
    ("nginx.ingress.kubernetes.io/rewrite-target", "/$2"),
];

/// Renders the Ingress, or states that there is none.
#[derive(Clone, Copy, Debug)]
pub struct IngressUnit;

impl Unit<KaotoInput> for IngressUnit {
    fn name(&self) -> &'static str {
        INGRESS
    }

    fn render(&self, input: &KaotoInput, set: &mut ObjectSet) -> Result<(), RenderError> {
        match &input.exposure {
            Some(exposure) => set.add(INGRESS, &build_ingress(input, exposure))?,
            None => set.absent(INGRESS, key(kinds::INGRESS, input), NOT_EXPOSED)?,
        }
        Ok(())
    }
}

fn build_ingress(input: &KaotoInput, exposure: &Exposure) -> Ingress {
    let path = HTTPIngressPath {
        path: Some(exposure.ingress_path(&input.name)),
        path_type: "ImplementationSpecific".to_owned(),
        backend: backend(&input.name),
    };
    let rule = IngressRule {
        host: exposure.host.clone(),
        http: Some(HTTPIngressRuleValue { paths: vec![path] }),
    };
    let annotations = ANNOTATIONS.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Ingress {
        metadata: ObjectMeta {
            annotations: Some(annotations.into()),
            ..metadata(input)
        },
        spec: Some(IngressSpec {
            rules: Some(vec![rule]),
            ..IngressSpec::default()
        }),
        ..Ingress::default()
    }
}

fn backend(name: &str) -> IngressBackend {
    IngressBackend {
        service: Some(IngressServiceBackend {
            name: name.to_owned(),
            port: Some(ServiceBackendPort {
                name: Some(names::PORT_NAME.to_owned()),
                number: None,
            }),
        }),
        resource: None,
    }
}
