//! Volumes on vSphere.

mod check;
mod settings;

use mainstay_yaml::{Node, print_node};

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::{ReclaimSelection, Secret},
    flux::{list, map},
    overlay::Decision,
    render::{Context, Failure, block},
};

use super::{
    BuildResult, Built, Emitted, ExtraFile, Template, UnitRenderer, VALUES,
    manifest::{filled, secret, text, when},
    namespace_stage::{self, PodSecurity},
};

use settings::VSphereCsi;

/// Settings in the config.
pub(crate) type Settings = VSphereCsi;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "vsphere-csi",
    description: "Volumes on vSphere",
    category: ServiceCategory::Storage,
    namespace: Some("vmware-system-csi"),
    secret_block: Some("vsphere_csi"),
    helm_release: Some(("vsphere-csi", "vmware-system-csi")),
    values_secret: Some("vsphere-csi-values-override"),
    override_first: true,
    namespace_stage: true,
    descriptor: descriptor!("vsphere_csi", "vsphere-csi"),
    renderer: Some(&RENDERER),
    values_renderer: true,
    files_renderer: true,
    usual: &[("override_values_renderer", Usual::Word("vsphere-csi"))],
    check: Some(check::check),
    secrets: Some(check::secrets),
    ..CatalogEntry::NEW
};

/// The vSphere storage driver.
const RENDERER: UnitRenderer = UnitRenderer {
    extra: Some(configured_classes),
    ..UnitRenderer::new(
        NAME,
        &[
            Template::plain(VALUES, values),
            Template::plain("storageclass-retain.yaml", retain_class),
            Template::plain("storageclass-delete.yaml", delete_class),
            Template::secret("vsphere-config-secret.yaml", driver_secret),
            Template::secret("vsphere-cpi-secret.yaml", cloud_provider_secret),
            Template::plain(
                "namespace/kustomization.yaml",
                namespace_stage::kustomization,
            ),
            Template::plain("namespace/namespace.yaml", namespace),
        ],
    )
};

const NAME: &str = "vsphere-csi";
const CLOUD_PROVIDER_SECRET: &str = "vsphere-cpi-secret";

fn settings<'c>(ctx: &Context<'c>) -> Result<&'c VSphereCsi, Failure> {
    Ok(&block(ctx.config.services().vsphere_csi.as_ref(), NAME)?.settings)
}

fn default_class<'c>(ctx: &Context<'c>) -> &'c str {
    &ctx.config
        .opencenter
        .infrastructure
        .storage
        .default_storage_class
}

fn datastore<'c>(ctx: &Context<'c>) -> Option<&'c str> {
    text(ctx.config.secrets.vsphere_csi.datastoreurl.as_ref())
}

fn namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let name = ctx.namespace(NAME).unwrap_or_default();
    Ok(namespace_stage::namespace(
        name,
        PodSecurity::PrivilegedWithWarnings,
    ))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let image = &block(ctx.config.services().vsphere_csi.as_ref(), NAME)?
        .common
        .image;
    let arguments = list![
        "--v=4",
        "--kube-api-qps=100",
        "--kube-api-burst=100",
        "--timeout=300s",
        "--csi-address=$(ADDRESS)",
        "--leader-election",
        "--leader-election-lease-duration=120s",
        "--leader-election-renew-deadline=60s",
        "--leader-election-retry-period=30s",
    ];
    Ok(Built::one(map! {
        "global": map! {
            "config": map! {
                "existingSecret": NAME,
                "global": map! { "cluster-id": &ctx.config.opencenter.meta.name },
                "csidriver": map! { "enabled": true },
                "storageclass": map! {
                    "enabled": true,
                    "name": default_class(ctx),
                    "storagepolicyname": "",
                    "expansion": true,
                    "default": true,
                    "reclaimPolicy": "Delete",
                    "volumebindingmode": "Immediate",
                    "datastoreurl": datastore(ctx),
                },
            },
        },
        "vsphere-cpi": map! {
            "enabled": true,
            "global": map! {
                "config": map! {
                    "existingConfig": map! {
                        "enabled": true,
                        "type": "Secret",
                        "name": CLOUD_PROVIDER_SECRET,
                    },
                    "secretsInline": false,
                },
            },
        },
        "controller": map! {
            "config": map! { "block-volume-snapshot": true },
            "replicaCount": 3,
            "snapshotter": map! {
                "image": map! {
                    "registry": filled(image.repository.as_ref()).unwrap_or("registry.k8s.io"),
                    "repository": "sig-storage/csi-snapshotter",
                    "tag": filled(image.tag.as_ref()).unwrap_or("v8.2.0"),
                    "pullPolicy": "IfNotPresent",
                },
                "args": arguments,
            },
        },
        "snapshot": map! { "controller": map! { "enabled": true, "replicaCount": 1 } },
    }))
}

/// What tells one storage class from another.
struct Class<'c> {
    name: String,
    datastore: Option<&'c str>,
    reclaim_policy: &'c str,
    binding_mode: &'c str,
    allow_expansion: bool,
    is_default: bool,
}

