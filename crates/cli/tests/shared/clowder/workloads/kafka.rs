//! An environment with Kafka, and five apps whose topics overlap.

use futures::future::join_all;
use mainstay_testkit::{audit::Mark, campaign::Campaign, namespace::object_when};
use serde_json::{Value, json};

use super::{Apps, Step, app_gone};
use crate::shared::clowder::{
    answers::KAFKA_TOPIC,
    stage::{Stage, is_ready, web_app},
};

const APPS: [&str; 5] = ["shop", "stock", "prices", "mail", "tax"];

/// All apps share a topic, of which each wants a little more than the one before, and have one of their own.
fn topics(app: &str, more: usize) -> Value {
    let rank = APPS.iter().position(|name| *name == app).unwrap();
    json!([{"topicName": "orders", "partitions": 1 + rank + more}, {"topicName": format!("of-{app}")}])
}

/// What users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topics {
    /// A new environment with five apps.
    Fresh,
    /// The app that wants least of the topic wants most.
    Wishes,
    /// The same app goes.
    Deletion,
}

impl Topics {
    /// Apps that are left, and the partitions that they want.
    fn end(self) -> (&'static [&'static str], usize) {
        match self {
            Self::Fresh => (&APPS, APPS.len()),
            Self::Wishes => (&APPS, 21),
            Self::Deletion => (&APPS[1..], APPS.len()),
        }
    }
}

impl Step for Topics {
    const LASTING: &str = "stock";

    async fn change(self, stage: &Stage) {
        match self {
            Self::Fresh => {
                // Its certificate, whose hash apps are told, goes by its name.
                let kafka = json!({"mode": "operator", "cluster": {"name": "bus", "replicas": 3}});
                stage
                    .create_environment(json!({"providers": {"kafka": kafka}}))
                    .await;
                for name in APPS {
                    let mut app = web_app();
                    app["kafkaTopics"] = topics(name, 0);
                    stage.create_app(name, app).await;
                }
            }
            Self::Wishes => {
                let wishes = topics(APPS[0], 20);
                stage
                    .patch_app(APPS[0], json!({"spec": {"kafkaTopics": wishes}}))
                    .await;
            }
            Self::Deletion => stage.delete_app(APPS[0]).await,
        }
    }

    async fn ended(self, stage: &Stage) {
        let (left, partitions) = self.end();
        if self == Self::Deletion {
            app_gone(stage, APPS[0]).await;
        }
        object_when(
            &stage.api(KAFKA_TOPIC),
            "orders",
            "is what all want",
            |topic| topic["spec"]["partitions"] == partitions,
        )
        .await;
        stage
            .environment_when("is ready with its topics", |environment| {
                let status = &environment["status"];
                let apps = status["apps"].as_array();
                // Nobody deletes the topic of who is gone.
                is_ready(environment)
                    && status["deployments"]["readyTopics"] == APPS.len() + 1
                    && apps.is_some_and(|apps| apps.len() == left.len())
            })
            .await;
        join_all(left.iter().map(|name| stage.app_ready(name))).await;
    }

    /// Nothing that holds data was deleted on the way, and nobody was made twice.
    fn check(mark: &Mark, stage: &Stage) {
        let written = mark.carried_out(&stage.namespace.name);
        let strimzi = written.iter().filter(|word| word.contains(" kafka"));
        let (deleted, rest): (Vec<&String>, Vec<&String>) =
            strimzi.partition(|word| word.starts_with("delete"));
        assert!(deleted.is_empty(), "{deleted:?}");
        let created = rest.iter().filter(|word| word.starts_with("create"));
        let mut names: Vec<_> = created.collect();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "each once: {names:?}");
    }
}

pub(crate) static TOPICS: Campaign<Apps<Topics>> = Campaign::new(Apps {
    steps: &[Topics::Fresh, Topics::Wishes, Topics::Deletion],
    made_up: |_| Vec::new(),
});
