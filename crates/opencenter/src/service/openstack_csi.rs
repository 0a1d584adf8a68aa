//! Volumes on OpenStack.

use std::fmt::Write as _;

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{NoSettings, Provider},
    flux::map,
    render::{Context, Failure},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, text},
    namespace_stage::{PodSecurity, kustomization, namespace},
};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "openstack-csi",
    description: "Volumes on OpenStack",
    category: ServiceCategory::Storage,
    enabled_at_init: true,
    namespace: Some("openstack-csi"),
    goes_with: &["openstack-ccm"],
    helm_release: Some(("openstack-cinder-csi", "openstack-csi")),
    values_secret: Some("openstack-csi-values-override"),
    override_first: true,
    namespace_stage: true,
    descriptor: descriptor!("openstack_csi", "openstack-csi"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    not_with: &[
        Provider::Aws,
        Provider::Gcp,
        Provider::Azure,
        Provider::Vmware,
        Provider::Baremetal,
        Provider::Kind,
    ],
    needs_cloud_at_init: true,
    usual: &[("override_values_renderer", Usual::Word("openstack-csi"))],
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "openstack-csi",
    &[
        Template::secret_values(VALUES, values),
        Template::plain("namespace/kustomization.yaml", kustomization),
        Template::plain("namespace/namespace.yaml", own_namespace),
    ],
);

fn own_namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace("openstack-csi").unwrap_or_default();
    Ok(namespace(name, PodSecurity::PrivilegedWithWarnings))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(map! {
        "secret": map! {
            "enabled": true,
            "hostMount": true,
            "create": true,
            "filename": "cloud.conf",
            "name": "cinder-csi-cloud-config",
            "data": map! { "cloud.conf": cloud_conf(ctx)? },
        },
    }))
}

fn cloud_conf(ctx: &Context<'_>) -> Result<String, Failure> {
    let cloud = ctx.openstack("openstack-csi")?;
    let entries = [
        ("auth-url", Some(cloud.auth_url.as_str())),
        (
            "application-credential-id",
            text(cloud.application_credential_id.as_ref()),
        ),
        (
            "application-credential-secret",
            text(cloud.application_credential_secret.as_ref()),
        ),
        ("domain-name", filled(cloud.domain.as_ref())),
        ("region", Some(cloud.region.as_str())),
        ("tenant-name", filled(cloud.tenant_name.as_ref())),
    ];
    let mut out = String::from("[Global]\n");
    for (key, value) in entries {
        if let Some(value) = value {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{key} = {value}");
        }
    }
    let _ = write!(out, "tls-insecure = {}", cloud.insecure.unwrap_or(false));
    Ok(out)
}
