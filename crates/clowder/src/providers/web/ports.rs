//! Which ports a deployment offers: on its Service, on its container, and on the sidecar that ends TLS.

use k8s_openapi::{
    api::core::v1::{ContainerPort, ServicePort},
    apimachinery::pkg::util::intstr::IntOrString,
};
use mainstay_api::clowder::{
    app::deployment::Deployment,
    environment::web::{WebMode, WebProvider},
};

use super::tls;
use crate::providers::{
    deployment::is_web,
    pod,
    service::{self, H2C, HTTP},
};

/// Port of private services where the environment names none.
const DEFAULT_PRIVATE_PORT: i32 = 10_000;
/// Port of the authenticating sidecar where the environment names none.
const DEFAULT_AUTH_PORT: i32 = 8080;

/// Port of private services.
pub const fn private_port(web: &WebProvider) -> i32 {
    or_else(web.private_port, DEFAULT_PRIVATE_PORT)
}

const fn or_else(port: i32, default: i32) -> i32 {
    if port == 0 { default } else { port }
}

/// A server of the sidecar that ends TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsServer {
    /// Its name in the configuration of the sidecar.
    pub name: &'static str,
    /// Name of its port.
    pub port_name: &'static str,
    /// The port that speaks TLS.
    pub port: i32,
    /// The port of the app behind it.
    pub upstream: i32,
    /// Whether the app speaks HTTP/2 without TLS.
    pub h2c: bool,
}

/// The ports of a deployment, each list in the order of the original. Metrics are added by their own provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ports {
    /// Of the Service.
    pub service: Vec<ServicePort>,
    /// Of the container.
    pub container: Vec<ContainerPort>,
    /// Of the sidecar.
    pub tls: Vec<TlsServer>,
}

impl Ports {
    /// Reads the ports off a deployment and its environment.
    pub fn of(web: &WebProvider, deployment: &Deployment) -> Self {
        let mut ports = Self::default();
        ports.add_plain(web, deployment);
        ports.add_tls(web, deployment);
        ports
    }

    fn add_plain(&mut self, web: &WebProvider, deployment: &Deployment) {
        let public = &deployment.web_services.public;
        let private = &deployment.web_services.private;
        if is_web(deployment) {
            self.add_http("public", "web", web.port);
            if web.mode == WebMode::Local {
                let port = or_else(web.auth_port, DEFAULT_AUTH_PORT);
                self.service
                    .push(service::port_speaking("auth", port, HTTP));
            }
        }
        if public.h2c_enabled && web.h2c_port != 0 {
            let target = public.h2c_target_port.unwrap_or(web.h2c_port);
            self.add_h2c("h2c", web.h2c_port, target);
        }
        if private.enabled {
            self.add_http("private", "private", private_port(web));
        }
        if private.h2c_enabled && web.h2c_private_port != 0 {
            let target = private.h2c_target_port.unwrap_or(web.h2c_private_port);
            self.add_h2c("h2c-private", web.h2c_private_port, target);
        }
    }

    /// Parity: the deprecated switch `web` gives no port for TLS, although endpoints speak of one.
    fn add_tls(&mut self, web: &WebProvider, deployment: &Deployment) {
        let services = &deployment.web_services;
        let (public, private) = (&services.public, &services.private);
        let (public_tls, private_tls) = (
            tls::is_public(&web.tls, services),
            tls::is_private(&web.tls, services),
        );
        let server = |name, port_name, port, upstream| TlsServer {
            name,
            port_name,
            port,
            upstream,
            h2c: false,
        };
        let h2c = |server| TlsServer {
            h2c: true,
            ..server
        };
        if public_tls && public.enabled {
            self.add_tls_server(server("pubServer", "tls", web.tls.port, web.port));
        }
        if private_tls && private.enabled {
            // Parity: the port of the app is not defaulted here.
            let upstream = web.private_port;
            self.add_tls_server(server(
                "privServer",
                "tls-private",
                web.tls.private_port,
                upstream,
            ));
        }
        if public_tls && public.h2c_enabled && web.tls.h2c_port != 0 {
            let upstream = public.h2c_target_port.unwrap_or(web.h2c_port);
            self.add_tls_server(h2c(server(
                "pubServerH2C",
                "h2c-tls",
                web.tls.h2c_port,
                upstream,
            )));
        }
        if private_tls && private.h2c_enabled && web.tls.h2c_private_port != 0 {
            let upstream = private.h2c_target_port.unwrap_or(web.h2c_private_port);
            let port = web.tls.h2c_private_port;
            self.add_tls_server(h2c(server(
                "privServerH2C",
                "h2c-tls-private",
                port,
                upstream,
            )));
        }
    }

    fn add_http(&mut self, name: &str, container_name: &str, port: i32) {
        self.service.push(service::port_speaking(name, port, HTTP));
        self.container.push(pod::port(container_name, port));
    }

    fn add_h2c(&mut self, name: &str, port: i32, target: i32) {
        self.service.push(ServicePort {
            target_port: Some(IntOrString::Int(target)),
            ..service::port_speaking(name, port, H2C)
        });
        self.container.push(pod::port(name, target));
    }

    fn add_tls_server(&mut self, server: TlsServer) {
        let protocol = if server.h2c { H2C } else { HTTP };
        self.service.push(service::port_speaking(
            server.port_name,
            server.port,
            protocol,
        ));
        self.tls.push(server);
    }
}
