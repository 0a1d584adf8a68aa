//! Golden cases: `tests/golden/kaoto/<case>` holds `input.yaml` and what becomes of it on plain Kubernetes
//! (`expected.yaml`) and on OpenShift (`expected-openshift.yaml`). `UPDATE_GOLDEN=1` rewrites the expectations.

use std::{fs, path::PathBuf};

use crate::run;

const CLUSTERS: [(&str, &str); 2] = [
    ("vanilla", "expected.yaml"),
    ("openshift", "expected-openshift.yaml"),
];

fn cases() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/kaoto");
    let entries = fs::read_dir(root).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

#[tokio::test]
async fn every_case_renders_as_expected_and_twice_the_same() {
    let cases = cases();
    assert!(cases.len() >= 8, "the cases are there: {cases:?}");
    let mut differing = Vec::new();
    for case in cases {
        let input = case.join("input.yaml");
        for (cluster_type, file) in CLUSTERS {
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
            if fs::read_to_string(&expected).unwrap() != first {
                differing.push(format!("{}:\n{first}", expected.display()));
            }
        }
    }
    assert!(
        differing.is_empty(),
        "UPDATE_GOLDEN=1 rewrites these:\n{}",
        differing.join("\n")
    );
}
