//! Deleting from a real API server, and what stays.

use k8s_openapi::api::core::v1::Namespace as KubeNamespace;
use kube::Api;

use super::{STRATEGIES, Stage};

#[tokio::test]
async fn a_namespace_that_was_there_before_survives_and_one_that_was_not_goes() {
    for strategy in STRATEGIES {
        let stage = Stage::set("manifest-delete").await;
        let old = &stage.namespace.name;
        let new = format!("{old}-made");
        let set = format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: {old}}}}}\n---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: {new}}}}}\n---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}}}\n---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: b, namespace: {new}}}}}\n"
        );
        stage
            .run(&["apply", "--strategy", strategy], &set)
            .await
            .success();
        let unconfirmed = stage.run(&["delete"], &set).await;
        assert_eq!(unconfirmed.code, Some(2), "{unconfirmed}");
        assert!(
            unconfirmed.stderr.contains(&format!("Namespace {new}")),
            "{unconfirmed}"
        );
        let removed = stage.run(&["delete", "--yes"], &set).await.success();
        let expected = format!(
            "ConfigMap {new}/b deleted\nConfigMap a deleted\nNamespace {new} deleted\nNamespace {old} kept\n"
        );
        assert_eq!(removed, expected, "{strategy}");
        let namespaces: Api<KubeNamespace> = Api::all(stage.namespace.client.clone());
        let is_going = |found: Option<KubeNamespace>| {
            found.is_none_or(|one| one.metadata.deletion_timestamp.is_some())
        };
        assert!(
            !is_going(namespaces.get_opt(old).await.unwrap()),
            "{strategy}"
        );
        assert!(
            is_going(namespaces.get_opt(&new).await.unwrap()),
            "{strategy}"
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_no_failure_unless_it_shall_be() {
    let stage = Stage::set("manifest-absent").await;
    let set = "{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}\n---\n{apiVersion: example.com/v1, kind: Nothing, metadata: {name: gone}}\n";
    let removed = stage.run(&["delete", "--yes"], set).await.success();
    assert_eq!(removed, "Nothing gone absent\nConfigMap gone absent\n");
    let strict = stage.run(&["delete", "--yes", "--strict"], set).await;
    assert_eq!(strict.code, Some(1), "{strict}");
    assert!(strict.stderr.contains("could not delete Nothing gone: the cluster has no kind Nothing in example.com/v1; 1 object was not reached"), "{strict}");
}
