//! Network of the pods.

mod settings;

use mainstay_yaml::Node;

use crate::{
    catalog::{CatalogEntry, ServiceCategory},
    config::{CalicoPlugin, Encapsulation, InstallMethod},
    flux::{KustomizeFile, list, map},
    overlay::Decision,
    render::{Context, Failure, block, decision},
};

use super::{
    BuildResult, Built, Emitted, Template, UnitRenderer,
    manifest::{self, filled, when},
};

/// Settings in the config.
pub(crate) type Settings = settings::Calico;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "calico",
    description: "Network of the pods",
    category: ServiceCategory::Networking,
    enabled_at_init: true,
    namespace: Some("calico-system"),
    helm_release: Some(("calico", "tigera-operator")),
    descriptor: descriptor!("calico", "calico"),
    renderer: Some(&RENDERER),
    ..CatalogEntry::NEW
};

/// Calico.
const RENDERER: UnitRenderer = UnitRenderer {
    gate: Some(gate),
    ..UnitRenderer::new(
        "calico",
        &[
            Template::plain("kustomization.yaml", kustomization),
            Template::plain("namespace.yaml", namespace),
            Template::plain("helmrepository.yaml", repository),
            Template::plain("helmrelease.yaml", release),
            // Parity: the only values file with an underscore.
            Template::plain("helm-values/override_values.yaml", values),
        ],
    )
};

const NAMESPACE: &str = "tigera-operator";
const PLUGIN: &str = "opencenter.cluster.kubernetes.network_plugin.calico";

fn plugin<'c>(ctx: &Context<'c>) -> Option<&'c CalicoPlugin> {
    ctx.config
        .opencenter
        .cluster
        .kubernetes
        .network_plugin
        .calico
        .as_ref()
}

/// Whether Flux installs Calico, or Kubespray did before Flux was there.
fn installed_by_flux(ctx: &Context<'_>) -> Decision {
    match plugin(ctx).filter(|plugin| plugin.enabled) {
        None => decision(format!("{PLUGIN}.enabled"), false),
        Some(plugin) => Decision {
            field: format!("{PLUGIN}.install_method"),
            operator: "equals",
            value: Some(plugin.install_method.as_str().to_owned()),
            result: plugin.install_method != InstallMethod::Kubespray,
        },
    }
}

fn gate(ctx: &Context<'_>, unit: Option<&str>) -> Option<Decision> {
    unit.map(|_| installed_by_flux(ctx))
}

fn kustomization(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let files = ["namespace.yaml", "helmrepository.yaml", "helmrelease.yaml"];
    Ok(when(installed_by_flux(ctx), || {
        vec![
            KustomizeFile {
                namespace: Some(NAMESPACE.to_owned()),
                resources: files.map(str::to_owned).into(),
                ..KustomizeFile::default()
            }
            .to_node(),
        ]
    }))
}

fn namespace(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(when(installed_by_flux(ctx), || {
        let labels = map! {
            "pod-security.kubernetes.io/enforce": "privileged",
            "pod-security.kubernetes.io/audit": "privileged",
            "pod-security.kubernetes.io/warn": "privileged",
        };
        vec![manifest::namespace(NAMESPACE, labels, Node::Absent)]
    }))
}

fn repository(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(when(installed_by_flux(ctx), || {
        vec![map! {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "HelmRepository",
            "metadata": map! { "name": "projectcalico", "namespace": "flux-system" },
            "spec": map! { "interval": "1h", "url": "https://docs.tigera.io/calico/charts" },
        }]
    }))
}

fn release(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let values = chart_values(ctx)?;
    let retries = || map! { "crds": "CreateReplace", "remediation": map! { "retries": 3 } };
    Ok(when(installed_by_flux(ctx), || {
        vec![map! {
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
            "kind": "HelmRelease",
            "metadata": map! { "name": "calico", "namespace": NAMESPACE },
            "spec": map! {
                "interval": "30m",
                "chart": map! {
                    "spec": map! {
                        "chart": "tigera-operator",
                        "version": plugin(ctx).map(|plugin| Node::quoted(&plugin.version)),
                        // Kustomize moves everything that has a namespace into the directory's, the repository too.
                        "sourceRef": map! {
                            "kind": "HelmRepository",
                            "name": "projectcalico",
                            "namespace": NAMESPACE,
                        },
                    },
                },
                "install": retries(),
                "upgrade": retries(),
                "values": values,
            },
        }]
    }))
}

fn values(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(chart_values(ctx)?))
}

fn chart_values(ctx: &Context<'_>) -> Result<Node, Failure> {
    let settings = &block(ctx.config.services().calico.as_ref(), "calico")?.settings;
    let kubernetes = &ctx.config.opencenter.cluster.kubernetes;
    let has_windows = ctx
        .config
        .opencenter
        .infrastructure
        .compute
        .worker_count_windows
        > 0;
    let api_server = filled(settings.kube_api_server.as_ref());
    Ok(map! {
        "installation": map! {
            "enabled": true,
            "kubernetesProvider": "",
            "calicoNetwork": map! {
                "bgp": "Disabled",
                "ipPools": list![map! {
                    "cidr": &kubernetes.subnet_pods,
                    "encapsulation": encapsulation(plugin(ctx)),
                    "natOutgoing": "Enabled",
                    "nodeSelector": "all()",
                }],
                "nodeAddressAutodetectionV4": map! { "firstFound": true },
            },
            "windowsDataplane": if has_windows { "HNS" } else { "Disabled" },
            "serviceCIDRs": list![&kubernetes.subnet_services],
        },
        "kubernetesServiceEndpoint": api_server.map(|host| map! { "host": host, "port": "443" }),
    })
}

/// VXLAN unless the config asks for something else and switches VXLAN off.
fn encapsulation(plugin: Option<&CalicoPlugin>) -> &'static str {
    let (vxlan, ipip) = plugin.map_or((None, None), |plugin| (plugin.vxlan_mode, plugin.ipip_mode));
    match (vxlan, ipip) {
        (Some(Encapsulation::CrossSubnet), _) => "VXLANCrossSubnet",
        (Some(Encapsulation::Never), Some(Encapsulation::Always)) => "IPIP",
        (Some(Encapsulation::Never), Some(Encapsulation::CrossSubnet)) => "IPIPCrossSubnet",
        _ => "VXLAN",
    }
}
