//! How many objects belong to an app or environment, and how many of them are ready.

use std::collections::BTreeSet;

use mainstay_engine::{
    Kind, ObjectKey,
    live::{LiveObject, LiveView},
};

use crate::{kinds, views::facts};

/// A count, and which ones are not ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All of them.
    pub managed: i32,
    /// Those that are ready.
    pub ready: i32,
    /// `<name>/<namespace>` of the others, sorted.
    pub broken: Vec<String>,
}

impl Count {
    /// Counts an object; one that is not ready breaks something only if it matters.
    fn add(&mut self, object: &LiveObject, times: i32, matters: bool) {
        self.managed += times;
        if facts::is_ready(object) {
            self.ready += times;
            return;
        }
        if !matters {
            return;
        }
        for _ in 0..times {
            let key = &object.key;
            self.broken.push(format!("{}/{}", key.name, key.namespace));
        }
    }
}

/// Counts the Deployments that belong to an owner, whatever flag its reference carries.
pub fn deployments(live: &dyn LiveView, owner_uid: &str) -> Count {
    let mut count = Count::default();
    for object in live.owned_by(owner_uid) {
        if object.key.kind == kinds::DEPLOYMENT {
            count.add(&object, 1, true);
        }
    }
    count.broken.sort();
    count
}

/// Where an environment counts its objects.
#[derive(Clone, Debug, Default)]
pub struct Namespaces {
    /// Namespaces of its apps and its target namespace.
    pub usual: BTreeSet<String>,
    /// Namespace that the environment names for its Kafka cluster, if it does.
    pub kafka: String,
}

impl Namespaces {
    /// How often an object counts. Parity: twice, if the environment names its own namespace for its Kafka cluster.
    fn times(&self, namespace: &str) -> i32 {
        // Nobody has found the target namespace yet: the original looks everywhere then.
        let usual = self.usual.contains(namespace) || self.usual.contains("");
        i32::from(usual) + i32::from(self.kafka == namespace)
    }
}

/// The counts of an environment, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentCounts {
    /// Deployments.
    pub deployments: Count,
    /// Kafka clusters.
    pub kafkas: Count,
    /// Kafka Connect clusters.
    pub connects: Count,
    /// Kafka topics.
    pub topics: Count,
}

impl EnvironmentCounts {
    /// Counts what belongs to an environment; objects of Strimzi only if somebody is there to report on them.
    ///
    /// Whoever may write Deployments can say that one belongs to an environment. It is counted, as by the original; what
    /// the environment waits for are only the objects that it knows.
    pub fn of(
        live: &dyn LiveView,
        owner_uid: &str,
        namespaces: &Namespaces,
        with_strimzi: bool,
        is_known: impl Fn(&ObjectKey) -> bool,
    ) -> Self {
        let mut counts = Self::default();
        for object in live.owned_by(owner_uid) {
            let times = namespaces.times(&object.key.namespace);
            if let Some(count) = counts.of_kind(&object.key.kind, with_strimzi) {
                count.add(&object, times, is_known(&object.key));
            }
        }
        for count in [
            &mut counts.deployments,
            &mut counts.kafkas,
            &mut counts.connects,
            &mut counts.topics,
        ] {
            count.broken.sort();
        }
        counts
    }

    fn of_kind(&mut self, kind: &Kind, with_strimzi: bool) -> Option<&mut Count> {
        match kind.kind.as_ref() {
            "Deployment" => Some(&mut self.deployments),
            "Kafka" if with_strimzi => Some(&mut self.kafkas),
            "KafkaConnect" if with_strimzi => Some(&mut self.connects),
            "KafkaTopic" if with_strimzi => Some(&mut self.topics),
            _ => None,
        }
    }

    /// What counts as a deployment: clusters do.
    fn deployed(&self) -> [&Count; 3] {
        [&self.deployments, &self.kafkas, &self.connects]
    }

    /// Deployments and clusters.
    pub fn managed(&self) -> i32 {
        self.deployed().iter().map(|count| count.managed).sum()
    }

