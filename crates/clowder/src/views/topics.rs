//! What several apps want of one Kafka topic, taken together.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_api::clowder::app::needs::KafkaTopic;

use crate::{providers::credentials, views::summary::AppSummary};

/// Partitions and replicas of a topic of which nobody says how many it should have.
const DEFAULT: i32 = 3;

/// How the values of a setting meet.
#[derive(Clone, Copy)]
enum Meeting {
    /// The largest number wins.
    Largest,
    /// Every item counts.
    Union,
}

/// The settings of topics that are known; others are refused.
const SETTINGS: [(&str, Meeting); 4] = [
    ("cleanup.policy", Meeting::Union),
    ("min.compaction.lag.ms", Meeting::Largest),
    ("retention.bytes", Meeting::Largest),
    ("retention.ms", Meeting::Largest),
];

/// The wishes for one topic. The order in which they are added does not matter, and adding one twice changes nothing, so
/// every app that uses the topic comes to the same result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicWishes {
    partitions: i32,
    replicas: i32,
    config: BTreeMap<String, String>,
    /// The first setting that nobody knows how to merge.
    unknown: Option<String>,
}

impl TopicWishes {
    /// Adds what one app wants.
    pub fn add(&mut self, wish: &KafkaTopic) {
        self.partitions = self.partitions.max(wish.partitions);
        self.replicas = self.replicas.max(wish.replicas);
        for (name, value) in &wish.config {
            let known = SETTINGS.iter().find(|(known, _)| known == name);
            let Some(&(_, meeting)) = known else {
                // The first in the alphabet, so that the order of apps does not matter.
                let earlier = self.unknown.take().filter(|earlier| earlier < name);
                self.unknown = Some(earlier.unwrap_or_else(|| name.clone()));
                continue;
            };
            let before = self.config.get(name).map(String::as_str);
            let met = meet(meeting, before, value);
            self.config.insert(name.clone(), met);
        }
    }

    /// Adds what an app wants of the topic of this name.
    pub fn add_all(&mut self, topic: &str, app: &AppSummary) {
        for wish in app.topics.iter().filter(|wish| wish.topic_name == topic) {
            self.add(wish);
        }
    }

    /// How many partitions the topic has.
    pub fn partitions(&self) -> i32 {
        at_least_one(self.partitions, DEFAULT)
    }

    /// How many replicas it has in a cluster of so many brokers. Parity: one, if nobody says how many brokers there are.
    pub fn replicas(&self, brokers: i32) -> i32 {
        at_least_one(self.replicas, DEFAULT).min(brokers.max(1))
    }

    /// Its settings.
    pub fn config(&self) -> Result<&BTreeMap<String, String>, String> {
        match &self.unknown {
            None => Ok(&self.config),
            Some(name) => Err(format!("no conversion type for {name}")),
        }
    }
}

fn at_least_one(wanted: i32, otherwise: i32) -> i32 {
    if wanted < 1 { otherwise } else { wanted }
}

fn meet(meeting: Meeting, before: Option<&str>, value: &str) -> String {
    match meeting {
        Meeting::Largest => largest(before, value),
        Meeting::Union => {
            let items = before.into_iter().chain([value]);
            let items: BTreeSet<&str> = items
                .flat_map(|items| items.split(','))
                .map(str::trim)
                .collect();
            Vec::from_iter(items).join(",")
        }
    }
}

/// Parity: what is no number makes the setting empty instead of failing.
fn largest(before: Option<&str>, value: &str) -> String {
    let numbers = before.into_iter().chain([value]).map(credentials::integer);
    let numbers: Result<Vec<i64>, String> = numbers.collect();
    let largest = numbers.ok().and_then(|numbers| numbers.into_iter().max());
    largest.map_or_else(String::new, |largest| largest.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wishes(all: &[Value]) -> TopicWishes {
        let mut wishes = TopicWishes::default();
        for wish in all {
            wishes.add(&serde_json::from_value(wish.clone()).unwrap());
        }
        wishes
    }

    #[test]
    fn the_largest_wish_wins_in_whatever_order() {
        let small = json!({"topicName": "t", "partitions": 2, "replicas": 5,
            "config": {"retention.ms": "1000", "cleanup.policy": "compact"}});
        let large = json!({"topicName": "t", "partitions": 7, "replicas": 2,
            "config": {"retention.ms": "900", "retention.bytes": "99", "cleanup.policy": "delete, compact"}});
        let merged = wishes(&[small.clone(), large.clone()]);
        assert_eq!(merged, wishes(&[large.clone(), small.clone(), large]));
        assert_eq!((merged.partitions(), merged.replicas(9)), (7, 5));
        let config = json!({"cleanup.policy": "compact,delete", "retention.bytes": "99", "retention.ms": "1000"});
        assert_eq!(json!(merged.config().unwrap()), config);
    }

    #[test]
    fn replicas_are_as_many_as_there_are_brokers_at_most() {
        let none = wishes(&[json!({"topicName": "t"})]);
        assert_eq!((none.partitions(), none.replicas(3)), (3, 3));
        assert_eq!(none.replicas(2), 2);
        assert_eq!(none.replicas(0), 1, "nobody says how many brokers");
        assert!(none.config().unwrap().is_empty());
    }

    #[test]
    fn a_number_that_is_none_is_left_empty_and_an_unknown_setting_is_refused() {
        let soon = json!({"topicName": "t", "config": {"retention.ms": "soon"}});
        let later = json!({"topicName": "t", "config": {"retention.ms": "5"}});
        for all in [
            vec![soon.clone()],
            vec![soon.clone(), later.clone()],
            vec![later, soon],
        ] {
            assert_eq!(wishes(&all).config().unwrap()["retention.ms"], "");
        }
        let unknown = |name: &str| json!({"topicName": "t", "config": {name: "5"}});
        let (one, other) = (unknown("segment.ms"), unknown("flush.ms"));
        for all in [[one.clone(), other.clone()], [other, one]] {
            let error = wishes(&all).config().unwrap_err();
            assert_eq!(error, "no conversion type for flush.ms");
        }
    }
}
