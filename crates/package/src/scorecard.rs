//! The configuration of OLM's scorecard.

use serde_json::{Value, json};

/// Image that runs the tests.
const IMAGE: &str = "quay.io/operator-framework/scorecard-test:v1.39.2";

/// Suites and their tests; each is an entry point of the image.
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

/// Names of the suites.
pub fn suites() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|(suite, _)| *suite)
}

/// The tests of one suite.
pub fn tests(suite: &str) -> Vec<Value> {
    let tests = SUITES
        .iter()
        .filter(|(name, _)| *name == suite)
        .flat_map(|(_, tests)| tests.iter());
    let build = |test: &&str| {
        json!({
            "entrypoint": ["scorecard-test", test],
            "image": IMAGE,
            "labels": {"suite": suite, "test": format!("{test}-test")},
            "storage": {"spec": {"mountPath": {}}},
        })
    };
    tests.map(build).collect()
}

/// A configuration with these tests.
pub fn configuration(tests: &[Value]) -> Value {
    json!({
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": {"name": "config"},
        "stages": [{"parallel": true, "tests": tests}],
        "storage": {"spec": {"mountPath": {}}},
    })
}
