//! Ways in from outside the cluster.

use k8s_openapi::{
    api::networking::v1::{
        HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule,
        IngressServiceBackend, IngressSpec, IngressTLS, ServiceBackendPort,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use crate::providers::{images, provider::Context};

/// The class of an environment that names none.
pub const DEFAULT_CLASS: &str = "nginx";

/// The class of all Ingresses of an environment.
pub fn class<'render>(context: &Context<'render>) -> &'render str {
    let given = &context.environment.spec.providers.web.ingress_class;
    images::first(&[given, DEFAULT_CLASS])
}

/// Everything below a path goes to a port of a Service.
pub fn below(path: &str, service: &str, port: &str) -> HTTPIngressPath {
    HTTPIngressPath {
        path: Some(path.to_owned()),
        path_type: "Prefix".to_owned(),
        backend: to_port(service, port),
    }
}

/// Everything goes to a port of a Service, in the way of the controller at hand.
pub fn everything(service: &str, port: &str) -> HTTPIngressPath {
    HTTPIngressPath {
        path: None,
        path_type: "ImplementationSpecific".to_owned(),
        backend: to_port(service, port),
    }
}

fn to_port(service: &str, port: &str) -> IngressBackend {
    IngressBackend {
        service: Some(IngressServiceBackend {
            name: service.to_owned(),
            port: Some(ServiceBackendPort {
                name: Some(port.to_owned()),
                number: None,
            }),
        }),
        resource: None,
    }
}

/// An Ingress with one rule.
pub fn build(
    context: &Context<'_>,
    metadata: ObjectMeta,
    host: Option<&str>,
    paths: Vec<HTTPIngressPath>,
) -> Ingress {
    Ingress {
        metadata,
        spec: Some(IngressSpec {
            ingress_class_name: Some(class(context).to_owned()),
            rules: Some(vec![IngressRule {
                host: host.map(str::to_owned),
                http: Some(HTTPIngressRuleValue { paths }),
            }]),
            ..IngressSpec::default()
        }),
        ..Ingress::default()
    }
}

/// The same with TLS, ended by the controller with a certificate of its own.
pub fn with_tls(mut ingress: Ingress) -> Ingress {
    let spec = ingress.spec.get_or_insert_default();
    spec.tls = Some(vec![IngressTLS::default()]);
    ingress
}
