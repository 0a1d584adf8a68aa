//! Sample objects and the scorecard configuration: shared by the kustomize tree and the bundle.

use serde_json::{Value, json};

use super::DEVELOPMENT_VERSION;
use crate::{kinds, names};

/// Image that runs the scorecard tests.
const SCORECARD_IMAGE: &str = "quay.io/operator-framework/scorecard-test:v1.39.2";

/// Scorecard suites and their tests; each is an entry point of the image.
const SUITES: [(&str, &[&str]); 2] = [
    ("basic", &["basic-check-spec"]),
    (
        "olm",
        &[
            "olm-bundle-validation",
            "olm-crds-have-validation",
            "olm-crds-have-resources",
            "olm-spec-descriptors",
            "olm-status-descriptors",
        ],
    ),
];

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

/// A catalog that offers the operator to OLM.
pub(super) fn catalog_source() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": "kaoto-operator-catalog", "namespace": "olm"},
        "spec": {
            "sourceType": "grpc",
            "image": format!("{}-catalog:v{DEVELOPMENT_VERSION}", names::OPERATOR_IMAGE),
            "displayName": "Kaoto Operator",
            "publisher": "kaoto.io",
        },
    })
}

/// Names of the scorecard suites.
pub(super) fn suites() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|(suite, _)| *suite)
}

/// The tests of one scorecard suite.
pub(super) fn scorecard_tests(suite: &str) -> Vec<Value> {
    let tests = SUITES
        .iter()
        .filter(|(name, _)| *name == suite)
        .flat_map(|(_, tests)| tests.iter());
    let build = |test: &&str| {
        json!({
            "entrypoint": ["scorecard-test", test],
            "image": SCORECARD_IMAGE,
            "labels": {"suite": suite, "test": format!("{test}-test")},
            "storage": {"spec": {"mountPath": {}}},
        })
    };
    tests.map(build).collect()
}

/// A scorecard configuration with these tests.
pub(super) fn scorecard(tests: &[Value]) -> Value {
    json!({
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": {"name": "config"},
        "stages": [{"parallel": true, "tests": tests}],
        "storage": {"spec": {"mountPath": {}}},
    })
}
