//! Crashes and faults: whatever happens between operator and API server, the end is the same, and nothing is made up
//! twice. Every moment of every write: `cargo xtask test --campaign`.

use mainstay_testkit::campaign::crash::Moments;

use super::workloads::{kafka::TOPICS, storage::STORAGE, web_local::WEB_LOCAL};

#[tokio::test]
async fn a_crash_at_every_write_leaves_no_trace() {
    STORAGE
        .survives_a_crash_at_every_write(Moments::InTurn, 31)
        .await;
}

#[tokio::test]
async fn one_failing_request_in_a_hundred_changes_nothing() {
    STORAGE.ends_the_same_through_faults(1, 7, 1).await;
}

#[tokio::test]
async fn one_failing_request_in_ten_changes_nothing() {
    STORAGE.ends_the_same_through_faults(10, 10, 10).await;
}

#[tokio::test]
async fn every_second_request_failing_changes_nothing() {
    STORAGE.ends_the_same_through_faults(50, 50, 50).await;
}

#[tokio::test]
async fn with_kafka_a_crash_at_every_write_leaves_no_trace() {
    TOPICS
        .survives_a_crash_at_every_write(Moments::InTurn, 31)
        .await;
}

#[tokio::test]
async fn with_kafka_one_failing_request_in_ten_changes_nothing() {
    TOPICS.ends_the_same_through_faults(10, 11, 10).await;
}

#[tokio::test]
async fn with_a_login_server_a_crash_at_every_write_leaves_no_trace() {
    WEB_LOCAL
        .survives_a_crash_at_every_write(Moments::InTurn, 45)
        .await;
}

#[tokio::test]
async fn with_a_login_server_one_failing_request_in_ten_changes_nothing() {
    WEB_LOCAL.ends_the_same_through_faults(10, 11, 10).await;
}

#[tokio::test]
async fn with_a_login_server_every_second_request_failing_changes_nothing() {
    WEB_LOCAL.ends_the_same_through_faults(50, 51, 50).await;
}
