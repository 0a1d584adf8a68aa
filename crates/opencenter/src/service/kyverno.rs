//! Policies: the default set of rules, which an include puts beside the overlay.

use crate::{flux::KustomizeFile, render::Context};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer};

/// Kyverno.
pub(super) const RENDERER: UnitRenderer = UnitRenderer::new(
    "kyverno",
    &[Template::plain("kustomization.yaml", kustomization)],
);

fn kustomization(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile::listing(vec!["../base/kyverno/default-ruleset".to_owned()]).to_node(),
    ))
}
