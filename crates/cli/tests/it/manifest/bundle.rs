//! Whole bundles against a real API server.

use std::{fmt::Write as _, path::Path};

use mainstay_control_plane::definitions;
use mainstay_testkit::plane::OwnPlane;

use super::Stage;
use crate::run;

/// A definition, and an object of the kind that it defines.
fn definition(plural: &str, kind: &str) -> String {
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.manifest.example.com}}
spec:
  group: manifest.example.com
  names: {{kind: {kind}, plural: {plural}, singular: {singular}}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              items:
                type: array
                items:
                  type: object
                  properties: {{name: {{type: string}}, size: {{type: integer, default: 3}}}}
---
apiVersion: manifest.example.com/v1
kind: {kind}
metadata: {{name: one}}
spec: {{items: [{{name: a}}]}}
",
        singular = kind.to_lowercase()
    )
}

#[tokio::test]
async fn a_kind_and_its_object_are_applied_in_one_go() {
    let stage = Stage::set("manifest-kind").await;
    let kind = format!("Widget{}", std::process::id());
    let set = definition(&format!("{}s", kind.to_lowercase()), &kind);
    let applied = stage.run(&["apply"], &set).await.success();
    assert!(
        applied.ends_with(&format!("{kind} one created\n")),
        "{applied}"
    );
    let difference = stage.run(&["diff"], &set).await;
    assert_eq!(
        difference.code,
        Some(0),
        "a default of the definition is no difference: {difference}"
    );
    stage.run(&["delete", "--yes"], &set).await.success();
}

#[tokio::test]
async fn what_the_server_refuses_is_told_with_its_object_and_what_was_not_reached() {
    let stage = Stage::set("manifest-refused").await;
    let set = "{apiVersion: v1, kind: ConfigMap, metadata: {name: first}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: wrong}, spec: {ports: []}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}\n";
    let stopped = stage.run(&["apply"], set).await;
    assert_eq!(stopped.code, Some(1), "{stopped}");
    assert_eq!(stopped.stdout, "ConfigMap first created\n");
    assert!(
        stopped.stderr.contains("could not apply Service wrong: "),
        "{stopped}"
    );
    assert!(
        stopped.stderr.contains("; 1 object was not reached"),
        "{stopped}"
    );
    let went_on = stage.run(&["apply", "--continue-on-error"], set).await;
    assert_eq!(went_on.code, Some(1), "{went_on}");
    assert_eq!(
        went_on.stdout,
        "ConfigMap first unchanged\nConfigMap last created\n"
    );
}

#[tokio::test]
async fn a_long_apply_tells_how_far_it_is() {
    let stage = Stage::set("manifest-long").await;
    let set = (0..200).fold(String::new(), |mut text, number| {
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: n{number}}}}}"
        );
        text
    });
    let applied = stage.run(&["apply", "--progress", "always"], &set).await;
    assert!(
        applied.stderr.ends_with("200 of 200 applied\n"),
        "{applied}"
    );
    assert_eq!(applied.success().lines().count(), 200);
    let quiet = stage.run(&["apply"], &set).await;
    assert_eq!(quiet.stderr, "", "nobody watches");
}

#[tokio::test]
async fn values_of_secrets_are_not_shown() {
    let stage = Stage::set("manifest-secret").await;
    let secret = |word: &str| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, stringData: {{password: {word}}}}}\n"
        )
    };
    stage.run(&["apply"], &secret("hunter2")).await.success();
    for output in ["unified", "patch", "name"] {
        let shown = stage
            .run(&["diff", "-o", output], &secret("correct-horse"))
            .await;
        assert_eq!(shown.code, Some(1), "{shown}");
        assert!(
            !shown.to_string().contains("hunter2") && !shown.to_string().contains("correct-horse"),
            "{shown}"
        );
    }
    let shown = stage
        .run(
            &["diff", "-o", "patch", "--show-secrets"],
            &secret("correct-horse"),
        )
        .await;
    assert!(shown.stdout.contains("correct-horse"), "{shown}");
}

/// Knative's bundles watch the whole cluster by webhooks, so they get one of their own.
#[tokio::test]
async fn released_bundles_are_applied_once_and_then_nothing_differs() {
    let plane = OwnPlane::start("manifest-bundles");
    let root = definitions::knative().unwrap();
    let files = tempfile::TempDir::new().unwrap();
    let manifest = async |words: &[&str], path: &Path| {
        let all = ["manifest"].iter().chain(words).copied();
        let all: Vec<&str> = all.chain(["-f", path.to_str().unwrap()]).collect();
        run(&all).kubeconfig(&plane.kubeconfig()).run().await
    };
    for bundle in [
        "knative-serving/1.12.0",
        "knative-serving/1.15.2",
        "knative-eventing/1.15.0",
    ] {
        // Certificates are another operator's, and a name that is made up is made up each time.
        let words = ["select", "-R", "--kind", "Certificate,Job", "--not"];
        let chosen = manifest(&words, &root.join(bundle)).await.success();
        let file = files.path().join("bundle.yaml");
        std::fs::write(&file, chosen).unwrap();
        for strategy in super::STRATEGIES {
            manifest(&["apply", "--strategy", strategy], &file)
                .await
                .success();
            let difference = manifest(&["diff", "--strategy", strategy], &file).await;
            assert_eq!(
                difference.code,
                Some(0),
                "{bundle} {strategy}: {difference}"
            );
            let again = manifest(&["apply", "--strategy", strategy], &file)
                .await
                .success();
            let changed: Vec<&str> = again
                .lines()
                .filter(|line| !line.ends_with(" unchanged"))
                .collect();
            assert!(changed.is_empty(), "{bundle} {strategy}: {changed:?}");
        }
    }
    let file = files.path().join("bundle.yaml");
    let removed = manifest(&["delete", "--yes"], &file).await.success();
    assert!(
        removed.contains("Namespace knative-eventing deleted\n"),
        "{removed}"
    );
    // Some objects are in the bundle twice.
    let is_gone = |line: &str| line.ends_with(" deleted") || line.ends_with(" absent");
    assert!(removed.lines().all(is_gone), "{removed}");
}
