//! Waiting for the cluster, without sleeping longer than needed.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// Long enough for a busy machine; a test that needs longer has found something.
const PATIENCE: Duration = Duration::from_mins(2);

/// Polls until there is an answer.
///
/// # Panics
/// If there is none for two minutes.
pub async fn eventually<T, F, Fut>(what: &str, mut ask: F) -> T
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let started = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "gave up waiting until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
