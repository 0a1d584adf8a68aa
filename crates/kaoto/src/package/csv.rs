//! The `ClusterServiceVersion`: how OLM sees the operator.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::samples;
use crate::names;

/// Name of this generator.
pub(super) const GENERATOR: &str = concat!("mainstay-v", env!("CARGO_PKG_VERSION"));
/// Name of the layout that this generator writes.
pub(super) const LAYOUT: &str = "mainstay/v1";
/// Version that stands in the base until a bundle is generated.
const BASE_VERSION: &str = "0.0.0";
const REPOSITORY: &str = "https://github.com/KaotoIO/kaoto-operator";
const ICON: &str = include_str!("icon.svg");

const DESCRIPTION: &str = "Kaoto is a visual editor for Apache Camel: routes, Kamelets and Pipes are drawn instead of typed.\n\n\
    This operator runs Kaoto in a cluster. One `Kaoto` object is all it takes: the operator creates the Deployment \
    and the Service, exposes the editor through an Ingress or an OpenShift Route if `spec.ingress` is set, keeps \
    them as declared, and reports the address in `status.endpoint`.\n";

/// What a bundle adds to the base.
#[derive(Debug)]
pub(super) struct Release<'release> {
    pub(super) version: &'release str,
    pub(super) replaces: Option<&'release str>,
    pub(super) created_at: &'release str,
    /// Objects of the operator, to be folded into the install strategy.
    pub(super) objects: &'release [Value],
}

/// Name of the version of the operator in OLM.
pub(super) fn name(version: &str) -> String {
    format!("{}.v{version}", names::OPERATOR)
}

/// The part that is the same in every release.
pub(super) fn base() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": name(BASE_VERSION), "namespace": "placeholder", "annotations": annotations()},
        "spec": {
            "displayName": "Kaoto Operator",
            "description": DESCRIPTION,
            "version": BASE_VERSION,
            "minKubeVersion": "1.22.0",
            "maturity": "alpha",
            "icon": [{"base64data": STANDARD.encode(ICON), "mediatype": "image/svg+xml"}],
            "keywords": ["integration", "kaoto", "camel-k", "designer"],
            "provider": {"name": "kaoto.io", "url": "https://kaoto.io"},
            "maintainers": [{"name": "kaoto", "email": "info@kaoto.io"}],
            "links": [{"name": "Kaoto Operator", "url": REPOSITORY}],
            "installModes": install_modes(),
            "customresourcedefinitions": {"owned": [{
                "name": names::CRD,
                "version": names::VERSION,
                "kind": names::KIND,
                "displayName": "Kaoto",
                "description": "An instance of the Kaoto editor.",
            }]},
            "apiservicedefinitions": {},
            "install": {"strategy": "deployment", "spec": {"deployments": []}},
        },
    })
}

/// The base, completed for one release.
pub(super) fn build(release: &Release<'_>) -> Value {
    let mut csv = base();
    let deployments = of_kind(release.objects, "Deployment");
    csv["metadata"]["name"] = json!(name(release.version));
    let annotations = &mut csv["metadata"]["annotations"];
    annotations["createdAt"] = json!(release.created_at);
    if let Some(image) = deployments.clone().find_map(first_image) {
        annotations["containerImage"] = json!(image);
    }
    let spec = &mut csv["spec"];
    spec["version"] = json!(release.version);
    if let Some(replaces) = release.replaces {
        spec["replaces"] = json!(name(replaces));
    }
    spec["install"]["spec"] = json!({
        "clusterPermissions": permissions(release.objects, "ClusterRoleBinding", "ClusterRole"),
        "permissions": permissions(release.objects, "RoleBinding", "Role"),
        "deployments": deployments.clone().map(|deployment| json!({
            "name": deployment["metadata"]["name"],
            "label": deployment["metadata"]["labels"],
            "spec": deployment["spec"],
        })).collect::<Vec<_>>(),
    });
    let related: Vec<Value> = deployments.flat_map(digest_images).collect();
    if !related.is_empty() {
        spec["relatedImages"] = json!(related);
    }
    csv
}

