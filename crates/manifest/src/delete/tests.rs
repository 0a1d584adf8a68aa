use serde_json::json;

use super::*;
use crate::{
    apply::{ApplyOptions, apply},
    client::{MemoryClient, memory},
    testing::{object, parsed},
};

const SHOP: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}";

async fn removals(cluster: &MemoryClient, set: &ManifestSet) -> Vec<String> {
    let report = delete(cluster, set, &DeleteOptions::default()).await;
    let rows = report.rows.into_iter();
    rows.map(|(object, result)| format!("{object} {}", result.unwrap()))
        .collect()
}

#[tokio::test]
async fn a_set_goes_in_reverse_and_what_is_gone_is_no_failure() {
    let set = parsed(SHOP);
    let cluster = MemoryClient::default();
    apply(&cluster, &set, &ApplyOptions::default()).await;
    let first = removals(&cluster, &set).await;
    assert_eq!(
        first,
        [
            "ConfigMap shop/b deleted",
            "ConfigMap shop/a deleted",
            "Namespace shop deleted"
        ]
    );
    assert!(cluster.objects().is_empty());
    let second = removals(&cluster, &set).await;
    assert_eq!(
        second,
        [
            "ConfigMap shop/b absent",
            "ConfigMap shop/a absent",
            "Namespace shop absent"
        ]
    );
}

#[tokio::test]
async fn a_namespace_that_we_did_not_create_stays() {
    let namespace =
        object(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    let cluster = MemoryClient::with_objects([namespace]);
    let set = parsed(SHOP);
    apply(&cluster, &set, &ApplyOptions::default()).await;
    let removed = removals(&cluster, &set).await;
    assert_eq!(removed.last().unwrap(), "Namespace shop kept");
    assert_eq!(cluster.objects().len(), 1);
}

#[tokio::test]
async fn absence_can_be_a_failure_and_a_kind_that_is_not_served_is_absent() {
    let set = parsed("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let strict = DeleteOptions {
        ignore_not_found: false,
        ..DeleteOptions::default()
    };
    let report = delete(&MemoryClient::default(), &set, &strict).await;
    assert!(matches!(
        report.failures().next(),
        Some((_, ClientError::NotFound { .. }))
    ));
    let unserved = MemoryClient::default().failing(memory::Verb::Get, |key| {
        Some(ClientError::NotServed {
            kind: key.kind.kind.to_string(),
            api_version: "v1".to_owned(),
        })
    });
    assert_eq!(removals(&unserved, &set).await, ["ConfigMap a absent"]);
    let generated = parsed("{apiVersion: v1, kind: Job, metadata: {generateName: a-}}");
    assert_eq!(
        removals(&MemoryClient::default(), &generated).await,
        ["Job a-* kept"]
    );
}

#[tokio::test]
async fn only_the_object_that_was_read_is_deleted() {
    let set = parsed("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let cluster = MemoryClient::with_objects([object(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    )]);
    let key = set.objects()[0].key().unwrap();
    let other = DeleteRequest {
        uid: Some("another".to_owned()),
        ..DeleteRequest::default()
    };
    assert!(matches!(
        cluster.delete(&key, &other).await,
        Err(ClientError::Conflict { .. })
    ));
    let dry = DeleteOptions {
        dry_run: true,
        precondition: Precondition::UidAndVersion,
        ..DeleteOptions::default()
    };
    let report = delete(&cluster, &set, &dry).await;
    assert_eq!(report.rows[0].1, Ok(Removal::Deleted));
    assert_eq!(cluster.objects().len(), 1);
}
