//! Crashes: the operator is killed around every single write, and at random moments. A second life ends where an
//! undisturbed one does, and both lives together write exactly what an undisturbed one writes.

use mainstay_testkit::campaign::crash::Moments;

use crate::shared::kaoto::workloads::{CREATION, DELETION, LIVES, UPDATE};

#[tokio::test]
async fn a_crash_at_any_write_of_a_creation_leaves_no_trace() {
    CREATION
        .survives_a_crash_at_any_write(Moments::All, 5)
        .await;
}

#[tokio::test]
async fn a_crash_at_any_write_of_an_update_leaves_no_trace() {
    UPDATE.survives_a_crash_at_any_write(Moments::All, 3).await;
}

#[tokio::test]
async fn a_crash_at_any_write_of_a_deletion_leaves_no_trace() {
    DELETION
        .survives_a_crash_at_any_write(Moments::All, 4)
        .await;
}

#[tokio::test]
async fn crashes_at_random_moments_leave_no_trace() {
    LIVES.survives_crashes_at_random_moments(0x6b61_6f74).await;
}
