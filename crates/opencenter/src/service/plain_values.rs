//! Services whose only file of their own is a short values file.

use crate::{
    flux::map,
    render::{Context, literal_values},
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, VALUES};

/// Envoy Gateway.
pub(super) const GATEWAY_API: UnitRenderer =
    UnitRenderer::new("gateway-api", &[Template::plain(VALUES, gateway_api)]);

/// The PostgreSQL operator.
pub(super) const POSTGRES_OPERATOR: UnitRenderer = UnitRenderer::new(
    "postgres-operator",
    &[Template::plain(VALUES, postgres_operator)],
);

/// Sealed Secrets.
pub(super) const SEALED_SECRETS: UnitRenderer =
    UnitRenderer::new("sealed-secrets", &[Template::plain(VALUES, sealed_secrets)]);

fn gateway_api(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let level = map! { "level": map! { "default": "info" } };
    let config = map! { "envoyGateway": map! { "logging": level } };
    or_literal(ctx, "gateway-api", || {
        Built::one(map! { "envoyGateway": map! { "config": config } })
    })
}

fn postgres_operator(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    or_literal(ctx, "postgres-operator", || {
        Built::one(map! { "configGeneral": map! { "workers": 2 } })
    })
}

fn sealed_secrets(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    or_literal(ctx, "sealed-secrets", || {
        Built::one(map! { "keyrenewperiod": "0" })
    })
}

/// The values text of the user, which replaces the generated one.
pub(super) fn or_literal(
    ctx: &Context<'_>,
    service: &str,
    generated: impl FnOnce() -> Built,
) -> BuildResult {
    Ok(match literal_values(ctx.config.services().get(service)) {
        Some(text) => Built::Text(text.to_owned()),
        None => generated(),
    })
}
