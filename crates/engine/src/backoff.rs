//! Pauses that double: the one place for what is tried again.

use std::time::Duration;

/// How long to wait after failures in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Pause after the first failure.
    pub base: Duration,
    /// Longest pause.
    pub cap: Duration,
}

impl Backoff {
    /// Between two tries within one reconcile or command: somebody waits for its end.
    pub const SHORT: Self = Self {
        base: Duration::from_millis(50),
        cap: Duration::from_secs(1),
    };

    /// Pause after the n-th failure in a row, counted from 1.
    pub fn pause(&self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1).min(31));
        self.base.saturating_mul(factor).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses = [1, 2, 3, 5, 6, 60].map(|failures| Backoff::SHORT.pause(failures).as_millis());
        assert_eq!(pauses, [50, 100, 200, 800, 1000, 1000]);
        assert_eq!(Backoff::SHORT.pause(0), Backoff::SHORT.base);
    }
}
