//! Many apps that use Kafka topics: what their topics cost, and that a topic is written when it changes and never else.

use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    runtime::{conditions, wait::await_condition},
};
use mainstay_clowder::kinds;
use mainstay_engine::Kind;
use mainstay_testkit::{Namespace, audit, namespace::object_when};
use serde_json::{Value, json};

use super::objects::{self, reconciled_generation};
use crate::{
    lanes::in_lanes,
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::number,
    watch::Observer,
};

/// Numbers of apps, each four times the one before.
const SCALES: [usize; 2] = [75, 300];
/// Apps that share a topic.
const GROUP: usize = 5;
/// Topics of each app: one is shared, the others are its own.
const TOPICS: usize = 3;
/// The kinds of Strimzi that an environment without users needs.
const STRIMZI: [Kind; 4] = [
    kinds::KAFKA,
    kinds::KAFKA_CONNECT,
    kinds::KAFKA_TOPIC,
    kinds::KAFKA_USER,
];

/// What a number of apps took.
struct Taken {
    /// Seconds from the first create to the last app reconciled.
    create: f64,
    /// Writes of topics on the way.
    created: usize,
    /// Seconds from the first change to the last app reconciled.
    change: f64,
    /// Writes of topics on the way.
    changed: usize,
    /// Writes of topics by a process that finds everything done.
    restarted: usize,
}

/// Topics that so many apps have together.
const fn distinct(apps: usize) -> usize {
    apps * (TOPICS - 1) + apps.div_ceil(GROUP)
}

/// Measures at both scales.
pub(super) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Vec<Section>> {
    install_definitions(plane).await?;
    let mut sections = Vec::new();
    let mut each = Vec::new();
    for apps in SCALES {
        say(&format!("clowder: {apps} apps with topics"));
        let taken = live(plane, binary, apps).await?;
        each.push(taken.create / number(apps));
        sections.push(section(apps, &taken));
    }
    if let [fewer, more] = each.as_slice() {
        let figure = Figure::milliseconds("create to reconciled per app, most apps", *more);
        sections.push(Section {
            title: "clowder, growth with topics".to_owned(),
            notes: Vec::new(),
            figures: vec![figure.against("fewer", *fewer).at_most_times(1.25)],
        });
    }
    Ok(sections)
}

fn section(apps: usize, taken: &Taken) -> Section {
    let (created, changed) = (number(distinct(apps)), number(apps.div_ceil(GROUP)));
    Section {
        title: format!("clowder, {apps} apps with {TOPICS} topics each"),
        notes: vec![format!(
            "Mode operator without users; {GROUP} apps share a topic. One app of each group then wants more of it."
        )],
        figures: vec![
            Figure::seconds("create to reconciled", taken.create),
            Figure::count("create, writes of topics", number(taken.created))
                .against("least", created)
                .at_most(created),
            Figure::seconds("one wish in each group to reconciled", taken.change),
            Figure::count(
                "one wish in each group, writes of topics",
                number(taken.changed),
            )
            .against("least", changed)
            .at_most(changed),
            Figure::count("restart, writes of topics", number(taken.restarted)).at_most(0.0),
        ],
    }
}

/// An environment with its apps.
struct Bench<'run> {
    plane: &'run Plane,
    namespace: Namespace,
    apps: usize,
}

/// One life: create, change, restart.
async fn live(plane: &Plane, binary: &Path, apps: usize) -> anyhow::Result<Taken> {
    let bench = Bench {
        plane,
        namespace: Namespace::create(&plane.client, "topics").await,
        apps,
    };
    let flags = &["--systems", "clowder"];
    let mut operator = plane.start_operator(binary, flags).await;
    bench.create_environment().await?;
    let numbers: Vec<usize> = (0..apps).collect();
    let (create, created) = bench
        .phase(1, in_lanes(&numbers, |&app| bench.create_app(app)))
        .await?;
    let first: Vec<usize> = numbers.iter().copied().step_by(GROUP).collect();
    let (change, changed) = bench
        .phase(2, in_lanes(&first, |&app| bench.want_more(app)))
        .await?;
    operator.terminate().await;
    let mark = plane.mark();
    let mut operator = plane.start_operator(binary, flags).await;
    let restarted = bench.topics_written(&mark).await;
    operator.terminate().await;
    bench.clear().await?;
    Ok(Taken {
        create,
        created,
        change,
        changed,
        restarted,
    })
}

