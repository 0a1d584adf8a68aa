//! A thousand random environments and apps: `cargo xtask test --random`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../shared/shared.rs"]
mod shared;

use shared::clowder::random_plans::play;

/// Another one than that of every run.
const SEED: u64 = 1_000_003;

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
