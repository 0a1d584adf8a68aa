//! Which key is due when: de-duplicated, never twice at the same time, with back-off per key.
//!
//! Pure apart from the instants that are handed in, so its rules are tested without waiting.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use mainstay_engine::backoff::Backoff;
use tokio::time::Instant;

/// What happens to a key after its reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Failures are forgotten; look again after this time, or only on a change.
    Settled(Option<Duration>),
    /// Look again at once. Whoever says so again and again makes no progress, and is treated like a failure.
    Again,
    /// Look again on a change, which is sure to come. It is not known yet whether this ends well, so nothing is forgotten.
    Pending,
    /// Look again after the back-off.
    Failed,
}

/// So often a key may be looked at again at once.
const ROUNDS_AT_ONCE: u32 = 3;

#[derive(Debug, Default)]
struct Entry {
    in_flight: bool,
    /// A change came in while the reconcile ran.
    dirty: bool,
    queued: bool,
    /// When it was due.
    since: Option<Instant>,
    due: Option<Instant>,
    /// Not before this.
    rests_until: Option<Instant>,
    failures: u32,
    /// Passes in a row that wanted to go on at once.
    rounds: u32,
}

/// The queue.
#[derive(Debug)]
pub struct Queue<K> {
    backoff: Backoff,
    /// Shortest time between the end of a reconcile and the next one that a change asks for.
    rest: Duration,
    ready: VecDeque<K>,
    delayed: BTreeSet<(Instant, K)>,
    entries: HashMap<K, Entry>,
}

impl<K: Clone + Ord + Hash> Queue<K> {
    /// An empty queue.
    pub fn new(backoff: Backoff, rest: Duration) -> Self {
        Self {
            backoff,
            rest,
            ready: VecDeque::new(),
            delayed: BTreeSet::new(),
            entries: HashMap::new(),
        }
    }

    /// Something about the key changed. Says whether it was newly queued.
    pub fn add(&mut self, key: K, now: Instant) -> bool {
        let entry = self.entries.entry(key.clone()).or_default();
        if entry.in_flight {
            return !std::mem::replace(&mut entry.dirty, true);
        }
        if let Some(due) = entry.due.take() {
            self.delayed.remove(&(due, key.clone()));
        }
        if let Some(rest) = entry
            .rests_until
            .filter(|&rest| rest > now && !entry.queued)
        {
            entry.due = Some(rest);
            return self.delayed.insert((rest, key));
        }
        if std::mem::replace(&mut entry.queued, true) {
            return false;
        }
        entry.since = Some(now);
        self.ready.push_back(key);
        true
    }

