//! The product: the operator as a process, through a whole life.

use std::{path::Path, time::Duration};

use kube::api::{Patch, PatchParams, PostParams};
use mainstay_testkit::{Operator, audit, namespace::object_when};
use serde_json::json;

use super::{
    floor::Bench,
    objects::{self, deployments, image_number, reconciled_generation},
};
use crate::{
    cost::Cost,
    usage::{self, Memory},
    watch::{Observer, until_seen},
};

/// Only the system that is measured.
const FLAGS: &[&str] = &["--systems", "clowder"];
/// How the operator calls itself.
const AGENT: &str = "mainstay";
/// Time for memory to come to rest.
pub(super) const REST: Duration = Duration::from_secs(3);

/// What the operator sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// Requests that ask for nothing but an answer.
    pub(super) reads: usize,
    /// Writes of objects, statuses and finalizers of apps.
    pub(super) writes: usize,
    /// Events.
    pub(super) events: usize,
    /// Writes of the environment.
    pub(super) environment: usize,
}

impl Sent {
    /// All of it.
    pub(super) const fn all(self) -> usize {
        self.reads + self.writes + self.events + self.environment
    }
}

/// What a phase took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phase {
    /// Times.
    pub(super) cost: Cost,
    /// Requests.
    pub(super) sent: Sent,
}

/// What one life of the operator took.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// Every app created.
    pub(super) create: Phase,
    /// The annotations of every app touched.
    pub(super) touch: Phase,
    /// The annotations of the environment touched.
    pub(super) touch_environment: Phase,
    /// Seconds from the change of an image to that of the Deployment, one at a time.
    pub(super) reaction: Vec<f64>,
    /// A new process that finds everything done.
    pub(super) restart: Phase,
    /// Memory before the first app.
    pub(super) before: Memory,
    /// Memory after everything.
    pub(super) after: Memory,
    /// Memory of the new process.
    pub(super) restarted: Memory,
    /// Memory after many foreign Secrets appeared.
    pub(super) crowded: Option<Memory>,
}

/// How a life goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Changes to react to.
    pub(super) changes: usize,
    /// Foreign Secrets that appear at the end.
    pub(super) foreign: usize,
}

/// One life: start, create, touch, change, restart.
pub(super) async fn live(bench: &Bench<'_>, binary: &Path, course: Course) -> anyhow::Result<Life> {
    let mut life = Life::default();
    let mut operator = bench.plane.start_operator(binary, FLAGS).await;
    create_environment(bench).await?;
    settled(bench, &bench.plane.mark()).await;
    tokio::time::sleep(REST).await;
    life.before = usage::memory(operator.id())?;
    life.create = phase(bench, &operator, true, bench.create_apps()).await?;
    let patch = json!({"metadata": {"annotations": {"example.org/touched": "yes"}}});
    life.touch = phase(bench, &operator, false, bench.patch_apps(&patch)).await?;
    let touch_environment = async {
        let params = PatchParams::default();
        let environments = bench.environments();
        environments
            .patch(&bench.environment, &params, &Patch::Merge(&patch))
            .await?;
        Ok(())
    };
    life.touch_environment = phase(bench, &operator, false, touch_environment).await?;
    life.reaction = react(bench, course.changes).await?;
    life.after = usage::memory(operator.id())?;
    settled(bench, &bench.plane.mark()).await;
    operator.terminate().await;
    restart(bench, binary, course, &mut life).await?;
    Ok(life)
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

/// What the operator does about some work of the user: until every app is reconciled, if it should be, and until
/// nothing more is sent.
async fn phase(
    bench: &Bench<'_>,
    operator: &Operator,
    until_reconciled: bool,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Phase> {
    let mut observer = Observer::start(bench.apps(), reconciled_generation).await?;
    let mark = bench.plane.mark();
    let own = usage::processor_time(operator.id())?;
    let (mut cost, ()) = bench
        .plane
        .cost(async {
            work.await?;
            if until_reconciled {
                observer.wait_for(bench.prepared.len(), 1).await?;
            }
            Ok(())
        })
        .await?;
    let sent = settled(bench, &mark).await;
    cost.operator = usage::processor_time(operator.id())?.saturating_sub(own);
    Ok(Phase { cost, sent })
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

async fn restart(
    bench: &Bench<'_>,
    binary: &Path,
    course: Course,
    life: &mut Life,
) -> anyhow::Result<()> {
    let mark = bench.plane.mark();
    let (mut cost, mut operator) = bench
        .plane
        .cost(async { Ok(bench.plane.start_operator(binary, FLAGS).await) })
        .await?;
    let sent = settled(bench, &mark).await;
    cost.operator = usage::processor_time(operator.id())?;
    life.restart = Phase { cost, sent };
    tokio::time::sleep(REST).await;
    life.restarted = usage::memory(operator.id())?;
    if course.foreign > 0 {
        super::foreign::create(&bench.plane.client, course.foreign).await?;
        tokio::time::sleep(REST).await;
        life.crowded = Some(usage::memory(operator.id())?);
    }
    operator.terminate().await;
    Ok(())
}

/// Waits until the operator is done, and counts what it sent since the mark.
async fn settled(bench: &Bench<'_>, mark: &audit::Mark) -> Sent {
    let mut entries = mark.settled(&bench.namespace.name).await;
    // The environment writes last. It has no namespace, and its events are in that of those who have none.
    loop {
        let more = mark.settled("default").await;
        let more = more.into_iter().chain(elsewhere(mark));
        let more = more
            .chain(mark.since(AGENT, &bench.namespace.name))
            .collect();
        let known = std::mem::replace(&mut entries, more).len();
        if known == entries.len() {
            break;
        }
    }
    let mut sent = Sent::default();
    for entry in entries {
        let place = if !entry.is_write() {
            &mut sent.reads
        } else if entry.resource == "events" {
            &mut sent.events
        } else if entry.namespace.is_empty() {
            &mut sent.environment
        } else {
            &mut sent.writes
        };
        *place += 1;
    }
    sent
}

/// Requests outside all namespaces. Kinds that the plane does not serve are asked for again and again, like watches.
fn elsewhere(mark: &audit::Mark) -> impl Iterator<Item = audit::Entry> {
    let entries = mark.since(AGENT, "").into_iter();
    entries.filter(|entry| entry.code != 404)
}