fn annotations() -> Value {
    let examples = Value::from(samples::kaotos().to_vec());
    json!({
        "alm-examples": format!("{examples:#}"),
        "capabilities": "Basic Install",
        "categories": "Developer Tools, Integration & Delivery",
        "certified": "false",
        "description": "Integration Editor for Apache Camel",
        "operators.operatorframework.io/builder": GENERATOR,
        "operators.operatorframework.io/project_layout": LAYOUT,
        "repository": REPOSITORY,
        "support": "contact@kaoto.io",
    })
}

fn install_modes() -> Value {
    let modes = [
        ("OwnNamespace", false),
        ("SingleNamespace", false),
        ("MultiNamespace", false),
        ("AllNamespaces", true),
    ];
    modes
        .iter()
        .map(|(mode, supported)| json!({"type": mode, "supported": supported}))
        .collect()
}

/// Per service account, the rules of the roles that bindings of this kind give it.
fn permissions(objects: &[Value], binding_kind: &str, role_kind: &str) -> Vec<Value> {
    let accounts = of_kind(objects, "ServiceAccount")
        .filter_map(|account| account["metadata"]["name"].as_str());
    let rules_of = |account: &str| -> Vec<Value> {
        let bindings = of_kind(objects, binding_kind).filter(|binding| binds(binding, account));
        let roles = bindings.flat_map(|binding| {
            of_kind(objects, role_kind)
                .filter(|role| role["metadata"]["name"] == binding["roleRef"]["name"])
        });
        roles
            .filter_map(|role| role["rules"].as_array())
            .flatten()
            .cloned()
            .collect()
    };
    let granted = accounts
        .map(|account| (account, rules_of(account)))
        .filter(|(_, rules)| !rules.is_empty());
    granted
        .map(|(account, rules)| json!({"serviceAccountName": account, "rules": rules}))
        .collect()
}

fn binds(binding: &Value, account: &str) -> bool {
    let subjects = binding["subjects"].as_array().into_iter().flatten();
    subjects
        .into_iter()
        .any(|subject| subject["kind"] == "ServiceAccount" && subject["name"] == account)
}

fn containers(deployment: &Value) -> impl Iterator<Item = &Value> {
    deployment["spec"]["template"]["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
}

fn first_image(deployment: &Value) -> Option<&str> {
    containers(deployment).next()?["image"].as_str()
}

fn digest_images(deployment: &Value) -> impl Iterator<Item = Value> {
    let pinned = containers(deployment).filter(|container| {
        container["image"]
            .as_str()
            .is_some_and(|image| image.contains('@'))
    });
    pinned.map(|container| json!({"name": container["name"], "image": container["image"]}))
}

fn of_kind<'objects>(
    objects: &'objects [Value],
    kind: &str,
) -> impl Iterator<Item = &'objects Value> + Clone {
    objects.iter().filter(move |object| object["kind"] == kind)
}

/// API version of the owned kind, as examples carry it.
pub(super) fn owned_api_version(crd_name: &str, version: &str) -> Option<String> {
    let (_, group) = crd_name.split_once('.')?;
    Some(format!("{group}/{version}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    #[test]
    fn the_icon_is_an_svg() {
        let csv = base();
        let icon = &csv["spec"]["icon"][0];
        assert_eq!(icon["mediatype"], "image/svg+xml");
        let data = STANDARD
            .decode(icon["base64data"].as_str().unwrap())
            .unwrap();
        assert!(String::from_utf8(data).unwrap().starts_with("<svg "));
    }

    #[test]
    fn the_owned_kind_is_found_by_the_name_of_its_definition() {
        assert_eq!(
            owned_api_version(names::CRD, names::VERSION),
            Some(kinds::KAOTO.api_version())
        );
    }
}
