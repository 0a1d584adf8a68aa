//! Whether the workers make progress.
//!
//! A task on their runtime notes the time once a second. It is late only if something keeps the runtime from polling its
//! tasks; a process that has nothing to do is in time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Pause between two beats.
const BEAT: Duration = Duration::from_secs(1);

/// The time of the last beat. Cheap to clone, and readable from every thread.
#[derive(Clone, Debug)]
pub struct Pulse {
    started: Instant,
    /// Milliseconds since the start.
    last: Arc<AtomicU64>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            last: Arc::default(),
        }
    }
}

impl Pulse {
    /// One that has stopped long ago.
    #[cfg(test)]
    pub(crate) fn stopped() -> Self {
        let long = Duration::from_hours(1);
        Self {
            started: Instant::now().checked_sub(long).unwrap(),
            last: Arc::default(),
        }
    }

    /// Notes that the runtime polls its tasks.
    pub fn beat(&self) {
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::Relaxed);
    }

    /// Time since the last beat.
    pub fn age(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last)
    }

    /// Beats for ever, on the runtime that polls this.
    pub async fn keep(self) {
        loop {
            self.beat();
            tokio::time::sleep(BEAT).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_runtime_that_polls_its_tasks_beats_and_one_that_is_blocked_does_not() {
        let pulse = Pulse::default();
        tokio::spawn(pulse.clone().keep());
        let blocked = Duration::from_millis(2500);
        tokio::time::sleep(Duration::from_millis(50)).await;
        std::thread::sleep(blocked);
        let age = pulse.age();
        assert!(age >= blocked, "{age:?}");
        // The timer is due, so the task beats as soon as it is polled.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(pulse.age() < age, "{:?}", pulse.age());
    }
}
