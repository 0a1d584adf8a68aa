//! Dashboard of Flux.

use crate::{
    flux::map,
    render::{Context, block, literal_values},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{Backend, Route, text, with_service},
};

/// Weave GitOps.
pub(super) const RENDERER: UnitRenderer = UnitRenderer::new(
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
