//! The gateway's configuration: who may come in, and where to. Types and not a JSON value: field order is output order,
//! and the pods restart when the text changes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{super::stand_in, AUTHORITY_DIRECTORY, CERTIFICATE_DIRECTORY, PORT};
use crate::{
    names,
    providers::{
        app_config,
        provider::Context,
        web::{
            caddy::{CERTIFICATE_TAG, TlsApp},
            claims::{self, Held},
            path,
        },
    },
};

/// Plain HTTP is not published; Caddy wants a port for it.
const PLAIN_PORT: i32 = 8888;
/// Parity: not the port of the environment.
const APP_PORT: i32 = 8000;
/// Routes of a group exclude each other.
const GROUP: &str = "group2";

#[derive(Serialize)]
struct Configuration {
    apps: Apps,
}

#[derive(Serialize)]
struct Apps {
    http: HttpApp,
    tls: TlsApp,
}

#[derive(Serialize)]
struct HttpApp {
    http_port: i32,
    https_port: i32,
    servers: BTreeMap<&'static str, Server>,
}

#[derive(Serialize)]
struct Server {
    listen: [String; 1],
    routes: [HostRoute; 1],
    tls_connection_policies: [ConnectionPolicy; 2],
    logs: Logs,
}

#[derive(Serialize)]
struct HostRoute {
    r#match: [HostMatch; 1],
    handle: [Handler; 1],
    terminal: bool,
}

#[derive(Serialize)]
struct HostMatch {
    host: [String; 1],
}

/// What is done with a request.
#[derive(Serialize)]
#[serde(tag = "handler", rename_all = "snake_case")]
enum Handler {
    Subroute {
        routes: Vec<Route>,
    },
    /// A module of the gateway's image.
    #[serde(rename = "crcauth")]
    Authenticate {
        output: &'static str,
        url: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        whitelist: Vec<String>,
    },
    ReverseProxy {
        upstreams: [Upstream; 1],
    },
}

#[derive(Default, Serialize)]
struct Route {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'static str>,
    handle: Vec<Handler>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<[PathMatch; 1]>,
}

#[derive(Serialize)]
struct PathMatch {
    path: [String; 1],
}

#[derive(Serialize)]
struct Upstream {
    dial: String,
}

#[derive(Default, Serialize)]
struct ConnectionPolicy {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<NameMatch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_selection: Option<CertificateSelection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_authentication: Option<ClientAuthentication>,
}

#[derive(Serialize)]
struct NameMatch {
    sni: [String; 1],
}

#[derive(Serialize)]
struct CertificateSelection {
    any_tag: [&'static str; 1],
}

#[derive(Serialize)]
struct ClientAuthentication {
    ca: Authorities,
    mode: &'static str,
}

#[derive(Serialize)]
struct Authorities {
    pem_files: [String; 1],
    provider: &'static str,
}

#[derive(Serialize)]
struct Logs {
    logger_names: BTreeMap<&'static str, [&'static str; 1]>,
}

/// The text of the configuration for a host.
pub(super) fn render(context: &Context<'_>, host: &str) -> String {
    let server = Server {
        listen: [format!(":{PORT}")],
        routes: [HostRoute {
            r#match: [HostMatch {
                host: [host.to_owned()],
            }],
            handle: [Handler::Subroute {
                routes: routes(context),
            }],
            terminal: true,
        }],
        tls_connection_policies: [policy(host), ConnectionPolicy::default()],
        logs: Logs {
            logger_names: [("localhost.localdomain", [""])].into(),
        },
    };
    let configuration = Configuration {
        apps: Apps {
            http: HttpApp {
                http_port: PLAIN_PORT,
                https_port: PORT,
                servers: [("srv0", server)].into(),
            },
            tls: TlsApp::of_directory(CERTIFICATE_DIRECTORY),
        },
    };
    app_config::to_pretty_json(&configuration) + "\n"
}

/// Parity: the file of authorities is named even if none is mounted.
fn policy(host: &str) -> ConnectionPolicy {
    ConnectionPolicy {
        r#match: Some(NameMatch {
            sni: [host.to_owned()],
        }),
        certificate_selection: Some(CertificateSelection {
            any_tag: [CERTIFICATE_TAG],
        }),
        client_authentication: Some(ClientAuthentication {
            ca: Authorities {
                pem_files: [format!("{AUTHORITY_DIRECTORY}/ca.pem")],
                provider: "file",
            },
            mode: "verify_if_given",
        }),
    }
}

/// First who may come in, then where to: the back office, and every deployment with a public service.
///
/// Parity: apps that are being deleted are still led to; a deployment without a public service can open paths, too; and
/// the path of a deployment is made from its own name, without that of its app.
fn routes(context: &Context<'_>) -> Vec<Route> {
    let apps = context.lookup.apps(context.environment_name());
    let all = apps.iter().map(|app| &**app);
    let held = claims::held_of_all(context.lookup, context.environment, all);
    let none = Held::new();
    let deployments = || {
        let deployments = apps.iter().flat_map(|app| {
            let held = held.get(&app.key()).unwrap_or(&none);
            let deployments = app.deployments.iter();
            deployments.map(move |deployment| (app, held, deployment))
        });
        deployments
            .map(|(app, held, deployment)| (app, held, deployment, &deployment.web_services.public))
    };
    let opens_any = !context.lookup.requires_grants();
    let open = deployments().flat_map(|(app, held, _, public)| {
        let paths = public.whitelist_paths.iter();
        paths.filter(move |path| opens_any || claims::opens_own(path, app, held))
    });
    let open = open.filter(|path| path::is_plain_open(path));
    let mut routes = vec![Route {
        handle: vec![Handler::Authenticate {
            output: "stdout",
            url: stand_in::back_office_url(context),
            whitelist: open.cloned().collect(),
        }],
        ..Route::default()
    }];
    let back_office = stand_in::back_office_dial(context);
    let fixed = ["/v1/registrations*", "/v1/check_registration*"];
    routes.extend(fixed.map(|path| route(path.to_owned(), back_office.clone())));
    for (app, held, deployment, public) in deployments() {
        // Who asks for a path that is none is refused, and must not spoil the way to the others.
        if !deployment.is_web() || !path::is_plain(public) {
            continue;
        }
        let path = claims::gateway_path(deployment);
        if held.contains_key(&path) {
            continue;
        }
        let service = names::part(&app.name, &deployment.name);
        let host = names::host(&service, &app.namespace);
        routes.push(route(format!("{path}*"), format!("{host}:{APP_PORT}")));
    }
    routes
}

fn route(path: String, dial: String) -> Route {
    let proxy = Handler::ReverseProxy {
        upstreams: [Upstream { dial }],
    };
    let inner = Route {
        handle: vec![proxy],
        ..Route::default()
    };
    Route {
        group: Some(GROUP),
        handle: vec![Handler::Subroute {
            routes: vec![inner],
        }],
        r#match: Some([PathMatch { path: [path] }]),
    }
}
