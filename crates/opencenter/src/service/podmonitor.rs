//! Metrics of Flux itself, beside the aggregate of Flux units.

use crate::{
    flux::{KustomizeFile, list, map},
    overlay::Decision,
    render::{Context, decision},
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, manifest::with_service};

/// The aggregate of Flux units.
pub(super) const RENDERER: UnitRenderer = UnitRenderer {
    gate: Some(gate),
    ..UnitRenderer::new(
        "services-fluxcd-aggregate",
        &[
            Template::plain("fluxcd-configs/podmonitor.yaml", podmonitor),
            Template::plain("fluxcd-configs/kustomization.yaml", kustomization),
        ],
    )
};

const CONTROLLERS: [&str; 6] = [
    "helm-controller",
    "source-controller",
    "kustomize-controller",
    "notification-controller",
    "image-automation-controller",
    "image-reflector-controller",
];

fn gate(ctx: &Context<'_>, unit: Option<&str>) -> Option<Decision> {
    (unit == Some("fluxcd-configs")).then(|| ctx.service_gate("kube-prometheus-stack"))
}

fn podmonitor(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(with_service(ctx, "kube-prometheus-stack", || {
        vec![map! {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": map! {
                "name": "flux-system",
                "namespace": "flux-system",
                "labels": map! {
                    "app.kubernetes.io/part-of": "flux",
                    "app.kubernetes.io/component": "monitoring",
                },
            },
            "spec": map! {
                "namespaceSelector": map! { "matchNames": list!["flux-system"] },
                "selector": map! {
                    "matchExpressions": list![map! {
                        "key": "app",
                        "operator": "In",
                        "values": mainstay_yaml::Node::list(CONTROLLERS),
                    }],
                },
                "podMetricsEndpoints": list![map! { "port": "http-prom" }],
            },
        }]
    }))
}

/// Only where the file waits behind a unit of its own.
fn kustomization(ctx: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    let strict = decision(
        "opencenter.gitops.strict_crd_ordering",
        ctx.config.opencenter.gitops.strict_crd_ordering
            && emitted.has("fluxcd-configs/podmonitor.yaml"),
    );
    if !strict.result {
        return Ok(Built::Skipped(strict));
    }
    Ok(Built::one(
        KustomizeFile::listing(vec!["podmonitor.yaml".to_owned()]).to_node(),
    ))
}
