//! Traces.

mod check;
mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{DefaultRules, Provider, StorageType},
    flux::map,
    render::{Context, block},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, text},
    object_storage::{self, or_null, volume},
};

/// Settings in the config.
pub(crate) type Settings = settings::Tempo;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "tempo",
    description: "Traces",
    category: ServiceCategory::Logging,
    enabled_at_init: true,
    namespace: Some("observability"),
    secret_block: Some("tempo"),
    helm_release: Some(("tempo", "observability")),
    values_secret: Some("tempo-values-override"),
    override_first: true,
    descriptor: descriptor!("tempo", "tempo"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    // Tempo knows neither of these providers' object stores.
    not_with: &[Provider::Gcp, Provider::Azure],
    usual: &[
        ("source_name", Usual::Word("opencenter-observability")),
        ("override_depends_on", Usual::Words(&["sources"])),
        ("override_values_renderer", Usual::Word("tempo")),
    ],
    defaults: Some(defaults),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer =
    UnitRenderer::new("tempo", &[Template::secret_values(VALUES, values)]);

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
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

/// The store.
fn defaults(rules: &mut DefaultRules<'_>) {
    let region = rules.text("opencenter.meta.region");
    object_storage::defaults(rules, ENTRY.name);
    rules.set(
        &ENTRY.config_path(),
        "s3_endpoint",
        format!("swift.api.{region}.rackspacecloud.com"),
        "swift.api.<region>.rackspacecloud.com",
    );
}