    /// Takes the next key that is due; it stays in flight until [`Self::done`].
    pub fn pop(&mut self, now: Instant) -> Option<K> {
        while let Some((due, key)) = self.delayed.first().cloned()
            && due <= now
        {
            self.delayed.pop_first();
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.due = None;
                entry.queued = true;
                entry.since = Some(due);
            }
            self.ready.push_back(key);
        }
        let key = self.ready.pop_front()?;
        let entry = self.entries.entry(key.clone()).or_default();
        entry.queued = false;
        entry.in_flight = true;
        Some(key)
    }

    /// The reconcile of a key ended.
    pub fn done(&mut self, key: &K, next: Next, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        entry.in_flight = false;
        entry.rests_until = (!self.rest.is_zero()).then(|| now + self.rest);
        let pause = match next {
            Next::Failed => {
                entry.failures = entry.failures.saturating_add(1);
                Some(self.backoff.pause(entry.failures))
            }
            Next::Again => {
                entry.rounds = entry.rounds.saturating_add(1);
                entry.failures = entry.rounds.saturating_sub(ROUNDS_AT_ONCE);
                Some(match entry.failures {
                    0 => Duration::ZERO,
                    failures => self.backoff.pause(failures),
                })
            }
            Next::Pending => None,
            Next::Settled(pause) => {
                entry.failures = 0;
                entry.rounds = 0;
                pause.map(|pause| jittered(pause, key))
            }
        };
        if next == Next::Pending {
            if std::mem::take(&mut entry.dirty) {
                self.add(key.clone(), now);
            }
            return;
        }
        // A change that came in meanwhile does not wait, unless the key keeps failing: then the back-off holds.
        if std::mem::take(&mut entry.dirty) && entry.failures == 0 {
            self.add(key.clone(), now);
        } else if let Some(pause) = pause {
            let due = now + pause;
            entry.due = Some(due);
            self.delayed.insert((due, key.clone()));
        } else {
            self.entries.remove(key);
        }
    }

    /// Whatever failed did so for a reason that is gone.
    pub fn forgive(&mut self) {
        for entry in self.entries.values_mut() {
            entry.failures = 0;
            entry.rounds = 0;
        }
    }

    /// The instant of the next delayed key.
    pub fn next_due(&self) -> Option<Instant> {
        self.delayed.first().map(|(due, _)| *due)
    }

    /// Keys that wait for a worker.
    pub fn depth(&self) -> usize {
        self.ready.len()
    }

    /// How long a key that was taken just now has waited for it.
    pub fn waited(&self, key: &K, now: Instant) -> Duration {
        let since = self.entries.get(key).and_then(|entry| entry.since);
        since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Failures in a row of a key.
    pub fn failures(&self, key: &K) -> u32 {
        self.entries.get(key).map_or(0, |entry| entry.failures)
    }
}

