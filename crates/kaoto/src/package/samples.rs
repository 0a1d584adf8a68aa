//! Sample objects: shared by the kustomize tree and the bundle.

use mainstay_package::Image;
use serde_json::{Value, json};

use crate::{kinds, names};

/// The sample `Kaoto` objects; the first is the one that the samples directory installs.
pub(super) fn kaotos() -> [Value; 3] {
    [
        kaoto("kaoto-demo", &json!({})),
        kaoto("designer", &json!({"ingress": {}})),
        kaoto("kaoto-test", &json!({"ingress": {}})),
    ]
}

fn kaoto(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": kinds::KAOTO.api_version(),
        "kind": names::KIND,
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// A catalog that offers the operator to OLM. Who makes one keeps it beside the image of the operator.
pub(super) fn catalog_source(image: &Image, version: &str) -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": "kaoto-operator-catalog", "namespace": "olm"},
        "spec": {
            "sourceType": "grpc",
            "image": format!("{}-catalog:v{version}", image.repository()),
            "displayName": "Kaoto Operator",
            "publisher": "kaoto.io",
        },
    })
}
