//! Kafka topics by name: who uses them, and what all of them want.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{Index, Place};
use crate::{summary::AppSummary, topics::TopicWishes};

/// The topics of one environment, by the names that apps know them by.
#[derive(Debug, Default)]
pub(super) struct Topics(HashMap<String, Topic>);

#[derive(Debug, Default)]
struct Topic {
    users: BTreeSet<Place>,
    /// What they want together.
    wishes: TopicWishes,
}

/// A topic and what was wanted of it at some time.
#[derive(Debug)]
pub(super) struct Wanted {
    environment: String,
    topic: String,
    wishes: TopicWishes,
}

impl Topics {
    /// An app uses its topics from now on.
    pub(super) fn join(&mut self, app: &AppSummary, place: &Place) {
        for wish in &app.topics {
            let topic = self.0.entry(wish.topic_name.clone()).or_default();
            topic.users.insert(place.clone());
            topic.wishes.add(wish);
        }
    }

    /// An app uses its topics no more. What is wanted of them can only be told from all who are left.
    pub(super) fn leave(
        &mut self,
        app: &AppSummary,
        place: &Place,
        apps: &BTreeMap<(String, String), Arc<AppSummary>>,
    ) {
        for wish in &app.topics {
            let name = &wish.topic_name;
            let Some(topic) = self.0.get_mut(name) else {
                continue;
            };
            topic.users.remove(place);
            if topic.users.is_empty() {
                self.0.remove(name);
                continue;
            }
            topic.wishes = TopicWishes::default();
            for (namespace, user) in &topic.users {
                let position = (format!("{user}-{namespace}"), namespace.clone());
                let wishes = apps.get(&position).into_iter().flat_map(|app| &app.topics);
                for wish in wishes.filter(|wish| wish.topic_name == *name) {
                    topic.wishes.add(wish);
                }
            }
        }
    }
}

impl Index {
    /// What all apps of an environment together want of a topic.
    pub fn topic(&self, environment: &str, topic: &str) -> TopicWishes {
        let topic = self.topic_of(environment, topic);
        topic.map_or_else(TopicWishes::default, |topic| topic.wishes.clone())
    }

    fn topic_of(&self, environment: &str, topic: &str) -> Option<&Topic> {
        self.members.get(environment)?.topics.0.get(topic)
    }

    /// What is wanted now of the topics that the app in a place uses.
    pub(super) fn topics_of(&self, place: &Place) -> Vec<Wanted> {
        let app = self.app(place);
        app.map_or_else(Vec::new, |app| self.topics_wanted_by(&app))
    }

    /// What is wanted now of the topics that an app asks for.
    pub(super) fn topics_wanted_by(&self, app: &AppSummary) -> Vec<Wanted> {
        let wanted = app.topics.iter().map(|wish| Wanted {
            environment: app.environment.clone(),
            topic: wish.topic_name.clone(),
            wishes: self.topic(&app.environment, &wish.topic_name),
        });
        wanted.collect()
    }

    /// The other users of those topics of which something else is wanted now: each of them would write the same, and
    /// whoever comes first does.
    pub(super) fn users_of_changed(&self, before: &[Wanted], place: &Place) -> Vec<Place> {
        let changed = before.iter().filter_map(|before| {
            let topic = self.topic_of(&before.environment, &before.topic)?;
            (topic.wishes != before.wishes).then_some(topic)
        });
        let users = changed.flat_map(|topic| &topic.users);
        users.filter(|user| *user != place).cloned().collect()
    }
}
