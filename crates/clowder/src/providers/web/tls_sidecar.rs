//! The sidecar that ends TLS in front of an app: Caddy with a certificate of the platform.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    ConfigMap, ConfigMapVolumeSource, Container, SecretVolumeSource, Volume,
};
use serde::Serialize;

use super::{
    caddy::{CERTIFICATE_TAG, TlsApp},
    ports::TlsServer,
};
use crate::{
    names::{self, Labels},
    providers::{images, pod, provider::AppRender},
};

const NAME: &str = "caddy-tls";
const CONFIG_VOLUME: &str = "caddy-config";
const CONFIG_DIRECTORY: &str = "/etc/caddy";
const CONFIG_KEY: &str = "caddy.json";
const CERTIFICATE_DIRECTORY: &str = "/certs";

/// Everything that a deployment gets for it.
#[derive(Clone, Debug)]
pub struct TlsSidecar {
    /// The container.
    pub container: Container,
    /// Its volumes.
    pub volumes: [Volume; 2],
    /// Its configuration.
    pub config_map: ConfigMap,
    /// Secret that the platform writes the certificate to.
    pub certificate: String,
}

impl TlsSidecar {
    /// The sidecar of the deployment whose objects have this name.
    pub fn of(ctx: &AppRender<'_>, name: &str, servers: &[TlsServer]) -> Self {
        let config_name = format!("{name}-caddy-config");
        let certificate = format!("{name}-serving-cert");
        // Parity: no labels.
        let metadata = names::metadata(
            (ctx.namespace(), &config_name),
            Labels::new(),
            &names::app_owner(ctx.app),
        );
        Self {
            container: build_container(ctx, servers),
            volumes: volumes(&config_name, &certificate),
            config_map: ConfigMap {
                metadata,
                data: Some([(CONFIG_KEY.to_owned(), configuration(servers))].into()),
                ..ConfigMap::default()
            },
            certificate,
        }
    }
}

fn build_container(ctx: &AppRender<'_>, servers: &[TlsServer]) -> Container {
    let environment = &ctx.shared.environment.spec.providers.web.images.caddy_proxy;
    let configured = &ctx.shared.settings.config.images.caddy_proxy;
    let ports = servers
        .iter()
        .map(|server| pod::port(server.port_name, server.port));
    Container {
        name: NAME.to_owned(),
        image: Some(images::first(&[environment, configured, images::CADDY_PROXY]).to_owned()),
        command: Some(vec!["/usr/bin/caddy".to_owned()]),
        args: Some(vec![
            "run".to_owned(),
            "--config".to_owned(),
            format!("{CONFIG_DIRECTORY}/{CONFIG_KEY}"),
        ]),
        ports: Some(ports.collect()),
        volume_mounts: Some(vec![
            pod::read_only_mount(NAME, CERTIFICATE_DIRECTORY),
            pod::read_only_mount(CONFIG_VOLUME, CONFIG_DIRECTORY),
        ]),
        ..Container::default()
    }
}

fn volumes(config_map: &str, certificate: &str) -> [Volume; 2] {
    let config = Volume {
        name: CONFIG_VOLUME.to_owned(),
        config_map: Some(ConfigMapVolumeSource {
            name: config_map.to_owned(),
            ..ConfigMapVolumeSource::default()
        }),
        ..Volume::default()
    };
    let certificate = Volume {
        name: NAME.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(certificate.to_owned()),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    };
    [config, certificate]
}

/// The configuration of Caddy. Types and not a JSON value: field order is output order, and users compare the text.
#[derive(Serialize)]
struct Configuration {
    apps: Apps,
}

#[derive(Serialize)]
struct Apps {
    http: Http,
    tls: TlsApp,
}

#[derive(Serialize)]
struct Http {
    servers: BTreeMap<&'static str, Server>,
}

#[derive(Serialize)]
struct Server {
    listen: [String; 1],
    routes: [Route; 1],
    tls_connection_policies: [ConnectionPolicy; 1],
    automatic_https: AutomaticHttps,
}

#[derive(Serialize)]
struct Route {
    handle: [Proxy; 1],
}

#[derive(Serialize)]
struct Proxy {
    handler: &'static str,
    transport: Transport,
    upstreams: [Upstream; 1],
}

#[derive(Serialize)]
struct Transport {
    protocol: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<[&'static str; 1]>,
}

#[derive(Serialize)]
struct Upstream {
    dial: String,
}

#[derive(Serialize)]
struct ConnectionPolicy {
    certificate_selection: CertificateSelection,
}

#[derive(Serialize)]
struct CertificateSelection {
    any_tag: [&'static str; 1],
}

#[derive(Serialize)]
struct AutomaticHttps {
    disable: bool,
}

fn configuration(servers: &[TlsServer]) -> String {
    let servers = servers
        .iter()
        .map(|server| (server.name, build_server(server)));
    let configuration = Configuration {
        apps: Apps {
            http: Http {
                servers: servers.collect(),
            },
            tls: TlsApp::of_directory(CERTIFICATE_DIRECTORY),
        },
    };
    serde_json::to_string_pretty(&configuration).expect("texts and numbers always convert to JSON")
}

fn build_server(server: &TlsServer) -> Server {
    Server {
        listen: [format!(":{}", server.port)],
        routes: [Route {
            handle: [Proxy {
                handler: "reverse_proxy",
                transport: Transport {
                    protocol: "http",
                    versions: server.h2c.then_some(["h2c"]),
                },
                upstreams: [Upstream {
                    dial: format!("localhost:{}", server.upstream),
                }],
            }],
        }],
        tls_connection_policies: [ConnectionPolicy {
            certificate_selection: CertificateSelection {
                any_tag: [CERTIFICATE_TAG],
            },
        }],
        automatic_https: AutomaticHttps { disable: true },
    }
}
