//! Cloud controller and volumes on OpenStack.

use std::fmt::Write as _;

use crate::{
    flux::map,
    render::{Context, Failure},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer, VALUES,
    manifest::{filled, text},
    namespace_stage::{PodSecurity, kustomization, namespace},
};

/// The cloud controller.
pub(super) const CCM: UnitRenderer = UnitRenderer::new(
    "openstack-ccm",
    &[
        Template::secret_values(VALUES, ccm_values),
        Template::plain("namespace/kustomization.yaml", kustomization),
        Template::plain("namespace/namespace.yaml", ccm_namespace),
    ],
);

/// The volume driver.
pub(super) const CSI: UnitRenderer = UnitRenderer::new(
    "openstack-csi",
    &[
        Template::secret_values(VALUES, csi_values),
        Template::plain("namespace/kustomization.yaml", kustomization),
        Template::plain("namespace/namespace.yaml", csi_namespace),
    ],
);

fn ccm_namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace("openstack-ccm").unwrap_or_default();
    Ok(namespace(name, PodSecurity::PrivilegedWithWarnings))
}

fn csi_namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace("openstack-csi").unwrap_or_default();
    Ok(namespace(name, PodSecurity::PrivilegedWithWarnings))
}

fn ccm_values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let cloud = ctx.openstack("openstack-ccm")?;
    let networking = &cloud.networking;
    Ok(Built::one(map! {
        "cloudConfig": map! {
            "global": map! {
                "auth-url": &cloud.auth_url,
                "application-credential-id": text(cloud.application_credential_id.as_ref()),
                "application-credential-secret": text(cloud.application_credential_secret.as_ref()),
                "domain-name": filled(cloud.domain.as_ref()).unwrap_or("default"),
                "region": &cloud.region,
                "tenant-name": filled(cloud.tenant_name.as_ref()),
                "tls-insecure": cloud.insecure.unwrap_or(false),
            },
            "loadBalancer": map! {
                "floating-network-id": filled(networking.floating_network_id.as_ref()),
                "subnet-id": filled(networking.subnet_id.as_ref()),
            }.or_absent(),
        },
    }))
}

fn csi_values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
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
