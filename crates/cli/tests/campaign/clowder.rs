//! Clowder.

use mainstay_testkit::campaign::crash::Moments;

use crate::shared::clowder::workloads::{
    components::COMPONENTS, jobs::INVOCATIONS, kafka::TOPICS, storage::STORAGE,
    web_local::WEB_LOCAL,
};

#[tokio::test]
async fn storage_survives_a_crash_at_every_moment_of_every_write() {
    STORAGE
        .survives_a_crash_at_every_write(Moments::All, 31)
        .await;
}

#[tokio::test]
async fn storage_is_quiet_when_done() {
    STORAGE.is_quiet_when_done().await;
}

#[tokio::test]
async fn kafka_survives_a_crash_at_every_moment_of_every_write() {
    TOPICS
        .survives_a_crash_at_every_write(Moments::All, 31)
        .await;
}

#[tokio::test]
async fn kafka_is_quiet_when_done() {
    TOPICS.is_quiet_when_done().await;
}

#[tokio::test]
async fn a_login_server_survives_a_crash_at_every_moment_of_every_write() {
    WEB_LOCAL
        .survives_a_crash_at_every_write(Moments::All, 45)
        .await;
}

#[tokio::test]
async fn a_login_server_is_quiet_when_done() {
    WEB_LOCAL.is_quiet_when_done().await;
}

#[tokio::test]
async fn invocations_survive_a_crash_at_every_moment_of_every_write() {
    INVOCATIONS
        .survives_a_crash_at_every_write(Moments::All, 13)
        .await;
}

#[tokio::test]
async fn invocations_are_quiet_when_done() {
    INVOCATIONS.is_quiet_when_done().await;
}

#[tokio::test]
async fn components_survive_a_crash_at_every_moment_of_every_write() {
    COMPONENTS
        .survives_a_crash_at_every_write(Moments::All, 31)
        .await;
}
