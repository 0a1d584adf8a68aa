//! Policies: the default set of rules, which an include puts beside the overlay.

use serde_json::{Value, json};

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::NoSettings,
    flux::KustomizeFile,
    render::Context,
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "kyverno",
    description: "Policies and a default set of rules",
    category: ServiceCategory::Security,
    enabled_at_init: true,
    namespace: Some("kyverno"),
    helm_release: Some(("kyverno", "kyverno")),
    descriptor: descriptor!("kyverno", "kyverno"),
    renderer: Some(&RENDERER),
    usual: &[
        ("has_override_values", Usual::Flag(false)),
        (
            "kustomization_content",
            Usual::Kustomization(usual_kustomization),
        ),
    ],
    ..CatalogEntry::NEW
};

/// Kyverno.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "kyverno",
    &[Template::plain("kustomization.yaml", kustomization)],
);

fn kustomization(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile::listing(vec!["../base/kyverno/default-ruleset".to_owned()]).to_node(),
    ))
}

/// The overlay as older tools write it into a config.
fn usual_kustomization() -> Value {
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../base/kyverno/default-ruleset"],
    })
}
