//! How long a watch that fails waits before the next try, and what it says about it.

use std::time::Duration;

use kube::runtime::watcher;
use mainstay_engine::{backoff::Backoff, kind::DeclaredKind};
use tokio::time::Instant;

use crate::error::causes;

/// Pause after the first failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// Pause while nobody answers. What nobody hears of nobody mends, so it is short: a few dozen watches that try once a
/// second are no load for a server that is coming back.
const AWAY_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause after an answer that is an error, for a kind that could be listed before.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Longest pause for a kind that cannot be listed: somebody has to change something first.
const HOPELESS_PAUSE: Duration = Duration::from_secs(30);
/// A server that comes back may know its roles later than its kinds, so a refusal so soon after says little.
const COMING_BACK: Duration = Duration::from_secs(15);
/// A watch that lived this long before it failed did well.
const GOOD_LIFE: Duration = Duration::from_secs(30);

/// What kind of trouble a watch is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Nobody answers, or an answer broke off.
    Away,
    /// We may not.
    Forbidden,
    /// The answer is an error.
    Refused,
}

/// The troubles of one watch: how long to wait, and what was said about them.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// The last one, and how often it came in a row.
    last: Option<(Trouble, u32)>,
    last_away: Option<Instant>,
    /// When it was tried again.
    pub(super) tried: Option<Instant>,
    /// What was logged, so that a state is logged once.
    said: Option<String>,
}

impl Troubles {
    /// Notes a failure and says how long to wait before the next try.
    pub(super) fn pause_after(
        &mut self,
        error: &watcher::Error,
        row: &DeclaredKind,
        was_synced: bool,
    ) -> Duration {
        let trouble = trouble_of(error);
        self.say(trouble, error, row);
        let did_well = |tried: Instant| tried.elapsed() > GOOD_LIFE;
        let before = match self.last {
            Some((last, times)) if last == trouble && !self.tried.is_some_and(did_well) => times,
            _ => 0,
        };
        let times = before.saturating_add(1);
        self.last = Some((trouble, times));
        let is_coming_back = self
            .last_away
            .is_some_and(|away| away.elapsed() < COMING_BACK);
        if trouble == Trouble::Away {
            self.last_away = Some(Instant::now());
        }
        pause(trouble, times, is_coming_back, was_synced)
    }

    fn say(&mut self, trouble: Trouble, error: &watcher::Error, row: &DeclaredKind) {
        let text = causes(error).join(": ");
        if self.said.as_ref() == Some(&text) {
            return;
        }
        let resource = if row.kind.group.is_empty() {
            row.plural.clone().into_owned()
        } else {
            format!("{}.{}", row.plural, row.kind.group)
        };
        match trouble {
            // The client says it for all kinds together.
            Trouble::Away => {
                tracing::debug!(kind = %row.kind, error = text, "Watch broke off and will be retried");
                return;
            }
            Trouble::Forbidden => {
                let verb = verb_of(error);
                tracing::warn!(kind = %row.kind, verb, resource, error = text, "A permission is missing; what exists of this kind is not known");
            }
            Trouble::Refused => {
                tracing::warn!(kind = %row.kind, resource, error = text, "Watch failed and will be retried");
            }
        }
        self.said = Some(text);
    }

    /// The watch is well.
    pub(super) fn end(&mut self, row: &DeclaredKind) {
        if self.said.take().is_some() {
            tracing::info!(kind = %row.kind, "Watch works again");
        }
        self.last = None;
    }
}

/// Time until the next try, after some troubles of the same kind in a row.
fn pause(trouble: Trouble, times: u32, is_coming_back: bool, was_synced: bool) -> Duration {
    let doubled = |cap| {
        let base = SHORTEST_PAUSE;
        Backoff { base, cap }.pause(times)
    };
    match trouble {
        Trouble::Away if times <= 1 => SHORTEST_PAUSE,
        Trouble::Away => AWAY_PAUSE,
        Trouble::Forbidden if is_coming_back => AWAY_PAUSE,
        Trouble::Forbidden => HOPELESS_PAUSE,
        Trouble::Refused if was_synced => doubled(LONGEST_PAUSE),
        Trouble::Refused => doubled(HOPELESS_PAUSE),
    }
}

fn trouble_of(error: &watcher::Error) -> Trouble {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => {
            if status.is_forbidden() || status.code == 403 {
                Trouble::Forbidden
            } else {
                Trouble::Refused
            }
        }
        // The server no longer knows the version that a watch went on from; a new list is all it takes.
        watcher::Error::WatchError(status) if status.code == 410 => Trouble::Away,
        watcher::Error::WatchError(_) | watcher::Error::NoResourceVersion => Trouble::Refused,
        _ => Trouble::Away,
    }
}

const fn verb_of(error: &watcher::Error) -> &'static str {
    match error {
        watcher::Error::InitialListFailed(_) => "list",
        _ => "watch",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_nobody_answers_a_kind_is_tried_once_a_second() {
        let pauses = (1..=600).map(|times| pause(Trouble::Away, times, false, true));
        let total: Duration = pauses.sum();
        assert_eq!(total, Duration::from_millis(599_100));
    }

    #[test]
    fn what_is_forbidden_is_asked_for_twice_a_minute_but_not_right_after_an_outage() {
        let second = Duration::from_secs(1);
        assert_eq!(pause(Trouble::Forbidden, 1, false, false), 30 * second);
        assert_eq!(pause(Trouble::Forbidden, 9, false, true), 30 * second);
        assert_eq!(pause(Trouble::Forbidden, 1, true, true), second);
    }

    #[test]
    fn errors_of_the_server_double_the_pause_and_a_kind_that_never_came_waits_longest() {
        let refused = |times, was_synced| pause(Trouble::Refused, times, false, was_synced);
        assert_eq!(refused(1, true), Duration::from_millis(100));
        assert_eq!(refused(2, true), Duration::from_millis(200));
        assert_eq!(refused(20, true), Duration::from_secs(5));
        assert_eq!(refused(20, false), Duration::from_secs(30));
    }
}
