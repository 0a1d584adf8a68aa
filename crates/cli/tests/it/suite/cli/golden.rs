//! Golden cases: `tests/golden/<system>/<case>` holds `input.yaml` and what becomes of it. Kaoto renders twice: for plain
//! Kubernetes (`expected.yaml`) and for OpenShift (`expected-openshift.yaml`). `UPDATE_GOLDEN=1` rewrites the expectations.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::run;

fn cases(system: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let entries = fs::read_dir(root.join(system)).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// Renders a case twice, compares, and returns the complaint if it is not what was expected.
async fn differs(case: &Path, cluster_type: &str, file: &str) -> Option<String> {
    let input = case.join("input.yaml");
    let arguments = [
        "render",
        "--cluster-type",
        cluster_type,
        "-f",
        input.to_str().unwrap(),
    ];
    let first = run(&arguments).run().await.success();
    let second = run(&arguments).run().await.success();
    assert_eq!(first, second, "{}", case.display());
    let expected = case.join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&expected, &first).unwrap();
    }
    let same = fs::read_to_string(&expected).unwrap_or_default() == first;
    (!same).then(|| format!("{}:\n{first}", expected.display()))
}

async fn check(system: &str, at_least: usize, outputs: &[(&str, &str)]) {
    let cases = cases(system);
    assert!(cases.len() >= at_least, "the cases are there: {cases:?}");
    let mut complaints = Vec::new();
    for case in cases {
        for (cluster_type, file) in outputs {
            complaints.extend(differs(&case, cluster_type, file).await);
        }
    }
    assert!(
        complaints.is_empty(),
        "UPDATE_GOLDEN=1 rewrites these:\n{}",
        complaints.join("\n")
    );
}

#[tokio::test]
async fn every_case_renders_as_expected_and_twice_the_same() {
    let outputs = [
        ("vanilla", "expected.yaml"),
        ("openshift", "expected-openshift.yaml"),
    ];
    check("kaoto", 8, &outputs).await;
}

#[tokio::test]
async fn every_clowder_case_renders_as_expected_and_twice_the_same() {
    check("clowder", 30, &[("vanilla", "expected.yaml")]).await;
}
