//! Apps whose pods refer to many objects of others.

use mainstay_testkit::audit::Mark;
use serde_json::json;

use super::stage::{Stage, app_with_secrets, web_app};

#[tokio::test]
async fn dozens_of_secrets_are_read_once_each_and_together() {
    let stage = Stage::alone("words").await;
    let operator = stage.operator(&[]).await;
    stage.ready_environment(json!({})).await;
    let names: Vec<String> = (0..40).map(|number| format!("word-{number}")).collect();
    for name in &names {
        stage
            .put_secret(name, json!({}), json!({"word": name}))
            .await;
    }
    let mark = Mark::quiet(stage.plane.audit_log(), &stage.namespace.name).await;
    stage.create_app("shop", app_with_secrets(&names)).await;
    stage.app_done("shop").await;
    let sent = mark.settled(&stage.namespace.name).await;
    let reads = sent
        .iter()
        .filter(|entry| entry.verb == "get" && entry.resource == "secrets");
    let mut read: Vec<&str> = reads.map(|entry| entry.name.as_str()).collect();
    read.retain(|name| name.starts_with("word-"));
    let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
    read.sort_unstable();
    expected.sort_unstable();
    assert_eq!(read, expected);
    let log = operator.process.log();
    assert!(!log.contains("keeps changing"), "{log}");
}

#[tokio::test]
async fn more_references_than_can_be_followed_are_refused_with_a_condition() {
    let stage = Stage::shared("too-many").await;
    stage.ready_environment(json!({})).await;
    let names: Vec<String> = (0..1001).map(|number| format!("word-{number}")).collect();
    stage.create_app("shop", app_with_secrets(&names)).await;
    let text = stage.app_failed("shop", "confighash").await;
    assert!(
        text.contains("refer to 1001 Secrets and ConfigMaps, and at most 1000 are followed"),
        "{text}"
    );
    stage.create_app("other", web_app()).await;
    stage.app_done("other").await;
}
