//! The product: what is done with the operator, and what it sends.

use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
};
use mainstay_testkit::{
    audit::{self, Entry, Mark},
    namespace::object_when,
};
use serde_json::{Value, json};

use super::{
    floor::Bench,
    objects::{self, deployments, image_number, reconciled_generation},
};
use crate::{
    cost::Cost,
    plane::Plane,
    watch::{Observer, until_seen},
    workload::{Phase, Session, Workload, touch},
};

/// How the operator calls itself.
const AGENT: &str = "mainstay";

/// How a life goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// Changes to react to.
    pub(super) changes: usize,
    /// Foreign Secrets that appear at the end.
    pub(super) foreign: usize,
}

/// What the floors of one round cost.
#[derive(Clone, Debug)]
pub(super) struct Floors {
    /// Every app written.
    pub(super) write: Cost,
    /// Seconds from the change of an image to that of the Deployment, one at a time.
    pub(super) reaction: Vec<f64>,
}

/// What the changes of one life took.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    /// The annotations of the environment touched.
    pub(super) touch_environment: Phase,
    /// Seconds from the change of an image to that of the Deployment, one at a time.
    pub(super) reaction: Vec<f64>,
    /// All these changes as a phase.
    pub(super) react: Phase,
}

impl Workload for Bench<'_> {
    const SYSTEM: &'static str = "clowder";
    type Floor = Floors;
    type Change = Changes;

    fn plane(&self) -> &Plane {
        self.plane
    }

    fn count(&self) -> usize {
        self.prepared.len()
    }

    fn roots(&self) -> Api<DynamicObject> {
        self.apps()
    }

    fn done(app: &DynamicObject) -> Option<i64> {
        reconciled_generation(app)
    }

    async fn floor(&self) -> anyhow::Result<Floors> {
        let (write, written) = self.write_all().await?;
        let reaction = self.change_some(&written, self.course.changes).await?;
        self.remove_all().await?;
        Ok(Floors { write, reaction })
    }

    async fn surroundings(&self) -> anyhow::Result<()> {
        create_environment(self).await
    }

    async fn create(&self) -> anyhow::Result<()> {
        self.create_apps().await
    }

    async fn patch(&self, patch: &Value) -> anyhow::Result<()> {
        self.patch_apps(patch).await
    }

    async fn change(&self, session: &Session<'_, Self>) -> anyhow::Result<Changes> {
        let touch_environment = async {
            let params = PatchParams::default();
            let environments = self.environments();
            environments
                .patch(&self.environment, &params, &Patch::Merge(&touch()))
                .await?;
            Ok(())
        };
        let touch_environment = session.phase(None, touch_environment).await?;
        let mut reaction = Vec::new();
        let changes = async {
            reaction = react(self, self.course.changes).await?;
            Ok(())
        };
        let react = Box::pin(session.phase(None, changes)).await?;
        Ok(Changes {
            touch_environment,
            reaction,
            react,
        })
    }

    async fn crowd(&self) -> anyhow::Result<bool> {
        let count = self.course.foreign;
        if count > 0 {
            super::foreign::create(&self.plane.client, count).await?;
        }
        Ok(count > 0)
    }

    async fn sent(&self, mark: &Mark) -> Vec<Entry> {
        let mut entries = mark.settled(&self.namespace.name).await;
        // The environment writes last. It has no namespace, and its events are in that of those who have none.
        loop {
            let more = mark.settled("default").await;
            let more = more.into_iter().chain(elsewhere(mark));
            let more = more
                .chain(mark.since(AGENT, &self.namespace.name))
                .collect();
            let known = std::mem::replace(&mut entries, more).len();
            if known == entries.len() {
                return entries;
            }
        }
    }

    async fn clear(&self) -> anyhow::Result<()> {
        self.remove_all().await
    }
}

pub(super) async fn create_environment(bench: &Bench<'_>) -> anyhow::Result<()> {
    let environment = objects::environment(&bench.environment, &bench.namespace.name);
    let environment = serde_json::from_value(environment)?;
    let environments = bench.environments();
    environments
        .create(&PostParams::default(), &environment)
        .await?;
    object_when(
        &environments,
        &bench.environment,
        "is ready",
        |environment| {
            environment["status"]["ready"] == true
                && environment["status"]["generation"] == environment["metadata"]["generation"]
        },
    )
    .await;
    Ok(())
}

/// Changes the image of one app after the other.
async fn react(bench: &Bench<'_>, changes: usize) -> anyhow::Result<Vec<f64>> {
    let mut observer = Observer::start(bench.namespace.deployments(), image_number).await?;
    let apps = bench.apps();
    let mut seconds = Vec::new();
    for (number, prepared) in bench.prepared.iter().take(changes).enumerate() {
        let number = number + 2;
        let patch = json!({"spec": {"deployments": deployments(number)}});
        let change = async {
            let params = PatchParams::default();
            apps.patch(&prepared.name, &params, &Patch::Merge(&patch))
                .await?;
            Ok(())
        };
        seconds.push(until_seen(&mut observer, 1, i64::try_from(number)?, change).await?);
    }
    Ok(seconds)
}

/// Requests outside all namespaces. Kinds that the plane does not serve are asked for again and again, like watches.
fn elsewhere(mark: &audit::Mark) -> impl Iterator<Item = audit::Entry> {
    let entries = mark.since(AGENT, "").into_iter();
    entries.filter(|entry| entry.code != 404)
}
