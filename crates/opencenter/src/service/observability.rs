//! What the observability services share: their source and their namespace.

use crate::{overlay::Decision, render::Context};

use super::UnitRenderer;

const MEMBERS: &[&str] = &[
    "kube-prometheus-stack",
    "loki",
    "tempo",
    "mimir",
    "opentelemetry-kube-stack",
];

/// Services whose charts come from the shared Helm repository.
const WITH_SHARED_CHARTS: &[&str] = &["loki", "tempo", "mimir"];

/// The shared unit.
pub(super) const RENDERER: UnitRenderer = UnitRenderer {
    gate: Some(gate),
    ..UnitRenderer::new("observability-shared", &[])
};

fn gate(ctx: &Context<'_>, unit: Option<&str>) -> Option<Decision> {
    Some(match unit {
        Some("observability-sources") => ctx.any_of(WITH_SHARED_CHARTS),
        _ => ctx.any_of(MEMBERS),
    })
}
