//! The API server goes away and comes back: `cargo xtask test --outage`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;
mod storage;

use std::time::{Duration, Instant};

use mainstay_testkit::{
    Namespace, Operator,
    namespace::object_when,
    operator::http_get,
    plane::{OwnPlane, install_definitions},
};
use serde_json::json;
use shared::program::mainstay;

/// Longer than any pause between two attempts at the beginning of an outage.
const OUTAGE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn an_operator_without_election_outlives_an_api_server_that_is_away() {
    let plane = OwnPlane::start("tests-outage");
    let client = plane.client().await;
    install_definitions(&client).await;
    let namespace = Namespace::create(&client, "outage").await;
    let only_here = ["--systems", "kaoto", "--watch-namespace", &namespace.name];
    let mut operator = Operator::start(mainstay(), &plane.kubeconfig(), &only_here);
    operator.ready().await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;

    plane.stop_api_server().await;
    tokio::time::sleep(OUTAGE).await;
    assert!(operator.is_running(), "the outage ended the operator");
    plane.start_api_server().await;

    let change = json!({"spec": {"image": "registry.test/app:2"}});
    namespace.patch_kaoto("designer", change).await;
    let deployments = namespace.deployments();
    object_when(
        &deployments,
        "designer",
        "has the new image",
        |deployment| {
            let containers = &deployment["spec"]["template"]["spec"]["containers"];
            containers[0]["image"] == "registry.test/app:2"
        },
    )
    .await;
    assert!(operator.is_running());
}

/// How soon everything has to be as declared after the API server has said that it is ready.
const CONVERGED: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_leader_outlives_a_minute_without_an_api_server_and_goes_on_within_seconds() {
    outlives("tests-outage-minute", Duration::from_mins(1)).await;
}

#[tokio::test]
async fn a_leader_outlives_ten_minutes_without_an_api_server_and_goes_on_within_seconds() {
    outlives("tests-outage-long", Duration::from_mins(10)).await;
}

/// Takes the API server away from a leader that has something to do when it is back.
#[allow(clippy::print_stdout, reason = "the figures are worth a look")]
async fn outlives(prefix: &str, outage: Duration) {
    let plane = OwnPlane::start(prefix);
    let client = plane.client().await;
    install_definitions(&client).await;
    let namespace = Namespace::create(&client, "outage").await;
    let arguments = [
        "--systems",
        "kaoto",
        "--watch-namespace",
        &namespace.name,
        "--leader-election-namespace",
        &namespace.name,
    ];
    let mut operator = Operator::start_with(mainstay(), &plane.kubeconfig(), &arguments);
    operator.ready().await;
    namespace.create_kaoto("designer", json!({})).await;
    namespace.kaoto_ready("designer").await;
    let memory = operator.memory();

    plane.stop_api_server().await;
    tokio::time::sleep(outage).await;
    assert!(operator.is_running(), "the outage ended the operator");
    assert_eq!(http_get(operator.probe(), "/livez").await, Some(200));
    plane.start_api_server().await;
    let back = Instant::now();

    namespace.create_kaoto("after", json!({})).await;
    namespace.kaoto_ready("after").await;
    let took = back.elapsed();
    let growth = operator.memory().saturating_sub(memory);
    println!("converged {took:?} after {outage:?} without an API server, grew by {growth} KiB");
    assert!(took < CONVERGED, "took {took:?}");
    assert!(growth < 4096, "grew by {growth} KiB");
    let log = operator.log();
    assert_eq!(log.matches("Became leader").count(), 2, "{log}");
    let lines = log.lines().count();
    assert!(lines < 100, "an outage is told once: {lines} lines\n{log}");
}
