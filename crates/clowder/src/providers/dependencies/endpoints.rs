//! Endpoints in the two forms that apps read: a list with all ports of each, and addresses by app and name.

use std::collections::BTreeMap;

use mainstay_api::clowder::{environment::web::WebProvider, web_services::WebServices};

use crate::{
    names,
    providers::{
        app_config::{Endpoint, EndpointV2, EndpointsV2, PrivateEndpoint},
        web::{self, tls},
    },
};

/// A deployment that may offer something.
#[derive(Debug)]
pub struct Offer<'offer> {
    /// Ports of its environment.
    pub web: &'offer WebProvider,
    /// Name of its app.
    pub app: &'offer str,
    /// Its name.
    pub deployment: &'offer str,
    /// Where it can be reached.
    pub hostname: &'offer str,
    /// Whether it has a public service, by the old switch or the new.
    pub is_web: bool,
    /// What it offers.
    pub services: &'offer WebServices,
}

/// All endpoints that an app is told of, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoints {
    /// Public ones.
    pub public: Vec<Endpoint>,
    /// Private ones.
    pub private: Vec<PrivateEndpoint>,
}

/// Ports of one endpoint; zero is none.
struct Ports {
    port: i32,
    tls: i32,
    h2c: i32,
    h2c_tls: i32,
    trusts: bool,
}

impl Ports {
    const fn are_none(&self) -> bool {
        self.port == 0 && self.tls == 0 && self.h2c == 0 && self.h2c_tls == 0
    }

    fn ca_path(&self) -> Option<String> {
        self.trusts.then(|| names::CA_PATH.to_owned())
    }
}

const fn when(condition: bool, port: i32) -> i32 {
    if condition { port } else { 0 }
}

impl Endpoints {
    /// Adds what a deployment offers.
    pub fn add(&mut self, offer: &Offer<'_>) {
        let ports = public_ports(offer);
        if !ports.are_none() {
            let name = names::part(offer.app, offer.deployment);
            let api_paths = web::api_paths(&offer.services.public, &name);
            self.public.push(Endpoint {
                api_path: api_paths.first().cloned().unwrap_or_default(),
                api_paths,
                app: offer.app.to_owned(),
                h2c_port: ports.h2c,
                h2c_tls_port: ports.h2c_tls,
                hostname: offer.hostname.to_owned(),
                name: offer.deployment.to_owned(),
                port: ports.port,
                tls_ca_path: ports.ca_path(),
                tls_port: ports.tls,
            });
        }
        let ports = private_ports(offer);
        if !ports.are_none() {
            self.private.push(PrivateEndpoint {
                app: offer.app.to_owned(),
                h2c_port: ports.h2c,
                h2c_tls_port: ports.h2c_tls,
                hostname: offer.hostname.to_owned(),
                name: offer.deployment.to_owned(),
                port: ports.port,
                tls_ca_path: ports.ca_path(),
                tls_port: ports.tls,
            });
        }
    }

    /// Addresses of the public endpoints; none if there are no endpoints.
    pub fn public_addresses(&self) -> Option<EndpointsV2> {
        addresses(self.public.iter().map(|endpoint| Listed {
            app: &endpoint.app,
            name: &endpoint.name,
            hostname: &endpoint.hostname,
            ports: [
                endpoint.port,
                endpoint.tls_port,
                endpoint.h2c_port,
                endpoint.h2c_tls_port,
            ],
            ca_path: endpoint.tls_ca_path.as_ref(),
        }))
    }

    /// Addresses of the private endpoints; none if there are no endpoints.
    pub fn private_addresses(&self) -> Option<EndpointsV2> {
        addresses(self.private.iter().map(|endpoint| Listed {
            app: &endpoint.app,
            name: &endpoint.name,
            hostname: &endpoint.hostname,
            ports: [
                endpoint.port,
                endpoint.tls_port,
                endpoint.h2c_port,
                endpoint.h2c_tls_port,
            ],
            ca_path: endpoint.tls_ca_path.as_ref(),
        }))
    }
}

fn public_ports(offer: &Offer<'_>) -> Ports {
    let web = offer.web;
    let h2c = offer.services.public.h2c_enabled;
    let tls = tls::is_public(&web.tls, offer.services);
    Ports {
        port: when(offer.is_web, web.port),
        tls: when(offer.is_web && tls, web.tls.port),
        h2c: when(h2c, web.h2c_port),
        h2c_tls: when(h2c && tls, web.tls.h2c_port),
        trusts: tls && (offer.is_web || (h2c && web.tls.h2c_port != 0)),
    }
}

fn private_ports(offer: &Offer<'_>) -> Ports {
    let web = offer.web;
    let private = &offer.services.private;
    let tls = tls::is_private(&web.tls, offer.services);
    Ports {
        port: when(private.enabled, web.private_port),
        tls: when(private.enabled && tls, web.tls.private_port),
        h2c: when(private.h2c_enabled, web.h2c_private_port),
        h2c_tls: when(private.h2c_enabled && tls, web.tls.h2c_private_port),
        trusts: tls && (private.enabled || (private.h2c_enabled && web.tls.h2c_private_port != 0)),
    }
}

/// An endpoint of the first form.
struct Listed<'endpoint> {
    app: &'endpoint str,
    name: &'endpoint str,
    hostname: &'endpoint str,
    /// Plain, TLS, HTTP/2 and HTTP/2 over TLS.
    ports: [i32; 4],
    ca_path: Option<&'endpoint String>,
}

/// How the four ports are spoken of: what is added to the name, the scheme, and whether a certificate is checked.
const FORMS: [(&str, &str, bool); 4] = [
    ("", "http", false),
    ("_tls", "https", true),
    ("_h2c", "http", false),
    ("_h2c_tls", "https", true),
];

fn addresses<'endpoint>(endpoints: impl Iterator<Item = Listed<'endpoint>>) -> Option<EndpointsV2> {
    let mut v2: BTreeMap<String, BTreeMap<String, EndpointV2>> = BTreeMap::new();
    let mut endpoints = endpoints.peekable();
    endpoints.peek()?;
    for endpoint in endpoints {
        // Literal IPv6 addresses need brackets.
        let host = if endpoint.hostname.contains(':') {
            format!("[{}]", endpoint.hostname)
        } else {
            endpoint.hostname.to_owned()
        };
        for (port, (suffix, scheme, secured)) in endpoint.ports.into_iter().zip(FORMS) {
            if port > 0 {
                let address = EndpointV2 {
                    ca_certificate: endpoint.ca_path.filter(|_| secured).cloned(),
                    uri: format!("{scheme}://{host}:{port}"),
                };
                let name = format!("{}{suffix}", endpoint.name);
                v2.entry(endpoint.app.to_owned())
                    .or_default()
                    .insert(name, address);
            }
        }
    }
    Some(EndpointsV2 { v2 })
}
