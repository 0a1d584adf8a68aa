//! Grafana dashboards about Flux.

use serde_json::{Value, json};

use crate::{
    flux::{KustomizeFile, map},
    overlay::Decision,
    render::{Context, Failure, decision},
    service::manifest::when,
};

use super::{BuildResult, Emitted, NAME, settings};

fn gate(ctx: &Context<'_>) -> Result<Decision, Failure> {
    Ok(decision(
        format!("opencenter.services.{NAME}.flux_dashboards_enabled"),
        settings(ctx)?.flux_dashboards_enabled,
    ))
}

pub(super) fn kustomization(ctx: &Context<'_>, emitted: &Emitted<'_>) -> BuildResult {
    let files: Vec<String> = emitted
        .below("grafana-dashboards")
        .map(str::to_owned)
        .collect();
    Ok(when(gate(ctx)?, || {
        vec![KustomizeFile::listing(files).to_node()]
    }))
}

pub(super) fn cluster(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let not_ready = |kind: &str| {
        format!(
            "sum(gotk_resource_info{{customresource_kind=\"{kind}\",ready=\"False\"}}) or vector(0)"
        )
    };
    let panels = [
        ("Kustomizations that are not ready", not_ready("Kustomization")),
        ("HelmReleases that are not ready", not_ready("HelmRelease")),
        ("Git sources that are not ready", not_ready("GitRepository")),
        (
            "Suspended objects",
            "sum(gotk_resource_info{suspended=\"true\"}) or vector(0)".to_owned(),
        ),
        (
            "Reconcile duration (p99)",
            "histogram_quantile(0.99, sum by (le, kind) (rate(gotk_reconcile_duration_seconds_bucket[5m])))".to_owned(),
        ),
    ];
    dashboard(
        ctx,
        "fluxcd-cluster",
        "Flux: cluster",
        "prometheus",
        &panels,
    )
}

pub(super) fn control_plane(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let panels = [
        (
            "Running controllers",
            "sum(up{namespace=\"flux-system\"})".to_owned(),
        ),
        (
            "Processor time",
            "sum by (pod) (rate(process_cpu_seconds_total{namespace=\"flux-system\"}[5m]))"
                .to_owned(),
        ),
        (
            "Memory",
            "sum by (pod) (process_resident_memory_bytes{namespace=\"flux-system\"})".to_owned(),
        ),
        (
            "Length of the work queues",
            "sum by (name) (workqueue_depth{namespace=\"flux-system\"})".to_owned(),
        ),
        (
            "Requests to the API server",
            "sum by (code) (rate(rest_client_requests_total{namespace=\"flux-system\"}[5m]))"
                .to_owned(),
        ),
    ];
    dashboard(
        ctx,
        "fluxcd-control-plane",
        "Flux: control plane",
        "prometheus",
        &panels,
    )
}

pub(super) fn logs(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let panels = [
        (
            "Errors",
            "{namespace=\"flux-system\"} | json | level=\"error\"".to_owned(),
        ),
        ("All messages", "{namespace=\"flux-system\"}".to_owned()),
    ];
    dashboard(ctx, "fluxcd-logs", "Flux: logs", "loki", &panels)
}

/// A ConfigMap that Grafana's sidecar picks up: one panel below the other.
fn dashboard(
    ctx: &Context<'_>,
    name: &str,
    title: &str,
    source: &str,
    panels: &[(&str, String)],
) -> BuildResult {
    let gate = gate(ctx)?;
    let kind = if source == "loki" {
        "logs"
    } else {
        "timeseries"
    };
    let panels: Vec<Value> = panels
        .iter()
        .zip(0..)
        .map(|((title, expression), index)| {
            let (column, row) = (index % 2 * 12, index / 2 * 8);
            json!({
                "id": index + 1,
                "title": title,
                "type": kind,
                "datasource": {"type": source},
                "gridPos": {"h": 8, "w": 12, "x": column, "y": row},
                "targets": [{"expr": expression, "refId": "A"}],
            })
        })
        .collect();
    let text = json!({
        "uid": name,
        "title": title,
        "tags": ["flux"],
        "schemaVersion": 39,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "30s",
        "panels": panels,
    });
    let key = format!("{name}.json");
    Ok(when(gate, || {
        vec![map! {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": map! {
                "name": name,
                "namespace": ctx.namespace(NAME),
                "labels": map! { "grafana_dashboard": "1" },
                "annotations": map! { "grafana_folder": "FluxCD" },
            },
            "data": mainstay_yaml::Node::map([(key, format!("{text:#}\n").into())]),
        }]
    }))
}
