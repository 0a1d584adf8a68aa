//! Collectors of telemetry and where they send it.

mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::CollectorMode,
    flux::map,
    render::{Context, block},
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer, VALUES};

use settings::OpenTelemetry;

/// Settings in the config.
pub(crate) type Settings = OpenTelemetry;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "opentelemetry-kube-stack",
    description: "Collectors of telemetry",
    category: ServiceCategory::Monitoring,
    namespace: Some("observability"),
    goes_with: &["loki", "tempo"],
    helm_release: Some(("opentelemetry-kube-stack", "observability")),
    values_secret: Some("opentelemetry-kube-stack-values-override"),
    override_first: true,
    descriptor: descriptor!("opentelemetry_kube_stack", "opentelemetry-kube-stack"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    usual: &[
        ("source_name", Usual::Word("opencenter-observability")),
        (
            "override_values_renderer",
            Usual::Word("opentelemetry-kube-stack"),
        ),
    ],
    ..CatalogEntry::NEW
};

/// The OpenTelemetry stack.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "opentelemetry-kube-stack",
    &[Template::plain(VALUES, values)],
);

const LOKI: &str = "http://observability-loki-gateway.observability.svc.cluster.local/otlp";
const TEMPO: &str = "observability-tempo-distributor.observability.svc.cluster.local:4317";

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = "opentelemetry-kube-stack";
    let settings = &block(
        ctx.config.services().opentelemetry_kube_stack.as_ref(),
        name,
    )?
    .settings;
    let collectors = map! {
        "daemon": map! { "config": map! { "exporters": exporters(ctx, settings).or_absent() }.or_absent() }.or_absent(),
        "cluster": cluster_collector(settings),
    };
    if collectors.is_empty() {
        return Ok(Built::empty_values());
    }
    Ok(Built::one(map! { "collectors": collectors }))
}

/// Mode, replicas and processors of the collector for the cluster, as far as they differ from the chart's.
fn cluster_collector(settings: &OpenTelemetry) -> Node {
    let processors = settings
        .processors
        .iter()
        .map(|processor| (processor.clone(), map! {}));
    map! {
        "mode": (settings.collector_mode != CollectorMode::default())
            .then(|| settings.collector_mode.as_str()),
        "replicas": (settings.collector_replicas != 1).then_some(settings.collector_replicas),
        "config": map! { "processors": Node::map(processors).or_absent() }.or_absent(),
    }
    .or_absent()
}

fn exporters(ctx: &Context<'_>, settings: &OpenTelemetry) -> Node {
    let loki = ctx
        .config
        .is_active("loki")
        .then(|| built_in(LOKI, Node::Absent));
    let tempo = ctx
        .config
        .is_active("tempo")
        .then(|| built_in(TEMPO, map! { "insecure": true }));
    let mut entries = vec![
        ("otlphttp/loki".to_owned(), Node::from(loki)),
        ("otlp/tempo".to_owned(), Node::from(tempo)),
    ];
    for exporter in &settings.exporters {
        let kind = exporter.kind.unwrap_or_default();
        let name = exporter.name.as_deref().unwrap_or_default();
        let headers = exporter
            .headers
            .iter()
            .map(|(key, value)| (key.clone(), Node::from(value)));
        let node = map! {
            "endpoint": exporter.endpoint.as_ref(),
            "headers": Node::map(headers).or_absent(),
        };
        entries.push((format!("{kind}/{name}"), node));
    }
    Node::map(entries)
}

/// An exporter that never gives up and keeps a queue.
fn built_in(endpoint: &str, tls: Node) -> Node {
    map! {
        "endpoint": endpoint,
        "headers": map! { "X-Scope-OrgID": "default" },
        "tls": tls,
        "compression": "gzip",
        "timeout": "30s",
        "retry_on_failure": map! {
            "enabled": true,
            "initial_interval": "1s",
            "max_interval": "10s",
            "max_elapsed_time": "0s",
        },
        "sending_queue": map! { "enabled": true, "num_consumers": 10, "queue_size": 2000 },
    }
}
