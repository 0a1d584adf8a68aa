//! Objects that somebody else changes back whenever we put them right.
//!
//! Two operators that want different things of one object would write as fast as the API server answers. Whoever finds
//! that the same body has to be written a third time within a minute writes it once a minute from then on, until the
//! other one rests or the body changes.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use mainstay_engine::key::ObjectKey;
use serde_json::Value;
use tokio::time::Instant;

/// Writes of one body within this time make a contest.
pub(crate) const WINDOW: Duration = Duration::from_mins(1);
/// So many are no contest yet.
const FREE_WRITES: u32 = 3;

#[derive(Debug)]
struct Entry {
    body: u64,
    writes: u32,
    last: Instant,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<ObjectKey, Entry>,
    cleared: Option<Instant>,
}

impl Inner {
    /// Forgets what rested long enough, so that only what is written now takes room.
    fn clear(&mut self, now: Instant) {
        let is_due = |cleared: Instant| now.duration_since(cleared) >= WINDOW;
        if self.cleared.is_none_or(is_due) {
            self.entries
                .retain(|_, entry| now.duration_since(entry.last) < WINDOW * 2);
            self.cleared = Some(now);
        }
    }
}

/// What was written lately.
#[derive(Debug, Default)]
pub struct Contests {
    inner: Mutex<Inner>,
}

impl Contests {
    /// How long to wait before a body is written over what somebody else made of it; `None` if it may be written.
    pub(crate) fn pause(&self, key: &ObjectKey, body: &Value, now: Instant) -> Option<Duration> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = inner.entries.get(key)?;
        let is_contested = entry.writes >= FREE_WRITES && entry.body == hash(body);
        let rested = now.saturating_duration_since(entry.last);
        (is_contested && rested < WINDOW).then(|| WINDOW.saturating_sub(rested))
    }

    /// A body was written. Tries that came to nothing do not count.
    pub(crate) fn written(&self, key: &ObjectKey, body: &Value, now: Instant) {
        let body = hash(body);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clear(now);
        let known = inner.entries.get(key).filter(|entry| {
            entry.body == body && now.saturating_duration_since(entry.last) < WINDOW * 2
        });
        let writes = known.map_or(0, |entry| entry.writes).saturating_add(1);
        let last = now;
        inner
            .entries
            .insert(key.clone(), Entry { body, writes, last });
    }
}

fn hash(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use mainstay_engine::Kind;
    use serde_json::json;

    use super::*;

    fn key() -> ObjectKey {
        ObjectKey::new(Kind::new("", "v1", "Service"), "shop", "web")
    }

    /// Writes if it may be written.
    fn ask(contests: &Contests, key: &ObjectKey, body: &Value, now: Instant) -> Option<Duration> {
        let pause = contests.pause(key, body, now);
        if pause.is_none() {
            contests.written(key, body, now);
        }
        pause
    }

    #[test]
    fn the_same_body_is_written_a_few_times_and_then_once_a_minute() {
        let contests = Contests::default();
        let (key, body, start) = (key(), json!({"a": 1}), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for second in 0..3 {
            assert_eq!(ask(&contests, &key, &body, at(second)), None);
        }
        let rest = Some(Duration::from_secs(59));
        assert_eq!(ask(&contests, &key, &body, at(3)), rest);
        assert_eq!(ask(&contests, &key, &body, at(62)), None);
        assert_eq!(ask(&contests, &key, &body, at(63)), rest, "it is not over");
        let other = json!({"a": 2});
        assert_eq!(ask(&contests, &key, &other, at(64)), None, "a new wish");
    }

    #[test]
    fn tries_that_come_to_nothing_are_no_contest() {
        let contests = Contests::default();
        for _ in 0..10 {
            assert_eq!(contests.pause(&key(), &json!({}), Instant::now()), None);
        }
    }

    #[test]
    fn an_object_that_rested_is_forgotten() {
        let contests = Contests::default();
        let (body, start) = (json!({"a": 1}), Instant::now());
        for _ in 0..3 {
            contests.written(&key(), &body, start);
        }
        let other = ObjectKey::new(Kind::new("", "v1", "Service"), "shop", "other");
        contests.written(&other, &body, start + WINDOW * 2);
        assert!(!contests.inner.lock().unwrap().entries.contains_key(&key()));
        assert_eq!(contests.pause(&key(), &body, start + WINDOW * 2), None);
    }
}
