//! Loki, Tempo and Mimir: what they need to know about their object store.

use mainstay_yaml::Node;

use crate::{
    config::{Secret, StorageType},
    flux::map,
    render::{Context, block},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, text},
};

/// Loki.
pub(super) const LOKI: UnitRenderer =
    UnitRenderer::new("loki", &[Template::secret_values(VALUES, loki)]);

/// Tempo.
pub(super) const TEMPO: UnitRenderer =
    UnitRenderer::new("tempo", &[Template::secret_values(VALUES, tempo)]);

/// Mimir.
pub(super) const MIMIR: UnitRenderer =
    UnitRenderer::new("mimir", &[Template::secret_values(VALUES, mimir)]);

fn or_null(text: Option<&str>) -> Node {
    text.map_or(Node::Null, Node::from)
}

/// A size in GB as a Kubernetes quantity, and the class, for charts that take both.
fn volume(size: Option<i64>, class: Option<&String>) -> Node {
    map! {
        "size": size.filter(|size| *size > 0).map(|size| format!("{size}Gi")),
        "storageClass": filled(class),
    }
    .or_absent()
}

fn loki(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().loki.as_ref(), "loki")?.settings;
    let bucket = &settings.bucket_name;
    let keys = ctx.config.loki_s3_keys();
    let swift_secret = ctx.config.loki_swift_secret();
    let is_swift = settings.storage_type == StorageType::Swift;
    let swift = is_swift.then(|| {
        map! {
            "auth_version": settings.swift_auth_version,
            "auth_url": filled(settings.swift_auth_url.as_ref()),
            "region_name": &settings.swift_region,
            "application_credential_id": filled(settings.swift_application_credential_id.as_ref()),
            "application_credential_secret": text(swift_secret.as_ref().map(|found| found.secret)),
            "user_domain_name": filled(settings.swift_user_domain_name.as_ref()),
            "domain_name": filled(settings.swift_domain_name.as_ref()),
            "container_name": &settings.swift_container_name,
        }
    });
    let s3 = (!is_swift).then(|| {
        map! {
            "s3": Node::Null,
            "endpoint": &settings.s3_endpoint,
            "region": &settings.s3_region,
            "secretAccessKey": or_null(text(keys.as_ref().map(|pair| pair.secret))),
            "accessKeyId": or_null(text(keys.as_ref().map(|pair| pair.key))),
            "signatureVersion": Node::Null,
            "s3ForcePathStyle": settings.s3_force_path_style,
            "insecure": settings.s3_insecure,
            "http_config": map! {},
            "backoff_config": map! {},
            "disable_dualstack": false,
        }
    });
    let storage = map! {
        "bucketNames": map! { "chunks": bucket, "ruler": bucket, "admin": bucket },
        "type": settings.storage_type.as_str(),
        "swift": swift,
        "s3": s3,
    };
    let volume = volume(settings.volume_size, settings.storage_class.as_ref());
    let persistence =
        |node: &Node| (!node.is_empty()).then(|| map! { "persistence": node.clone() });
    Ok(Built::one(map! {
        "loki": map! { "storage": storage },
        "write": persistence(&volume),
        "backend": persistence(&volume),
    }))
}

fn tempo(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = &block(ctx.config.services().tempo.as_ref(), "tempo")?.settings;
    let keys = ctx.config.tempo_s3_keys();
    let swift_secret = ctx.config.tempo_swift_secret();
    let is_swift = settings.storage_type == StorageType::Swift;
    let swift = is_swift.then(|| {
        map! {
            "auth_version": settings.swift_auth_version,
            "auth_url": filled(settings.swift_auth_url.as_ref()),
            "region": &settings.swift_region,
            "application_credential_id": filled(settings.swift_application_credential_id.as_ref()),
            "application_credential_secret": text(swift_secret.as_ref().map(|found| found.secret)),
            "user_domain_name": filled(settings.swift_user_domain_name.as_ref()),
            "domain_name": filled(settings.swift_domain_name.as_ref()),
            "container_name": &settings.swift_container_name,
        }
    });
    let s3 = (!is_swift).then(|| {
        map! {
            "bucket": &settings.bucket_name,
            "endpoint": &settings.s3_endpoint,
            "access_key": or_null(text(keys.as_ref().map(|pair| pair.key))),
            "secret_key": or_null(text(keys.as_ref().map(|pair| pair.secret))),
            "region": &settings.s3_region,
            "forcepathstyle": settings.s3_force_path_style,
            "insecure": settings.s3_insecure,
        }
    });
    let volume = volume(settings.volume_size, settings.storage_class.as_ref());
    let persistence = (!volume.is_empty()).then(|| {
        let Node::Map(mut entries) = volume else {
            return Node::Absent;
        };
        entries.insert(0, ("enabled".into(), Node::Bool(true)));
        map! { "persistence": Node::Map(entries) }
    });
    Ok(Built::one(map! {
        "storage": map! {
            "trace": map! { "backend": settings.storage_type.as_str(), "swift": swift, "s3": s3 },
        },
        "ingester": persistence,
    }))
}

fn mimir(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
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
