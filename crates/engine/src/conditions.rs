//! Standard conditions, merged so that nothing moves that did not change.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// A condition that a reconcile wants to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Type.
    pub r#type: &'static str,
    /// True, False or Unknown.
    pub status: &'static str,
    /// `CamelCase` word.
    pub reason: &'static str,
    /// Text for people; cut to what the API accepts.
    pub message: String,
}

/// Longest message that the schema of a condition accepts.
const LONGEST_MESSAGE: usize = 32_768;

/// Merges what a reconcile reports into the existing conditions and sorts by type. The transition time
/// moves only if the status flips; conditions of other types are kept.
pub fn merge(
    existing: &[Condition],
    wanted: &[Wanted],
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let is_wanted = |condition: &&Condition| wanted.iter().any(|new| new.r#type == condition.type_);
    let mut merged: Vec<Condition> = existing
        .iter()
        .filter(|old| !is_wanted(old))
        .cloned()
        .collect();
    for new in wanted {
        let old = existing.iter().find(|old| old.type_ == new.r#type);
        let since = old
            .filter(|old| old.status == new.status)
            .map(|old| &old.last_transition_time);
        merged.push(Condition {
            type_: new.r#type.to_owned(),
            status: new.status.to_owned(),
            reason: new.reason.to_owned(),
            message: cut(&new.message, LONGEST_MESSAGE).to_owned(),
            observed_generation: generation,
            last_transition_time: since.unwrap_or(now).clone(),
        });
    }
    merged.sort_by(|a, b| a.type_.cmp(&b.type_));
    merged
}

/// The longest prefix of at most `limit` bytes that ends between characters.
pub fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit)
        .rev()
        .find(|&end| text.is_char_boundary(end))
        .unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    fn wanted(r#type: &'static str, status: &'static str, message: &str) -> Wanted {
        Wanted {
            r#type,
            status,
            reason: "Because",
            message: message.to_owned(),
        }
    }

    #[test]
    fn the_transition_time_moves_only_when_the_status_flips() {
        let first = merge(&[], &[wanted("Ready", "False", "no")], Some(1), &at(10));
        let second = merge(
            &first,
            &[wanted("Ready", "False", "still no")],
            Some(2),
            &at(20),
        );
        assert_eq!(second[0].last_transition_time, at(10));
        assert_eq!(
            (second[0].message.as_str(), second[0].observed_generation),
            ("still no", Some(2))
        );
        let third = merge(&second, &[wanted("Ready", "True", "yes")], Some(2), &at(30));
        assert_eq!(third[0].last_transition_time, at(30));
    }

    #[test]
    fn keeps_conditions_of_other_writers_and_sorts_by_type() {
        let foreign = merge(&[], &[wanted("Zebra", "True", "")], None, &at(1));
        let merged = merge(
            &foreign,
            &[
                wanted("RenderResult", "True", ""),
                wanted("Apple", "True", ""),
            ],
            None,
            &at(2),
        );
        let types: Vec<_> = merged
            .iter()
            .map(|condition| condition.type_.as_str())
            .collect();
        assert_eq!(types, ["Apple", "RenderResult", "Zebra"]);
    }

    #[test]
    fn a_message_that_is_too_long_is_cut_between_characters() {
        let text = "ü".repeat(20_000);
        let merged = merge(&[], &[wanted("Ready", "False", &text)], None, &at(1));
        assert_eq!(merged[0].message.len(), 32_768);
        assert_eq!(cut("aü", 2), "a");
    }
}
