//! Dashboard of Flux.

mod check;
mod settings;

use crate::{
    catalog::{CatalogEntry, Host, Listeners, ServiceCategory, Usual},
    flux::map,
    render::{Context, block, literal_values},
};

use super::{
    BuildResult, Built, Emitted, Listener, Template, UnitRenderer, VALUES,
    manifest::{Backend, Route, text, with_service},
};

/// Settings in the config.
pub(crate) type Settings = settings::WeaveGitops;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "weave-gitops",
    description: "Dashboard of Flux",
    category: ServiceCategory::Gitops,
    namespace: Some("flux-system"),
    requires: &["fluxcd"],
    secret_block: Some("weave_gitops"),
    helm_release: Some(("weave-gitops", "flux-system")),
    values_secret: Some("weave-gitops-values-override"),
    descriptor: descriptor!("weave_gitops", "weave-gitops"),
    renderer: Some(&RENDERER),
    replaceable_values: true,
    usual: &[(
        "override_depends_on",
        Usual::Words(&["sources", "envoy-gateway-api-base"]),
    )],
    hosts: &[Host {
        field: "hostname",
        label: "gitops",
        rule: "gitops.<cluster_fqdn>",
    }],
    listeners: Some(Listeners {
        place: 20,
        names: &["gitops-https"],
        build: listeners,
    }),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// Weave GitOps.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "weave-gitops",
    &[
        Template::secret_values(VALUES, values),
        Template::plain("httproute.yaml", route),
    ],
);

/// The hash is never computed here: a new salt on every render would be a change on every render.
fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    if let Some(literal) = literal_values(ctx.config.services().get("weave-gitops")) {
        return Ok(Built::Text(literal.to_owned()));
    }
    let hash = text(ctx.config.secrets.weave_gitops.password_hash.as_ref());
    Ok(match hash {
        None => Built::empty_values(),
        Some(hash) => Built::one(map! {
            "adminUser": map! { "create": true, "username": "admin", "passwordHash": hash },
        }),
    })
}

fn route(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().weave_gitops.as_ref(), "weave-gitops")?.settings;
    let route = Route {
        name: "gitops",
        namespace: ctx.namespace("weave-gitops"),
        section: "gitops-https",
        host: &settings.hostname,
    };
    let backend = Backend {
        service: "weave-gitops",
        port: 9001,
    };
    Ok(with_service(ctx, "gateway", || {
        vec![route.to(ctx, &backend)]
    }))
}

fn listeners(ctx: &Context<'_>) -> Vec<Listener> {
    let Some(service) = &ctx.config.services().weave_gitops else {
        return Vec::new();
    };
    let host = &service.settings.hostname;
    vec![Listener::https("gitops-https", host, "gitops-tls")]
}
