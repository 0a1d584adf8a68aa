//! Kaoto. Each write of a life with all moments, on a stage of its own, is in every test run already.

use mainstay_testkit::campaign::crash::Moments;

use crate::shared::kaoto::workloads::{LIVES, SCRIPT};

#[tokio::test]
async fn lives_survive_a_crash_at_every_moment_of_every_write() {
    LIVES
        .survives_a_crash_at_every_write(Moments::All, 60)
        .await;
}

#[tokio::test]
async fn ten_at_once_survive_a_crash_at_every_moment_of_every_write() {
    SCRIPT
        .survives_a_crash_at_every_write(Moments::All, 40)
        .await;
}
