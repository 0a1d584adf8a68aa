//! When a certificate is renewed, and who is warned before that.

use k8s_openapi::jiff::{Timestamp, fmt::strtime};

use crate::duration;

const DAY: i64 = 86_400;
/// How long before its end a certificate is renewed where nothing else is said.
const DEFAULT_WINDOW: i64 = 60 * DAY;
/// The longest pause between two looks.
const LONGEST_PAUSE: i64 = 12 * 3_600;
/// The shortest time between two renewals.
const COOLDOWN: i64 = 3_600;
/// Warnings, from the first to the last.
const WARNINGS: [(&str, i64); 3] = [("30d", 30 * DAY), ("7d", 7 * DAY), ("1d", DAY)];

/// What is known when a certificate is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'facts> {
    /// When it ends, by the certificate itself.
    pub not_after: Timestamp,
    /// `spec.renewBefore`.
    pub renew_before: &'facts str,
    /// When it was last renewed, as its annotation says.
    pub last_renewal: Option<&'facts str>,
    /// Warnings that were given, as its annotation says.
    pub warned: &'facts str,
    /// The time.
    pub now: Timestamp,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// It was renewed a moment ago and would be again: its window is longer than its life.
    CoolDown {
        /// What the event says.
        message: String,
        /// Seconds until the next look.
        pause: i64,
    },
    /// It is renewed now.
    Renew {
        /// What the event says.
        message: String,
    },
    /// Its time has not come.
    Wait {
        /// Warnings to give now: what each event says.
        warnings: Vec<String>,
        /// Which warnings were given after that, for the annotation.
        warned: String,
        /// Seconds until the next look.
        pause: i64,
    },
}

/// How long before its end a certificate is renewed, in seconds.
pub fn window(renew_before: &str) -> i64 {
    let window = duration::parse(renew_before).unwrap_or(0);
    if window > 0 { window } else { DEFAULT_WINDOW }
}

/// What is to be done with a certificate that is there.
pub fn schedule(facts: &Facts<'_>) -> Schedule {
    let window = window(facts.renew_before);
    let now = facts.now.as_second();
    let end = facts.not_after.as_second();
    let renew_at = end.saturating_sub(window);
    if now >= renew_at {
        return due(facts, window);
    }
    let given: Vec<&str> = facts
        .warned
        .split(',')
        .filter(|label| !label.is_empty())
        .collect();
    let new = WARNINGS.iter().filter(|(label, threshold)| {
        end.saturating_sub(now) <= *threshold && !given.contains(label)
    });
    let new: Vec<&str> = new.map(|(label, _)| *label).collect();
    Schedule::Wait {
        warnings: new
            .iter()
            .map(|label| format!("Certificate expires in less than {label}"))
            .collect(),
        warned: [given, new].concat().join(","),
        pause: (renew_at.saturating_sub(now) / 2).clamp(1, LONGEST_PAUSE),
    }
}

fn due(facts: &Facts<'_>, window: i64) -> Schedule {
    let last: Option<Timestamp> = facts.last_renewal.and_then(|last| last.parse().ok());
    let age = last.map(|last| facts.now.as_second().saturating_sub(last.as_second()));
    // A time that lies ahead is that of another clock: as long as it is near it counts as now.
    if age.is_some_and(|age| (-COOLDOWN..COOLDOWN).contains(&age)) {
        let window = duration::show(window);
        return Schedule::CoolDown {
            message: format!(
                "Certificate renewBefore ({window}) exceeds remaining lifetime; renewal skipped to avoid loop"
            ),
            pause: COOLDOWN,
        };
    }
    Schedule::Renew {
        message: format!(
            "Certificate renewal triggered, expires {}",
            shown(facts.not_after)
        ),
    }
}

/// A time as messages and annotations show it: UTC, whole seconds.
pub fn shown(time: Timestamp) -> String {
    strtime::format("%Y-%m-%dT%H:%M:%SZ", time).unwrap_or_else(|_| time.to_string())
}
