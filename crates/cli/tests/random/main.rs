//! Random environments and apps, fifty and a thousand: `cargo xtask test --random`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;

use shared::clowder::random_plans::play;

const SEED: u64 = 1_000_003;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_random_plans_are_what_then_happens() {
    let tally = play(11, 0..50, 5).await;
    assert_eq!((tally.cases, tally.plans), (50, 10));
    assert!(tally.objects > 500, "the cases are worth it: {tally:?}");
    assert!(tally.differences.is_empty(), "{:#?}", tally.differences);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_random_plans_are_what_then_happens() {
    let tally = play(SEED, 0..1000, 3).await;
    println!(
        "{} cases, {} plans, {} objects, {} differences",
        tally.cases,
        tally.plans,
        tally.objects,
        tally.differences.len()
    );
    assert_eq!(tally.cases, 1000);
    assert!(tally.differences.is_empty(), "{:#?}", tally.differences);
}
