//! What the webhooks refuse, the command line refuses too, with the place in the file.

use std::fs;

use crate::suite::cli::{directory_with, in_directory};

const APPS: &str = "apiVersion: cloud.redhat.com/v1alpha1
kind: ClowdEnvironment
metadata:
  name: stage
spec:
  targetNamespace: stage
  providers:
    web: {mode: operator, port: 8000}
    db: {mode: none}
    metrics: {mode: none, port: 9000}
---
apiVersion: cloud.redhat.com/v1alpha1
kind: ClowdApp
metadata:
  name: shop
spec:
  envName: stage
  database:
    name: goods
    sharedDbAppName: stock
  deployments:
  - name: web
    webServices:
      public:
        enabled: true
    deploymentStrategy:
      privateStrategy: Recreate
    podSpec:
      image: registry.test/shop:1
---
apiVersion: cloud.redhat.com/v1alpha1
kind: ClowdApp
metadata:
  name: stock
spec:
  envName: stage
  deployments: []
  jobs:
  - name: nightly
    schedule: 0 1 * * *
    podSpec:
      image: registry.test/stock:1
      sidecars:
      - name: mystery
        enabled: true
";

#[tokio::test]
async fn what_the_webhooks_refuse_is_refused_with_the_place_in_the_file() {
    let directory = directory_with("apps.yaml", APPS);
    let ended = in_directory(&directory, &["render", "-f", "apps.yaml"]).run();
    insta::assert_snapshot!(ended.await, @r"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: apps.yaml:20:22: spec.Database.Name.spec.Database.SharedDBAppName: Forbidden: cannot set db name and sharedDbApp Name together
    apps.yaml:27:24: spec.Deployment[0]: Forbidden: privateStrategy cannot be set to recreate for public web enabled deployments
    apps.yaml:44:15: spec.Deployment[0].Sidecars[0]: Forbidden: Sidecar is of unknown type, must be one of [token-refresher] or [otel-collector]
    ");
}

/// Nothing is asked of a cluster before the files are good.
#[tokio::test]
async fn plan_and_apply_refuse_before_they_look_for_a_cluster() {
    let directory = directory_with("apps.yaml", APPS);
    for command in ["plan", "apply"] {
        let ended = in_directory(&directory, &[command, "-f", "apps.yaml"]);
        let ended = ended.run().await;
        assert_eq!(ended.code, Some(1), "{ended}");
        assert!(
            ended.stderr.contains("apps.yaml:20:22: spec.Database"),
            "{ended}"
        );
    }
}

#[tokio::test]
async fn an_operator_without_webhooks_refuses_nothing() {
    let directory = directory_with("apps.yaml", APPS);
    let config = r#"{"features": {"disableWebhooks": true}}"#;
    fs::write(directory.path().join("config.json"), config).unwrap();
    let arguments = [
        "render",
        "-f",
        "apps.yaml",
        "--clowder-config",
        "config.json",
    ];
    let ended = in_directory(&directory, &arguments).run().await;
    // The provider has the last word then.
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(
        ended.stderr.contains("mystery is not a valid sidecar name"),
        "{ended}"
    );
}
