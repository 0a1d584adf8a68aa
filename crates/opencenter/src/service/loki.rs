//! Logs.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{DefaultRules, StorageType},
    flux::map,
    render::{Context, block},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, text},
    object_storage::{self, or_null, volume},
};

/// Settings in the config.
pub(crate) type Settings = settings::Loki;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "loki",
    description: "Logs",
    category: ServiceCategory::Logging,
    enabled_at_init: true,
    namespace: Some("observability"),
    goes_with: &["kube-prometheus-stack"],
    secret_block: Some("loki"),
    helm_release: Some(("loki", "observability")),
    values_secret: Some("loki-values-override"),
    override_first: true,
    descriptor: descriptor!("loki", "loki"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    usual: &[
        ("source_name", Usual::Word("opencenter-observability")),
        ("override_depends_on", Usual::Words(&["sources"])),
        ("override_values_renderer", Usual::Word("loki")),
    ],
    defaults: Some(defaults),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer =
    UnitRenderer::new("loki", &[Template::secret_values(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
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

/// The store.
fn defaults(rules: &mut DefaultRules<'_>) {
    let region = rules.text("opencenter.meta.region");
    object_storage::defaults(rules, ENTRY.name);
    rules.set(
        &ENTRY.config_path(),
        "s3_endpoint",
        format!("https://swift.api.{region}.rackspacecloud.com"),
        "https://swift.api.<region>.rackspacecloud.com",
    );
}
