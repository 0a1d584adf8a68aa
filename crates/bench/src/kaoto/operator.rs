//! The product: the operator as a process, through a whole life.

use std::{path::Path, time::Instant};

use anyhow::Context;
use mainstay_testkit::{Namespace, Operator, audit};
use serde_json::{Value, json};

use super::{
    floor::Bench,
    objects::{NEW_IMAGE, Sample},
    ready::ready_generation,
};
use crate::{
    cost::Cost,
    plane::Plane,
    usage::{self, Memory},
    watch::Observer,
};

/// Only the system that is measured.
pub(super) const FLAGS: &[&str] = &["--systems", "kaoto"];

/// What one life of the operator took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// Every Kaoto created.
    pub(super) create: Cost,
    /// Every Kaoto touched without consequence.
    pub(super) touch: Cost,
    /// The image of every Kaoto changed.
    pub(super) change: Cost,
    /// A new process that finds everything done.
    pub(super) restart: Cost,
    /// Memory before the first Kaoto.
    pub(super) before: Memory,
    /// Memory after the change.
    pub(super) after: Memory,
    /// Memory of the new process.
    pub(super) restarted: Memory,
}

/// Lets the operator handle one Kaoto and reads off what it says about it.
pub(super) async fn sample(
    plane: &Plane,
    binary: &Path,
    namespace: &Namespace,
) -> anyhow::Result<Sample> {
    const NAME: &str = "pattern";
    let mut operator = plane.start_operator(binary, FLAGS).await;
    namespace.create_kaoto(NAME, json!({"ingress": {}})).await;
    let created = namespace.kaoto_ready(NAME).await;
    let image = json!({"spec": {"image": NEW_IMAGE}});
    namespace.patch_kaoto(NAME, image).await;
    let changed = namespace.kaoto_ready(NAME).await;
    let status = |kaoto: &Value| kaoto.get("status").cloned().context("there is no status");
    let sample = Sample {
        name: NAME,
        created: status(&created)?,
        changed: status(&changed)?,
    };
    operator.terminate().await;
    Bench::new(plane, namespace, &sample, 0)?.clear().await?;
    Ok(sample)
}

/// One life: start, create, touch, change, restart.
pub(super) async fn live(bench: &Bench<'_>, binary: &Path) -> anyhow::Result<Life> {
    let mut operator = bench.plane.start_operator(binary, FLAGS).await;
    settle(bench, &bench.plane.mark()).await;
    let before = usage::memory(operator.id())?;
    let create = phase(bench, &operator, Some(1), bench.create_kaotos()).await?;
    let touch = json!({"metadata": {"annotations": {"example.org/touched": "yes"}}});
    let touch = phase(bench, &operator, None, bench.patch_kaotos(&touch)).await?;
    let image = json!({"spec": {"image": NEW_IMAGE}});
    let change = phase(bench, &operator, Some(2), bench.patch_kaotos(&image)).await?;
    let after = usage::memory(operator.id())?;
    operator.terminate().await;
    let (restart, restarted) = restart(bench, binary).await?;
    Ok(Life {
        create,
        touch,
        change,
        restart,
        before,
        after,
        restarted,
    })
}

/// What the operator does about some work of the user: until every Kaoto is Ready for a generation, if one is given,
/// and until nothing more is sent.
async fn phase(
    bench: &Bench<'_>,
    operator: &Operator,
    generation: Option<i64>,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Cost> {
    let mut observer = Observer::start(bench.namespace.kaotos(), ready_generation).await?;
    let mark = bench.plane.mark();
    let server = bench.plane.server_time()?;
    let own = usage::processor_time(operator.id())?;
    let begun = Instant::now();
    work.await?;
    if let Some(generation) = generation {
        observer.wait_for(bench.prepared.len(), generation).await?;
    }
    let wall = begun.elapsed();
    let server = bench.plane.server_time()?.saturating_sub(server);
    let entries = settle(bench, &mark).await;
    Ok(Cost {
        wall,
        server,
        operator: usage::processor_time(operator.id())?.saturating_sub(own),
        requests: entries.len(),
        writes: entries.iter().filter(|entry| entry.is_write()).count(),
    })
}

async fn restart(bench: &Bench<'_>, binary: &Path) -> anyhow::Result<(Cost, Memory)> {
    let mark = bench.plane.mark();
    let server = bench.plane.server_time()?;
    let begun = Instant::now();
    let mut operator = bench.plane.start_operator(binary, FLAGS).await;
    let wall = begun.elapsed();
    let server = bench.plane.server_time()?.saturating_sub(server);
    let mut entries = settle(bench, &mark).await;
    // Lists of all namespaces name none.
    entries.extend(mark.since("mainstay", ""));
    let cost = Cost {
        wall,
        server,
        operator: usage::processor_time(operator.id())?,
        requests: entries.len(),
        writes: entries.iter().filter(|entry| entry.is_write()).count(),
    };
    let memory = usage::memory(operator.id())?;
    operator.terminate().await;
    Ok((cost, memory))
}

/// Waits until the operator is done, and returns what it sent in the namespace.
async fn settle(bench: &Bench<'_>, mark: &audit::Mark) -> Vec<audit::Entry> {
    mark.settled(&bench.namespace.name).await
}
