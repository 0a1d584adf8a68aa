//! Dashboard of the cluster.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory, Usual},
    flux::{list, map},
    render::{Context, Failure, block},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer, VALUES,
    manifest::{Backend, Route, filled, text, with_service},
};

use settings::Headlamp;

/// Settings in the config.
pub(crate) type Settings = Headlamp;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "headlamp",
    description: "Dashboard of the cluster",
    category: ServiceCategory::Core,
    enabled_at_init: true,
    namespace: Some("headlamp"),
    secret_block: Some("headlamp"),
    helm_release: Some(("headlamp", "headlamp")),
    values_secret: Some("headlamp-values-override"),
    descriptor: descriptor!("headlamp", "headlamp"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    usual: &[("override_values_renderer", Usual::Word("headlamp"))],
    hosts: &[Host {
        field: "hostname",
        label: "headlamp",
        rule: "headlamp.<cluster_fqdn>",
    }],
    listeners: Some(Listeners {
        place: 30,
        names: &["headlamp-https"],
        build: listeners,
    }),
    placeholders: &["headlamp.oidc_client_secret"],
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// Headlamp.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "headlamp",
    &[
        Template::secret_values(VALUES, values),
        Template::plain("httproute.yaml", route),
    ],
);

const PLUGINS: &str = "headlamp-plugins";
const PLUGIN_DIRECTORY: &str = "/build/plugins";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c Headlamp, Failure> {
    Ok(&block(ctx.config.services().headlamp.as_ref(), "headlamp")?.settings)
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let mount = || list![map! { "mountPath": PLUGIN_DIRECTORY, "name": PLUGINS }];
    Ok(Built::one(map! {
        "config": map! {
            "oidc": oidc(ctx, settings),
            "pluginsDir": PLUGIN_DIRECTORY,
        },
        "initContainers": list![map! {
            "command": list![
                "/bin/sh",
                "-c",
                "mkdir -p /build/plugins && cp -r /plugins/* /build/plugins/ && chown -R 100:101 /build",
            ],
            "image": "ghcr.io/headlamp-k8s/headlamp-plugin-flux:latest",
            "imagePullPolicy": "Always",
            "name": PLUGINS,
            "securityContext": map! {
                "runAsNonRoot": false,
                "privileged": false,
                "runAsUser": 0,
                "runAsGroup": 0,
            },
            "volumeMounts": mount(),
        }],
        "volumeMounts": mount(),
        "volumes": list![map! { "name": PLUGINS, "emptyDir": map! {} }],
    }))
}

/// Left out when nobody signs users in.
fn oidc(ctx: &Context<'_>, settings: &Headlamp) -> Node {
    let issuer = filled(settings.oidc_issuer_url.as_ref());
    if !ctx.config.opencenter.identity.oidc.enabled && issuer.is_none() {
        return Node::Absent;
    }
    let issuer = issuer.map_or_else(
        || {
            let (host, realm) = (ctx.config.keycloak_host(), ctx.config.keycloak_realm());
            format!("https://{host}/realms/{realm}")
        },
        str::to_owned,
    );
    map! {
        "enabled": true,
        "externalSecret": map! { "enabled": false },
        "secret": map! { "create": true },
        "clientID": &settings.oidc_client_id,
        "clientSecret": text(ctx.config.secrets.headlamp.oidc_client_secret.as_ref()),
        "issuerURL": issuer,
        "scopes": "openid profile email groups",
        "callbackURL": format!("https://{}/oidc-callback", settings.hostname),
    }
}

fn route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let route = Route {
        name: "headlamp",
        namespace: ctx.namespace("headlamp"),
        section: "headlamp-https",
        host: &settings.hostname,
    };
    let backend = Backend {
        service: "headlamp",
        port: 80,
    };
    Ok(with_service(ctx, "gateway", || {
        vec![route.to(ctx, &backend)]
    }))
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().headlamp else {
        return Vec::new();
    };
    let host = &service.settings.hostname;
    vec![Listener::https("headlamp-https", host, "headlamp-tls")]
}
