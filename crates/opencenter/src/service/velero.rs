//! Backups of the cluster.

mod check;
mod settings;
mod snapshot_rights;

use std::fmt::Write as _;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{DefaultRules, StorageType, origin::Origin},
    finding::Code,
    flux::{list, map},
    render::{Context, Failure, block, failure},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, secret, text},
    namespace_stage::{self, PodSecurity},
};

use settings::Velero;

/// Settings in the config.
pub(crate) type Settings = Velero;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "velero",
    description: "Backups of the cluster",
    category: ServiceCategory::Storage,
    enabled_at_init: true,
    namespace: Some("velero"),
    goes_with: &["external-snapshotter"],
    secret_block: Some("velero"),
    helm_release: Some(("velero", "velero")),
    values_secret: Some("velero-values-override"),
    override_first: true,
    namespace_stage: true,
    descriptor: descriptor!("velero", "velero"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    files_renderer: true,
    needs_cloud_at_init: true,
    usual: &[
        ("override_depends_on", Usual::Words(&["sources"])),
        ("override_values_renderer", Usual::Word("velero")),
    ],
    defaults: Some(defaults),
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// Velero.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "velero",
    &[
        Template::plain(VALUES, values),
        Template::secret("velero-credentials.yaml", credentials),
        Template::plain("rbac.yaml", snapshot_rights::snapshotter),
        Template::plain("rbac2.yaml", snapshot_rights::provisioner),
        Template::plain(
            "namespace/kustomization.yaml",
            namespace_stage::kustomization,
        ),
        Template::plain("namespace/namespace.yaml", namespace),
    ],
);

const CREDENTIALS: &str = "cloud-credentials";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c Velero, Failure> {
    Ok(&block(ctx.config.services().velero.as_ref(), "velero")?.settings)
}

fn namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace("velero").unwrap_or_default();
    Ok(namespace_stage::namespace(name, PodSecurity::Privileged))
}

/// The store that backups go to, and the plugin that speaks to it.
struct Store {
    location: Node,
    plugin: (&'static str, &'static str),
}

fn store(ctx: &Context<'_>, settings: &Velero) -> Result<Store, Failure> {
    let location = |name: &str, provider: &str, config: Node| {
        map! {
            "name": name,
            "provider": provider,
            "default": true,
            "bucket": &settings.backup_bucket,
            "config": config,
        }
    };
    Ok(match settings.storage_type {
        StorageType::Swift => {
            let region = &ctx.openstack("velero")?.region;
            Store {
                location: location(
                    region,
                    "community.openstack.org/openstack",
                    map! { "region": region },
                ),
                plugin: (
                    "velero-plugin-openstack",
                    "lirt/velero-plugin-for-openstack:v0.6.0",
                ),
            }
        }
        StorageType::S3 => {
            let region = filled(settings.region.as_ref()).unwrap_or(ctx.config.region());
            Store {
                location: location(region, "aws", map! { "region": region }),
                plugin: (
                    "velero-plugin-for-aws",
                    "velero/velero-plugin-for-aws:v1.12.2",
                ),
            }
        }
        StorageType::Gcs => Store {
            location: location("default", "gcp", Node::Absent),
            plugin: (
                "velero-plugin-for-gcp",
                "velero/velero-plugin-for-gcp:v1.12.2",
            ),
        },
        StorageType::Azure => Store {
            location: location("default", "azure", Node::Absent),
            plugin: (
                "velero-plugin-for-microsoft-azure",
                "velero/velero-plugin-for-microsoft-azure:v1.12.2",
            ),
        },
    })
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let Store { location, plugin } = store(ctx, settings(ctx)?)?;
    let (name, image) = plugin;
    Ok(Built::one(map! {
        "credentials": map! { "extraSecretRef": CREDENTIALS },
        "configuration": map! {
            "features": "EnableCSI",
            "defaultSnapshotMoveData": false,
            "defaultVolumesToFsBackup": false,
            "backupStorageLocation": list![location],
            "volumeSnapshotLocation": Node::List(Vec::new()),
        },
        "initContainers": list![map! {
            "name": name,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "volumeMounts": list![map! { "mountPath": "/target", "name": "plugins" }],
        }],
        "snapshotsEnabled": true,
        "backupsEnabled": true,
        "deployNodeAgent": false,
        "extraObjects": snapshot_classes(ctx).or_absent(),
    }))
}

