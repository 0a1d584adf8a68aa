//! Metrics for the long term.

mod check;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{NoSettings, Secret},
    flux::map,
    render::Context,
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES, manifest::text,
    object_storage::or_null,
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "mimir",
    description: "Metrics for the long term",
    category: ServiceCategory::Monitoring,
    namespace: Some("observability"),
    goes_with: &["kafka-cluster"],
    secret_block: Some("global.aws.application"),
    helm_release: Some(("mimir", "observability")),
    values_secret: Some("mimir-values-override"),
    override_first: true,
    descriptor: descriptor!("mimir", "mimir"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    usual: &[
        ("source_name", Usual::Word("opencenter-observability")),
        ("override_values_renderer", Usual::Word("mimir")),
    ],
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer =
    UnitRenderer::new("mimir", &[Template::secret_values(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let keys = ctx.config.service_s3_keys("mimir");
    let key = |secret: Option<&Secret>| or_null(text(secret));
    let ingest = ctx.config.is_active("kafka-cluster").then(|| {
        let namespace = ctx.namespace("kafka-cluster").unwrap_or("kafka-system");
        map! {
            "kafka": map! {
                "address": format!("kafka-cluster-kafka-brokers.{namespace}.svc.cluster.local:9092"),
                "topic": "mimir-ingest",
                "auto_create_topic_enabled": true,
                "auto_create_topic_default_partitions": 1000,
            },
        }
    });
    Ok(Built::one(map! {
        "mimir": map! {
            "structuredConfig": map! {
                "blocks_storage": map! {
                    "backend": "s3",
                    "s3": map! {
                        "bucket_name": format!("{}-mimir", ctx.config.cluster_name()),
                        "endpoint": format!("swift.api.{}.rackspacecloud.com", ctx.config.region()),
                        "access_key_id": key(keys.as_ref().map(|pair| pair.key)),
                        "secret_access_key": key(keys.as_ref().map(|pair| pair.secret)),
                    },
                },
                "ingest_storage": ingest,
            },
        },
    }))
}