/// Up to ten percent earlier or later, the same for the same key: a thousand objects do not come due at once.
fn jittered(pause: Duration, key: &impl Hash) -> Duration {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let permille = u32::try_from(hasher.finish() % 201).unwrap_or_default();
    pause * (900 + permille) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        base: Duration::from_millis(5),
        cap: Duration::from_secs(1000),
    };

    #[test]
    fn many_changes_of_one_key_are_one_pass() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        assert!(queue.add("a", now));
        assert!(!queue.add("a", now));
        let later = now + Duration::from_secs(3);
        assert_eq!(queue.pop(later), Some("a"));
        assert_eq!(queue.waited(&"a", later), Duration::from_secs(3));
        assert_eq!(queue.pop(later), None);
    }

    #[test]
    fn a_key_never_runs_twice_at_the_same_time_and_a_change_meanwhile_is_not_lost() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        queue.add("a", now);
        queue.pop(now);
        queue.add("a", now);
        assert_eq!(queue.pop(now), None);
        queue.done(&"a", Next::Settled(None), now);
        assert_eq!(queue.pop(now), Some("a"));
        queue.done(&"a", Next::Settled(None), now);
        assert_eq!(queue.pop(now), None);
    }

    #[test]
    fn who_waits_for_an_effect_runs_when_it_has_ended_and_keeps_its_failures() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        queue.add("a", now);
        queue.pop(now);
        queue.done(&"a", Next::Failed, now);
        let later = now + Duration::from_millis(5);
        assert_eq!(queue.pop(later), Some("a"));
        queue.done(&"a", Next::Pending, later);
        assert_eq!(queue.next_due(), None, "nothing is due before it has ended");
        queue.add("a", later);
        assert_eq!(queue.pop(later), Some("a"), "no back-off between the two");
        queue.add("a", later);
        queue.done(&"a", Next::Pending, later);
        assert_eq!(queue.pop(later), Some("a"), "it ended in the meantime");
        assert_eq!(queue.failures(&"a"), 1);
    }

    #[test]
    fn failures_double_the_pause_up_to_the_cap_and_success_forgets_them() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let mut now = Instant::now();
        queue.add("a", now);
        for expected in [5, 10, 20, 40] {
            assert_eq!(queue.pop(now), Some("a"));
            queue.done(&"a", Next::Failed, now);
            let due = queue.next_due().unwrap();
            assert_eq!(due - now, Duration::from_millis(expected));
            assert_eq!(queue.pop(now), None, "not before it is due");
            now = due;
        }
        assert_eq!(queue.pop(now), Some("a"));
        queue.done(&"a", Next::Settled(None), now);
        assert_eq!(queue.failures(&"a"), 0);
        assert_eq!(BACKOFF.pause(60), Duration::from_secs(1000));
    }

    #[test]
    fn a_change_wakes_a_key_that_waits_for_its_resync() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        queue.add("a", now);
        queue.pop(now);
        queue.done(&"a", Next::Settled(Some(Duration::from_hours(10))), now);
        let resync = queue.next_due().unwrap() - now;
        assert!(
            (Duration::from_hours(9)..=Duration::from_hours(11)).contains(&resync),
            "{resync:?}"
        );
        queue.add("a", now);
        assert_eq!(queue.pop(now), Some("a"));
        assert_eq!(queue.next_due(), None, "the old date is forgotten");
    }

    #[test]
    fn a_change_while_failing_does_not_defeat_the_back_off() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        queue.add("a", now);
        queue.pop(now);
        queue.add("a", now);
        queue.done(&"a", Next::Failed, now);
        assert_eq!(queue.pop(now), None);
        assert!(queue.next_due().is_some());
    }

    #[test]
    fn who_goes_on_at_once_again_and_again_backs_off() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let mut now = Instant::now();
        queue.add("a", now);
        for expected in [0, 0, 0, 5, 10, 20, 40] {
            assert_eq!(queue.pop(now), Some("a"));
            // A change meanwhile does not help either.
            if expected > 0 {
                queue.add("a", now);
            }
            queue.done(&"a", Next::Again, now);
            let due = queue.next_due().unwrap();
            assert_eq!(due - now, Duration::from_millis(expected));
            now = due;
        }
        assert_eq!(queue.pop(now), Some("a"));
        queue.done(&"a", Next::Settled(None), now);
        queue.add("a", now);
        queue.pop(now);
        queue.done(&"a", Next::Again, now);
        assert_eq!(queue.next_due(), Some(now), "progress was made");
    }

    #[test]
    fn what_is_forgiven_is_not_held_against_the_next_failure() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        queue.add("a", now);
        for _ in 0..5 {
            queue.add("a", now);
            queue.pop(now);
            queue.done(&"a", Next::Failed, now);
        }
        queue.forgive();
        queue.add("a", now);
        assert_eq!(queue.pop(now), Some("a"), "at once");
        queue.done(&"a", Next::Failed, now);
        assert_eq!(queue.next_due(), Some(now + Duration::from_millis(5)));
    }

    #[test]
    fn settled_keys_leave_nothing_behind() {
        let mut queue = Queue::new(BACKOFF, Duration::ZERO);
        let now = Instant::now();
        for key in 0..100 {
            queue.add(key, now);
            queue.pop(now);
            queue.done(&key, Next::Settled(None), now);
        }
        assert!(queue.entries.is_empty() && queue.ready.is_empty() && queue.delayed.is_empty());
    }

    #[test]
    fn a_key_that_rests_takes_all_changes_meanwhile_in_one_pass() {
        let rest = Duration::from_secs(1);
        let mut queue = Queue::new(BACKOFF, rest);
        let now = Instant::now();
        queue.add("a", now);
        assert_eq!(queue.pop(now), Some("a"), "the first change does not wait");
        queue.done(&"a", Next::Settled(Some(Duration::from_hours(1))), now);
        for millis in [1, 400, 900] {
            queue.add("a", now + Duration::from_millis(millis));
            assert_eq!(queue.pop(now + Duration::from_millis(millis)), None);
        }
        assert_eq!(queue.next_due(), Some(now + rest));
        assert_eq!(queue.pop(now + rest), Some("a"));
        assert_eq!(queue.pop(now + rest), None);
    }
}
