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
    /// Whether a body may be written over what somebody else made of it; if not, how long to wait.
    pub(crate) fn ask(&self, key: &ObjectKey, body: &Value, now: Instant) -> Result<(), Duration> {
        let body = hash(body);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clear(now);
        let entry = inner.entries.entry(key.clone()).or_insert(Entry {
            body,
            writes: 0,
            last: now,
        });
        let rested = now.duration_since(entry.last);
        if entry.body != body || rested >= WINDOW * 2 {
            entry.writes = 0;
        }
        if entry.writes >= FREE_WRITES && rested < WINDOW {
            return Err(WINDOW.saturating_sub(rested));
        }
        *entry = Entry {
            body,
            writes: entry.writes.saturating_add(1),
            last: now,
        };
        Ok(())
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

    #[test]
    fn the_same_body_is_written_a_few_times_and_then_once_a_minute() {
        let contests = Contests::default();
        let (key, body, start) = (key(), json!({"a": 1}), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for second in 0..3 {
            assert_eq!(contests.ask(&key, &body, at(second)), Ok(()));
        }
        let rest = Duration::from_secs(59);
        assert_eq!(contests.ask(&key, &body, at(3)), Err(rest));
        assert_eq!(contests.ask(&key, &body, at(62)), Ok(()));
        assert_eq!(
            contests.ask(&key, &body, at(63)),
            Err(rest),
            "it is not over"
        );
        assert_eq!(
            contests.ask(&key, &json!({"a": 2}), at(64)),
            Ok(()),
            "a new wish is no contest"
        );
    }

    #[test]
    fn an_object_that_rested_is_forgotten() {
        let contests = Contests::default();
        let (body, start) = (json!({"a": 1}), Instant::now());
        for _ in 0..3 {
            assert_eq!(contests.ask(&key(), &body, start), Ok(()));
        }
        let other = ObjectKey::new(Kind::new("", "v1", "Service"), "shop", "other");
        assert_eq!(contests.ask(&other, &body, start + WINDOW * 2), Ok(()));
        assert!(!contests.inner.lock().unwrap().entries.contains_key(&key()));
        assert_eq!(contests.ask(&key(), &body, start + WINDOW * 2), Ok(()));
    }
}
