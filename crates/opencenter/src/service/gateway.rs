//! The shared gateway and its listeners.

mod check;
mod settings;

use mainstay_yaml::Node;
use serde_json::{Value, json};

use crate::{
    catalog::{CATALOG, CatalogEntry, Listeners, ServiceCategory, Usual},
    config::ListenerProtocol,
    flux::{KustomizeFile, list, map},
    overlay::Decision,
    render::{Context, Failure, block},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer,
    manifest::{self, when},
};

use settings::Gateway;

/// Settings in the config.
pub(crate) type Settings = Gateway;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "gateway",
    description: "The shared gateway with a listener for each web interface",
    category: ServiceCategory::Networking,
    enabled_at_init: true,
    namespace: Some("gateway"),
    requires: &["gateway-api"],
    descriptor: descriptor!("gateway", "gateway"),
    renderer: Some(&RENDERER),
    files_renderer: true,
    usual: &[
        ("single_stage", Usual::Flag(true)),
        ("has_override_values", Usual::Flag(false)),
        (
            "kustomization_content",
            Usual::Kustomization(usual_kustomization),
        ),
        ("overlay_files_renderer", Usual::Word("gateway")),
    ],
    check: Some(check::check),
    ..CatalogEntry::NEW
};

/// The gateway.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "gateway",
    &[
        Template::plain("kustomization.yaml", kustomization),
        Template::plain("namespace.yaml", namespace),
        Template::plain("gateway-class.yaml", gateway_class),
        Template::plain("gateway.yaml", gateway),
        Template::plain("envoy-proxy-config.yaml", envoy_proxy),
    ],
);

/// The settings of the proxies, and the namespace in which Envoy Gateway looks for them.
const PROXY_CONFIG: (&str, &str) = ("custom-proxy-config", "envoy-gateway-system");

/// One listener of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    /// The name that routes refer to.
    pub(crate) name: String,
    /// The port.
    pub(crate) port: i64,
    /// Whether TLS ends here.
    pub(crate) protocol: ListenerProtocol,
    /// The host name; none answers for all.
    pub(crate) host: Option<String>,
    /// The Secret with the certificate.
    pub(crate) tls_secret: Option<String>,
}

impl Listener {
    pub(super) fn https(name: &str, host: &str, tls_secret: &str) -> Self {
        Self {
            name: name.to_owned(),
            port: 443,
            protocol: ListenerProtocol::Https,
            host: Some(host.to_owned()),
            tls_secret: Some(tls_secret.to_owned()),
        }
    }

    pub(super) fn http(name: &str, host: &str) -> Self {
        Self {
            name: name.to_owned(),
            port: 80,
            protocol: ListenerProtocol::Http,
            host: Some(host.to_owned()),
            tls_secret: None,
        }
    }

    fn to_node(&self) -> Node {
        let tls = self.tls_secret.as_ref().map(|name| {
            map! {
                "mode": "Terminate",
                "certificateRefs": list![map! { "group": "", "kind": "Secret", "name": name }],
            }
        });
        map! {
            "name": &self.name,
            "port": self.port,
            "protocol": self.protocol.as_str(),
            "hostname": self.host.as_ref(),
            "allowedRoutes": map! { "namespaces": map! { "from": "All" } },
            "tls": tls,
        }
    }
}

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c Gateway, Failure> {
    Ok(&block(ctx.config.services().gateway.as_ref(), "gateway")?.settings)
}

/// The listeners in their order: those of active services, then those of the config.
pub(crate) fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let mut generated: Vec<Listeners> = CATALOG
        .iter()
        .filter(|entry| ctx.config.is_active(entry.name))
        .filter_map(|entry| entry.listeners)
        .collect();
    generated.sort_by_key(|listeners| listeners.place);
    let mut listeners: Vec<Listener> = generated
        .iter()
        .flat_map(|listeners| (listeners.build)(ctx))
        .collect();
    let configured = ctx
        .config
        .services()
        .gateway
        .iter()
        .flat_map(|gateway| &gateway.settings.listeners);
    listeners.extend(configured.map(|listener| Listener {
        name: listener.name.clone().unwrap_or_default(),
        port: listener.port.unwrap_or_default(),
        protocol: listener.protocol.unwrap_or_default(),
        host: listener.hostname.clone(),
        tls_secret: listener.tls_secret_name.clone(),
    }));
    listeners
}

/// Without a namespace: the directory holds objects of several namespaces and of none.
fn kustomization(_: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile::listing(emitted.names.to_vec()).to_node(),
    ))
}

fn namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    Ok(Built::one(manifest::namespace(
        &settings.gateway_namespace,
        Node::Absent,
        Node::Absent,
    )))
}

fn gateway_class(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let (name, namespace) = PROXY_CONFIG;
    Ok(Built::one(map! {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": map! { "name": &settings.gateway_class },
        "spec": map! {
            "controllerName": "gateway.envoyproxy.io/gatewayclass-controller",
            "parametersRef": map! {
                "group": "gateway.envoyproxy.io",
                "kind": "EnvoyProxy",
                "name": name,
                "namespace": namespace,
            },
        },
    }))
}

/// Only with a listener: the API server refuses a Gateway that has none, and Flux would never get past it.
fn gateway(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let listeners = listeners(ctx);
    let gate = Decision {
        field: "opencenter.services.gateway.listeners".to_owned(),
        operator: "exists",
        value: None,
        result: !listeners.is_empty(),
    };
    Ok(when(gate, || {
        vec![map! {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": map! {
                "name": &settings.gateway_name,
                "namespace": &settings.gateway_namespace,
                "annotations": map! { "cert-manager.io/cluster-issuer": ctx.config.default_issuer() },
            },
            "spec": map! {
                "gatewayClassName": &settings.gateway_class,
                "listeners": Node::list(listeners.iter().map(Listener::to_node)),
            },
        }]
    }))
}

fn envoy_proxy(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let (name, namespace) = PROXY_CONFIG;
    let pod = map! { "nodeSelector": map! { "node-role.kubernetes.io/worker": "worker" } };
    let patch = map! { "value": map! { "spec": map! { "template": map! { "spec": pod } } } };
    Ok(Built::one(map! {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "EnvoyProxy",
        "metadata": map! { "name": name, "namespace": namespace },
        "spec": map! {
            "provider": map! {
                "type": "Kubernetes",
                "kubernetes": map! { "envoyDaemonSet": map! { "patch": patch } },
            },
        },
    }))
}

/// The overlay as older tools write it into a config.
fn usual_kustomization() -> Value {
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["namespace.yaml", "gateway-class.yaml", "gateway.yaml", "envoy-proxy-config.yaml"],
    })
}
