//! The Operator Lifecycle Manager, and who may talk to it.

use mainstay_yaml::Node;
use serde_json::{Value, json};

use crate::{
    catalog::{CatalogEntry, ServiceCategory, Usual},
    config::NoSettings,
    flux::{KustomizeFile, list, map},
    render::Context,
};

use super::{BuildResult, Built, Emitted, Template, UnitRenderer};

/// Settings in the config: none.
pub(crate) type Settings = NoSettings;

/// The service in the catalog.
pub(crate) const ENTRY: CatalogEntry = CatalogEntry {
    name: "olm",
    description: "Operators and their versions (Operator Lifecycle Manager)",
    category: ServiceCategory::Core,
    enabled_at_init: true,
    namespace: Some("olm"),
    descriptor: descriptor!("olm", "olm"),
    renderer: Some(&RENDERER),
    usual: &[
        ("has_override_values", Usual::Flag(false)),
        (
            "kustomization_content",
            Usual::Kustomization(usual_kustomization),
        ),
    ],
    ..CatalogEntry::NEW
};

/// OLM.
const RENDERER: UnitRenderer = UnitRenderer::new(
    "olm",
    &[
        Template::plain("kustomization.yaml", kustomization),
        Template::plain("netpol.yaml", unpack_policy),
        Template::plain("patches.yaml", patches),
    ],
);

fn kustomization(_: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(
        KustomizeFile {
            resources: vec!["../base/olm/".to_owned(), "./netpol.yaml".to_owned()],
            patches: vec![("./patches.yaml".to_owned(), None)],
            ..KustomizeFile::default()
        }
        .to_node(),
    ))
}

fn tcp(port: impl Into<Node>) -> Node {
    map! { "port": port.into(), "protocol": "TCP" }
}

fn policy(ctx: &Context<'_>, name: &str, spec: Node) -> Node {
    map! {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": map! { "name": name, "namespace": ctx.namespace("olm") },
        "spec": spec,
    }
}

/// Jobs that unpack bundles fetch them over https.
fn unpack_policy(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    Ok(Built::one(policy(
        ctx,
        "operatorhubio-catalog-unpack-bundles-allow-443",
        map! {
            "podSelector": map! {
                "matchExpressions": list![
                    map! { "key": "operatorframework.io/bundle-unpack-ref", "operator": "Exists" },
                    map! { "key": "olm.managed", "operator": "In", "values": list!["true"] },
                ],
            },
            "egress": list![map! { "ports": list![tcp(443)] }],
            "policyTypes": list!["Egress"],
        },
    )))
}

/// The policies of the base, opened towards the API server and DNS.
fn patches(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let patch = |name: &str, ingress: Node, talks_to_catalogs: bool| {
        let dns = list![tcp(53), map! { "port": 53, "protocol": "UDP" }];
        policy(
            ctx,
            name,
            map! {
                "ingress": list![map! { "ports": list![tcp(ingress)] }],
                "egress": list![
                    map! { "ports": list![tcp(443)] },
                    map! { "ports": dns },
                    talks_to_catalogs.then(|| map! { "ports": list![tcp(50051)] }),
                ],
                "policyTypes": list!["Ingress", "Egress"],
            },
        )
    };
    Ok(Built::Documents(vec![
        patch("olm-operator", Node::from("metrics"), false),
        patch("catalog-operator", Node::from("metrics"), true),
        patch("packageserver", Node::from(5443), true),
    ]))
}

/// The overlay as older tools write it into a config.
fn usual_kustomization() -> Value {
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../base/olm/", "./netpol.yaml"],
        "patchesStrategicMerge": ["./patches.yaml"],
    })
}
