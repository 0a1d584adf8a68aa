//! What is the same in every `ClusterServiceVersion`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mainstay_package::{
    OLDEST_KUBERNETES,
    csv::{self, BASE_VERSION, GENERATOR, LAYOUT},
};
use serde_json::{Value, json};

use super::samples;
use crate::names;

const REPOSITORY: &str = "https://github.com/KaotoIO/kaoto-operator";
const ICON: &str = include_str!("icon.svg");

const DESCRIPTION: &str = "Kaoto is a visual editor for Apache Camel: routes, Kamelets and Pipes are drawn instead of typed.\n\n\
    This operator runs Kaoto in a cluster. One `Kaoto` object is all it takes: the operator creates the Deployment \
    and the Service, exposes the editor through an Ingress or an OpenShift Route if `spec.ingress` is set, keeps \
    them as declared, and reports the address in `status.endpoint`.\n";

/// The part that is the same in every release.
pub(super) fn base() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": csv::name(names::OPERATOR, BASE_VERSION), "namespace": "placeholder", "annotations": annotations()},
        "spec": {
            "displayName": "Kaoto Operator",
            "description": DESCRIPTION,
            "version": BASE_VERSION,
            "minKubeVersion": OLDEST_KUBERNETES,
            "maturity": "alpha",
            "icon": [{"base64data": STANDARD.encode(ICON), "mediatype": "image/svg+xml"}],
            "keywords": ["integration", "kaoto", "camel-k", "designer"],
            "provider": {"name": "kaoto.io", "url": "https://kaoto.io"},
            "maintainers": [{"name": "kaoto", "email": "info@kaoto.io"}],
            "links": [{"name": "Kaoto Operator", "url": REPOSITORY}],
            "installModes": csv::all_namespaces(),
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
            csv::owned_api_version(names::CRD, names::VERSION),
            Some(kinds::KAOTO.api_version())
        );
    }
}
