//! Faults between operator and API server: whatever share of the requests fails, and however, the end is the same.

mod single;

use crate::shared::kaoto::workloads::SCRIPT;

#[tokio::test]
async fn one_failing_request_in_a_hundred_changes_nothing() {
    // A seed with faults of four kinds among the first requests: a hundredth of a short run may be none at all.
    SCRIPT.ends_the_same_through_faults(1, 2116, 2).await;
    let end = &SCRIPT.undisturbed().await[0].state;
    let left = end["Deployment"].as_object().unwrap().len();
    assert_eq!(left, 7, "three of ten were deleted");
}

#[tokio::test]
async fn one_failing_request_in_ten_changes_nothing() {
    SCRIPT.ends_the_same_through_faults(10, 10, 5).await;
}

#[tokio::test]
async fn every_second_request_failing_changes_nothing() {
    SCRIPT.ends_the_same_through_faults(50, 50, 15).await;
}