/// A snapshot class for each storage driver of the cluster.
fn snapshot_classes(ctx: &Context<'_>) -> Node {
    let drivers = [
        ("vsphere-csi", "vsphere", "csi.vsphere.vmware.com"),
        ("openstack-csi", "cinder", "cinder.csi.openstack.org"),
        ("longhorn", "longhorn", "driver.longhorn.io"),
    ];
    let active = drivers
        .into_iter()
        .filter(|(service, _, _)| ctx.config.is_active(service));
    Node::list(active.map(|(_, name, driver)| {
        map! {
            "apiVersion": "snapshot.storage.k8s.io/v1",
            "kind": "VolumeSnapshotClass",
            "metadata": map! {
                "name": format!("velero-{name}-snapshot-class"),
                "labels": map! { "velero.io/csi-volumesnapshot-class": "true" },
            },
            "driver": driver,
            "deletionPolicy": "Delete",
        }
    }))
}

fn credentials(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let entries = match settings(ctx)?.storage_type {
        StorageType::Swift => swift_credentials(ctx)?,
        StorageType::S3 => {
            let keys = ctx.config.velero_s3_keys();
            let path = "secrets.service_secrets.velero";
            let key = ctx.required_secret(
                keys.as_ref().map(|pair| pair.key),
                "velero",
                &format!("{path}.s3_access_key"),
            )?;
            let secret = ctx.required_secret(
                keys.as_ref().map(|pair| pair.secret),
                "velero",
                &format!("{path}.s3_secret_key"),
            )?;
            let mut profile = String::from("[default]\n");
            // Writing to a String cannot fail.
            let _ = write!(
                profile,
                "aws_access_key_id={key}\naws_secret_access_key={secret}\n"
            );
            map! { "cloud": profile }
        }
        StorageType::Gcs => map! { "cloud": service_secret(ctx, "gcp_service_account_key")? },
        StorageType::Azure => {
            let key = service_secret(ctx, "azure_storage_account_key")?;
            map! { "cloud": format!("AZURE_STORAGE_ACCOUNT_ACCESS_KEY={key}\n") }
        }
    };
    Ok(Built::one(secret(
        CREDENTIALS,
        ctx.namespace("velero"),
        entries,
    )))
}

fn service_secret(ctx: &Context<'_>, key: &str) -> Result<String, Failure> {
    let path = format!("secrets.service_secrets.velero.{key}");
    ctx.required_secret(
        ctx.config.secrets.service_secret("velero", key),
        "velero",
        &path,
    )
}

fn swift_credentials(ctx: &Context<'_>) -> Result<Node, Failure> {
    let cloud = ctx.openstack("velero")?;
    let project =
        filled(cloud.project_name.as_ref()).or_else(|| filled(cloud.tenant_name.as_ref()));
    let domain = filled(cloud.domain.as_ref()).or_else(|| filled(cloud.domain_name.as_ref()));
    let found = ctx.config.velero_swift_secret().ok_or_else(|| {
        failure(
            Code::Oc3030,
            "opencenter.infrastructure.cloud.openstack.application_credential_secret",
            "velero needs this secret",
        )
    });
    let secret = match found {
        Ok(found) => found.secret.expose().to_owned(),
        Err(_) if ctx.options.allow_missing_secrets => {
            "PLACEHOLDER-VELERO-SWIFT-PASSWORD".to_owned()
        }
        Err(failure) => return Err(failure),
    };
    let temporary_url_key = text(ctx.config.secrets.velero.swift_temp_url_key.as_ref());
    Ok(map! {
        "OS_AUTH_URL": &cloud.auth_url,
        "OS_PROJECT_NAME": project,
        "OS_APPLICATION_CREDENTIAL_ID": text(cloud.application_credential_id.as_ref()),
        "OS_APPLICATION_CREDENTIAL_SECRET": secret,
        "OS_REGION_NAME": &cloud.region,
        "OS_DOMAIN_NAME": domain,
        "OS_SWIFT_TEMP_URL_KEY": temporary_url_key,
        "OS_SWIFT_TEMP_URL_DIGEST": temporary_url_key.map(|_| "sha256"),
    })
}

/// The store and the bucket.
fn defaults(rules: &mut DefaultRules<'_>) {
    let holder = ENTRY.config_path();
    let is_openstack = rules.text("opencenter.infrastructure.provider") == "openstack";
    rules.set_with(
        &holder,
        "storage_type",
        if is_openstack { "swift" } else { "s3" }.into(),
        Origin::ProviderDefault("swift on openstack, else s3"),
    );
    let name = rules.text("opencenter.meta.name");
    rules.set(
        &holder,
        "backup_bucket",
        format!("{name}-velero"),
        "<name>-velero",
    );
}
