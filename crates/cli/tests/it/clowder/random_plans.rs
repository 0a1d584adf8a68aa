//! Plans of random environments and apps. A thousand more: `cargo xtask test --random`.

use crate::shared::clowder::random_plans::play;

/// The same cases in every run.
const SEED: u64 = 11;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_random_plans_are_what_then_happens() {
    let tally = play(SEED, 0..50, 5).await;
    assert_eq!((tally.cases, tally.plans), (50, 10));
    assert!(tally.objects > 500, "the cases are worth it: {tally:?}");
    assert!(tally.differences.is_empty(), "{:#?}", tally.differences);
}