impl Class<'_> {
    fn to_node(&self) -> Node {
        let annotations = self
            .is_default
            .then(|| map! { "storageclass.kubernetes.io/is-default-class": "true" });
        map! {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": map! { "name": &self.name, "annotations": annotations },
            "provisioner": "csi.vsphere.vmware.com",
            "parameters": self.datastore.map(|url| map! { "datastoreurl": url }),
            "reclaimPolicy": self.reclaim_policy,
            "volumeBindingMode": self.binding_mode,
            "allowVolumeExpansion": self.allow_expansion,
        }
    }
}

/// One of the pair that older files select; not with classes of the config's own.
fn paired_class(ctx: &Context<'_>, suffix: &str, selected: ReclaimSelection) -> BuildResult {
    let settings = settings(ctx)?;
    let is_delete = selected == ReclaimSelection::Delete;
    let chosen = settings.reclaim_policy;
    let gate = if settings.storage_classes.is_empty() {
        Decision {
            field: "opencenter.services.vsphere-csi.reclaim_policy".to_owned(),
            operator: "equals",
            value: Some(chosen.as_str().to_owned()),
            result: chosen == selected || chosen == ReclaimSelection::Both,
        }
    } else {
        Decision {
            field: "opencenter.services.vsphere-csi.storage_classes".to_owned(),
            operator: "exists",
            value: None,
            result: false,
        }
    };
    let class = Class {
        name: format!("{}-{suffix}", default_class(ctx)),
        datastore: datastore(ctx),
        reclaim_policy: selected.as_str(),
        binding_mode: "Immediate",
        allow_expansion: true,
        is_default: is_delete,
    };
    Ok(when(gate, || vec![class.to_node()]))
}

fn retain_class(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    paired_class(ctx, "retain", ReclaimSelection::Retain)
}

fn delete_class(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    paired_class(ctx, "delete", ReclaimSelection::Delete)
}

fn configured_classes(ctx: &Context<'_>) -> Result<Vec<ExtraFile>, Failure> {
    let classes = settings(ctx)?.storage_classes.iter().map(|class| {
        let name = class.name.clone().unwrap_or_default();
        ExtraFile {
            name: format!("storageclass-{name}.yaml"),
            documents: vec![
                Class {
                    name,
                    datastore: filled(class.datastore_url.as_ref()),
                    reclaim_policy: class.reclaim_policy.as_str(),
                    binding_mode: class.volume_binding_mode.as_str(),
                    allow_expansion: class.allow_expansion,
                    is_default: false,
                }
                .to_node(),
            ],
            sensitivity: None,
            condition: Some(Decision {
                field: "opencenter.services.vsphere-csi.storage_classes".to_owned(),
                operator: "exists",
                value: None,
                result: true,
            }),
        }
    });
    Ok(classes.collect())
}

/// Access to vCenter, as both Secrets tell it.
struct Access<'c> {
    host: String,
    user: String,
    password: String,
    port: &'c str,
    insecure: &'c str,
    datacenters: Option<&'c str>,
}

fn access<'c>(ctx: &Context<'c>) -> Result<Access<'c>, Failure> {
    let secrets = &ctx.config.secrets.vsphere_csi;
    let required = |secret: Option<&Secret>, field: &str| {
        ctx.required_secret(secret, NAME, &format!("secrets.vsphere_csi.{field}"))
    };
    Ok(Access {
        host: required(secrets.vcenter_host.as_ref(), "vcenter_host")?,
        user: required(secrets.username.as_ref(), "username")?,
        password: required(secrets.password.as_ref(), "password")?,
        port: &secrets.port,
        insecure: &secrets.insecure_flag,
        datacenters: filled(secrets.datacenters.as_ref()),
    })
}

fn driver_secret(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let access = access(ctx)?;
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let configuration = format!(
        "[Global]\ncluster-id = \"{}\"\n\n[VirtualCenter \"{}\"]\ninsecure-flag = \"{}\"\nuser = \"{}\"\n\
         password = \"{}\"\nport = \"{}\"\ndatacenters = \"{}\"\n",
        ctx.config.cluster_name(),
        quoted(&access.host),
        quoted(access.insecure),
        quoted(&access.user),
        quoted(&access.password),
        quoted(access.port),
        quoted(access.datacenters.unwrap_or_default()),
    );
    Ok(Built::one(secret(
        NAME,
        ctx.namespace(NAME),
        map! { "csi-vsphere.conf": configuration },
    )))
}

fn cloud_provider_secret(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let access = access(ctx)?;
    let port: Option<i64> = access.port.parse().ok();
    let datacenters = access
        .datacenters
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|datacenter| !datacenter.is_empty());
    let server = map! {
        "server": &access.host,
        "user": &access.user,
        "password": &access.password,
        "datacenters": Node::list(datacenters),
    };
    let configuration = map! {
        "global": map! {
            "port": port,
            "insecureFlag": access.insecure == "true",
            "secretName": CLOUD_PROVIDER_SECRET,
            "secretNamespace": ctx.namespace(NAME),
        },
        "vcenter": Node::map([(access.host.clone(), server)]),
    };
    Ok(Built::one(secret(
        CLOUD_PROVIDER_SECRET,
        ctx.namespace(NAME),
        map! { "vsphere.conf": print_node(&configuration) },
    )))
}
