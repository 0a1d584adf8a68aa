//! Much data of others, and what the operator takes for it: `cargo xtask test --memory`.
//!
//! The program under test has no optimization; a release build takes less.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![expect(clippy::print_stdout, reason = "the figures are worth reading")]

#[path = "../shared/shared.rs"]
mod shared;
mod webhooks;

use std::time::Duration;

use futures::{StreamExt as _, stream};
use mainstay_testkit::{Operator, servers::serve_text};
use serde_json::{Value, json};
use shared::clowder::stage::{Stage, app_with_secrets, merge, web_app};

/// What data of others may cost at rest, in KiB: an operator may take 96 MiB, of which it has at most 16 MiB when a
/// release build is idle. The program under test has no optimization and takes more when it is idle, not for data.
const MOST_KIB: u64 = (96 - 16) * 1024;
/// What the pod of the operator may take at any time.
const LIMIT_KIB: u64 = 256 * 1024;
/// Time for memory to come to rest.
const REST: Duration = Duration::from_secs(3);
/// Requests of the test at the same time.
const LANES: usize = 8;

async fn takes_little(operator: &Operator, idle: u64, what: &str) {
    tokio::time::sleep(REST).await;
    let (now, peak) = (operator.memory(), operator.peak_memory());
    println!("{what}: {idle} KiB idle, {now} KiB now, {peak} KiB at most");
    assert!(now.saturating_sub(idle) <= MOST_KIB, "{what}: {now} KiB");
    assert!(peak < LIMIT_KIB, "{what}: {peak} KiB at most");
}

/// Creates Secrets side by side.
async fn put_secrets(stage: &Stage, secrets: impl Iterator<Item = (String, Value)>) {
    let create = secrets.map(|(name, data)| async move {
        stage.put_secret(&name, json!({}), data).await;
    });
    stream::iter(create)
        .buffer_unordered(LANES)
        .collect::<Vec<()>>()
        .await;
}

#[tokio::test]
async fn two_hundred_large_secrets_beside_those_of_a_managed_app_are_not_kept() {
    const BUNDLE: &str = "-----BEGIN CERTIFICATE-----\nnot really\n-----END CERTIFICATE-----\n";
    let stage = Stage::alone("large").await;
    let ballast = "x".repeat(512 * 1024);
    // Half of them look like what is looked for.
    let secrets = (0..200).map(|number| {
        let mut data = json!({"ballast": ballast});
        if number % 2 == 0 {
            let bucket = json!({"bucket": format!("other-{number}"), "endpoint": "store.test",
                "aws_region": "r", "aws_access_key_id": "i", "aws_secret_access_key": "k"});
            let database = json!({"db.host": "other.test", "db.port": "5432", "db.user": "u",
                "db.password": "p", "db.name": format!("other-{number}")});
            merge(&mut data, &bucket);
            merge(&mut data, &database);
        }
        (format!("large-{number}"), data)
    });
    put_secrets(&stage, secrets).await;
    let bucket = json!({"bucket": "photos", "endpoint": "store.test", "aws_region": "r",
        "aws_access_key_id": "i", "aws_secret_access_key": "k"});
    stage.put_secret("bucket", json!({}), bucket).await;
    let database = json!({"db.host": "goods.test", "db.port": "5432", "db.user": "u",
        "db.password": "p", "db.name": "goods"});
    let annotation = json!({"clowder/database": "shop"});
    stage.put_secret("database", annotation, database).await;

    let operator = stage.operator(&[]).await;
    let idle = operator.process.memory();
    stage
        .ready_environment(json!({"providers": {
            "db": {"mode": "app-interface", "caBundleURL": serve_text(BUNDLE).await},
            "objectStore": {"mode": "app-interface"},
        }}))
        .await;
    let mut app = web_app();
    app["database"] = json!({"name": "goods"});
    app["objectStore"] = json!(["photos"]);
    stage.create_app("shop", app).await;
    stage.app_done("shop").await;
    let config = stage.config("shop").await;
    assert_eq!(config["database"]["hostname"], "goods.test");
    takes_little(&operator.process, idle, "200 Secrets of 512 KiB").await;
}

#[tokio::test]
async fn three_thousand_references_are_refused_and_a_thousand_are_followed_in_little_memory() {
    let stage = Stage::alone("references").await;
    let names: Vec<String> = (0..3000).map(|number| format!("word-{number}")).collect();
    let word = "x".repeat(16 * 1024);
    let secrets = names
        .iter()
        .map(|name| (name.clone(), json!({"word": word})));
    put_secrets(&stage, secrets).await;
    let operator = stage.operator(&[]).await;
    let idle = operator.process.memory();
    stage.ready_environment(json!({})).await;
    stage.create_app("greedy", app_with_secrets(&names)).await;
    let text = stage.app_failed("greedy", "confighash").await;
    assert!(text.contains("at most 1000 are followed"), "{text}");
    takes_little(&operator.process, idle, "an app with 3,000 references").await;
    stage
        .create_app("shop", app_with_secrets(&names[..1000]))
        .await;
    stage.app_done("shop").await;
    takes_little(&operator.process, idle, "and one with 1,000").await;
}
