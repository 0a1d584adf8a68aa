//! The API server goes away and comes back: `cargo xtask test --outage`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;

use std::time::Duration;

use mainstay_testkit::{
    Namespace, Operator,
    namespace::object_when,
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