impl Bench<'_> {
    /// Seconds until some apps are reconciled for a generation, and the topics that were written until all is quiet.
    async fn phase<T>(
        &self,
        generation: i64,
        work: impl Future<Output = anyhow::Result<Vec<T>>>,
    ) -> anyhow::Result<(f64, usize)> {
        let mut observer =
            Observer::start(self.apis(&kinds::CLOWD_APP), reconciled_generation).await?;
        let mark = self.plane.mark();
        let (cost, ()) = self
            .plane
            .cost(async {
                let count = work.await?.len();
                observer.wait_for(count, generation).await
            })
            .await?;
        let written = self.topics_written(&mark).await;
        Ok((cost.wall.as_secs_f64(), written))
    }

    /// Topics written since a mark, when nothing is written any more.
    async fn topics_written(&self, mark: &audit::Mark) -> usize {
        let entries = mark.settled(&self.namespace.name).await;
        let topics = entries.iter().filter(|entry| {
            entry.is_write() && entry.resource == "kafkatopics" && entry.code < 300
        });
        topics.count()
    }

    fn apis(&self, kind: &Kind) -> Api<DynamicObject> {
        let plural = kinds::KINDS
            .find(kind)
            .map_or_else(String::new, |row| row.plural.to_string());
        self.namespace.api(&kind.api_version(), &kind.kind, &plural)
    }

    /// The environment, with a cluster that is there at once.
    async fn create_environment(&self) -> anyhow::Result<()> {
        let name = self.namespace.name.as_str();
        let mut environment = objects::environment(name, name);
        environment["spec"]["providers"]["kafka"] = json!({
            "mode": "operator", "enableLegacyStrimzi": true, "cluster": {"name": "bus", "replicas": 3},
        });
        let environments: Api<DynamicObject> = self.environments();
        let environment = serde_json::from_value(environment)?;
        environments
            .create(&PostParams::default(), &environment)
            .await?;
        let kafkas = self.apis(&kinds::KAFKA);
        object_when(&kafkas, "bus", "is asked for", |_| true).await;
        let address = json!({"host": "bus", "port": 9092});
        let status = json!({"status": {"listeners": [{"name": "tcp", "addresses": [address]}]}});
        kafkas
            .patch_status("bus", &PatchParams::default(), &Patch::Merge(&status))
            .await?;
        object_when(&environments, name, "is ready", |environment| {
            environment["status"]["ready"] == true
                && environment["status"]["generation"] == environment["metadata"]["generation"]
        })
        .await;
        Ok(())
    }

    fn environments(&self) -> Api<DynamicObject> {
        let kind = kinds::CLOWD_ENVIRONMENT;
        mainstay_testkit::plane::dynamic(
            &self.plane.client,
            "",
            &kind.api_version(),
            &kind.kind,
            "clowdenvironments",
        )
    }

    async fn create_app(&self, number: usize) -> anyhow::Result<DynamicObject> {
        let name = self.namespace.name.as_str();
        let app = json!({
            "apiVersion": kinds::CLOWD_APP.api_version(), "kind": "ClowdApp",
            "metadata": {"name": app_name(number), "namespace": name},
            "spec": {
                "envName": name, "deployments": objects::deployments(1), "kafkaTopics": topics(number, 3),
            },
        });
        let app = serde_json::from_value(app)?;
        let apps = self.apis(&kinds::CLOWD_APP);
        Ok(apps.create(&PostParams::default(), &app).await?)
    }

    async fn want_more(&self, number: usize) -> anyhow::Result<DynamicObject> {
        let patch = json!({"spec": {"kafkaTopics": topics(number, 9)}});
        let (apps, params) = (self.apis(&kinds::CLOWD_APP), PatchParams::default());
        let name = app_name(number);
        Ok(apps.patch(&name, &params, &Patch::Merge(&patch)).await?)
    }

    /// Removes what would be measured with the next.
    async fn clear(&self) -> anyhow::Result<()> {
        let release = json!({"metadata": {"finalizers": null}});
        let numbers: Vec<usize> = (0..self.apps).collect();
        in_lanes(&numbers, |&number| {
            let (apps, release) = (self.apis(&kinds::CLOWD_APP), release.clone());
            async move {
                let (name, params) = (app_name(number), PatchParams::default());
                Ok(apps.patch(&name, &params, &Patch::Merge(&release)).await?)
            }
        })
        .await?;
        let environments = self.environments();
        let (name, params) = (&self.namespace.name, PatchParams::default());
        environments
            .patch(name, &params, &Patch::Merge(&release))
            .await?;
        environments
            .delete(name, &DeleteParams::background())
            .await?;
        let others = [kinds::CLOWD_APP, kinds::DEPLOYMENT];
        for kind in STRIMZI.into_iter().chain(others) {
            let params = DeleteParams::background();
            let api = self.apis(&kind);
            api.delete_collection(&params, &ListParams::default())
                .await?;
        }
        Ok(())
    }
}

fn app_name(number: usize) -> String {
    format!("app-{number:04}")
}

/// The topics of an app, of which it wants so many partitions in the one that it shares.
fn topics(number: usize, partitions: usize) -> Value {
    let shared =
        json!({"topicName": format!("shared-{:04}", number / GROUP), "partitions": partitions});
    let own = (1..TOPICS).map(|own| json!({"topicName": format!("own-{number:04}-{own}")}));
    [shared].into_iter().chain(own).collect()
}

/// Stand-ins for the kinds of Strimzi.
async fn install_definitions(plane: &Plane) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(plane.client.clone());
    let params = PatchParams::apply("mainstay-bench").force();
    for kind in STRIMZI {
        let plural = kinds::KINDS
            .find(&kind)
            .map_or_else(String::new, |row| row.plural.to_string());
        let name = format!("{plural}.{}", kind.group);
        let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": kind.group, "scope": "Namespaced",
                "names": {"kind": kind.kind, "listKind": format!("{kind}List"), "plural": plural,
                    "singular": kind.kind.to_lowercase()},
                "versions": [{"name": kind.version, "served": true, "storage": true,
                    "subresources": {"status": {}}, "schema": {"openAPIV3Schema": free}}],
            },
        });
        api.patch(&name, &params, &Patch::Apply(&definition))
            .await?;
        await_condition(api.clone(), &name, conditions::is_crd_established()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn as_many_topics_as_are_counted() {
        let all: BTreeSet<String> = (0..12)
            .flat_map(|app| topics(app, 3).as_array().cloned().unwrap())
            .map(|topic| topic["topicName"].to_string())
            .collect();
        assert_eq!(all.len(), distinct(12));
    }
}