    /// Those that are ready.
    pub fn ready(&self) -> i32 {
        self.deployed().iter().map(|count| count.ready).sum()
    }

    /// Words for what is not ready; `None` if everything is.
    pub fn broken(&self) -> Option<String> {
        let groups = [
            ("deployments", &self.deployments),
            ("kafkas", &self.kafkas),
            ("connects", &self.connects),
            ("topics", &self.topics),
        ];
        let broken = groups.iter().filter(|(_, count)| !count.broken.is_empty());
        let texts: Vec<String> = broken
            .map(|(name, count)| format!("broken {name}: [{}]", count.broken.join(", ")))
            .collect();
        (!texts.is_empty()).then(|| format!("dependency failure: [{}]", texts.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::providers::fixture;

    struct Owned(Vec<Arc<LiveObject>>);

    impl LiveView for Owned {
        fn get(&self, _key: &ObjectKey) -> Option<Arc<LiveObject>> {
            None
        }

        fn owned_by(&self, _owner_uid: &str) -> Vec<Arc<LiveObject>> {
            self.0.clone()
        }
    }

    fn object(kind: Kind, namespace: &str, name: &str, ready: bool) -> Arc<LiveObject> {
        let key = ObjectKey::new(kind, namespace, name);
        Arc::new(fixture::live(key, json!({"ready": ready})))
    }

    fn all() -> Owned {
        Owned(vec![
            object(kinds::DEPLOYMENT, "stage", "gateway", true),
            object(kinds::KAFKA, "stage", "bus", false),
            object(kinds::KAFKA_CONNECT, "stage", "bus", true),
            object(kinds::KAFKA_TOPIC, "stage", "orders", false),
            object(kinds::KAFKA_TOPIC, "stage", "carts", false),
            object(kinds::KAFKA_TOPIC, "far", "unseen", false),
            object(kinds::SERVICE, "stage", "gateway", false),
        ])
    }

    fn namespaces(kafka: &str) -> Namespaces {
        Namespaces {
            usual: ["stage".to_owned(), "market".to_owned()].into(),
            kafka: kafka.to_owned(),
        }
    }

    #[test]
    fn clusters_count_as_deployments_and_topics_for_themselves() {
        let counts = EnvironmentCounts::of(&all(), "uid", &namespaces(""), true, |_| true);
        assert_eq!((counts.managed(), counts.ready()), (3, 2));
        assert_eq!((counts.topics.managed, counts.topics.ready), (2, 0));
        let broken = "dependency failure: [broken kafkas: [bus/stage],broken topics: [carts/stage, orders/stage]]";
        assert_eq!(counts.broken().as_deref(), Some(broken));
    }

    #[test]
    fn what_the_environment_does_not_know_is_counted_and_not_waited_for() {
        let is_known = |key: &ObjectKey| key.name == "orders";
        let counts = EnvironmentCounts::of(&all(), "uid", &namespaces(""), true, is_known);
        assert_eq!((counts.managed(), counts.ready()), (3, 2));
        let broken = "dependency failure: [broken topics: [orders/stage]]";
        assert_eq!(counts.broken().as_deref(), Some(broken));
    }

    #[test]
    fn without_strimzi_only_deployments_count() {
        let counts = EnvironmentCounts::of(&all(), "uid", &namespaces(""), false, |_| true);
        assert_eq!((counts.managed(), counts.ready()), (1, 1));
        assert_eq!((counts.topics.managed, counts.broken()), (0, None));
    }

    #[test]
    fn a_namespace_that_is_named_for_kafka_counts_once_more() {
        let counts = EnvironmentCounts::of(&all(), "uid", &namespaces("stage"), true, |_| true);
        assert_eq!((counts.managed(), counts.ready()), (6, 4));
        assert_eq!(counts.topics.managed, 4);
        let far = EnvironmentCounts::of(&all(), "uid", &namespaces("far"), true, |_| true);
        assert_eq!(far.topics.managed, 3);
    }
}
