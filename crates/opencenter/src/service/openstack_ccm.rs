//! Load balancers and nodes on OpenStack.

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{NoSettings, Provider},
    flux::map,
    render::Context,
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
    name: "openstack-ccm",
    description: "Load balancers and nodes on OpenStack",
    category: ServiceCategory::Core,
    enabled_at_init: true,
    namespace: Some("openstack-ccm"),
    helm_release: Some(("openstack-cloud-controller-manager", "openstack-ccm")),
    values_secret: Some("openstack-ccm-values-override"),
    override_first: true,
    namespace_stage: true,
    descriptor: descriptor!("openstack_ccm", "openstack-ccm"),
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
    usual: &[
        ("override_depends_on", Usual::Words(&["sources"])),
        ("override_values_renderer", Usual::Word("openstack-ccm")),
    ],
    ..CatalogEntry::NEW
};

/// The templates.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "openstack-ccm",
    &[
        Template::secret_values(VALUES, values),
        Template::plain("namespace/kustomization.yaml", kustomization),
        Template::plain("namespace/namespace.yaml", own_namespace),
    ],
);

fn own_namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace("openstack-ccm").unwrap_or_default();
    Ok(namespace(name, PodSecurity::PrivilegedWithWarnings))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
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
