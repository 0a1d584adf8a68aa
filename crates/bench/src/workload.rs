//! The measurement of an operator with many roots, the same for every system: the floors and one life of the operator
//! in turns. A life is: start, create every root, touch them, change something, start anew.

use std::{path::Path, time::Duration};

use anyhow::Context;
use kube::{Api, api::DynamicObject};
use mainstay_testkit::{
    Operator,
    audit::{Entry, Mark},
    operator::{free_port, http_get_text},
};
use serde_json::{Value, json};

use crate::{
    cost::Cost,
    output::say,
    plane::Plane,
    report::Figure,
    usage::{self, Memory},
    watch::Observer,
};

/// Time for memory to come to rest.
pub(crate) const REST: Duration = Duration::from_secs(3);

/// What a system does in a measurement.
pub(crate) trait Workload {
    /// Name of the system.
    const SYSTEM: &'static str;
    /// What the floors of one round cost.
    type Floor;
    /// What the changes of one life cost.
    type Change;

    /// Where it plays, with nobody else.
    fn plane(&self) -> &Plane;

    /// How many roots there are.
    fn count(&self) -> usize;

    /// The roots.
    fn roots(&self) -> Api<DynamicObject>;

    /// The generation for which a root is done.
    fn done(root: &DynamicObject) -> Option<i64>;

    /// The same work without the operator, everything removed again.
    fn floor(&self) -> impl Future<Output = anyhow::Result<Self::Floor>>;

    /// What there is before the first root.
    fn surroundings(&self) -> impl Future<Output = anyhow::Result<()>> {
        async { Ok(()) }
    }

    /// Users create every root and nothing else.
    fn create(&self) -> impl Future<Output = anyhow::Result<()>>;

    /// Users patch every root.
    fn patch(&self, patch: &Value) -> impl Future<Output = anyhow::Result<()>>;

    /// Users change something that makes a difference.
    fn change(
        &self,
        session: &Session<'_, Self>,
    ) -> impl Future<Output = anyhow::Result<Self::Change>>
    where
        Self: Sized;

    /// What others do when all is done, beside an operator that rests; whether they do anything.
    fn crowd(&self) -> impl Future<Output = anyhow::Result<bool>> {
        async { Ok(false) }
    }

    /// Waits until the operator is done, and returns what it sent since the mark.
    fn sent(&self, mark: &Mark) -> impl Future<Output = Vec<Entry>>;

    /// The same for an operator that has just started.
    fn sent_at_start(&self, mark: &Mark) -> impl Future<Output = Vec<Entry>> {
        self.sent(mark)
    }

    /// Removes everything.
    fn clear(&self) -> impl Future<Output = anyhow::Result<()>>;
}

/// What the operator sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Requests that ask for nothing but an answer.
    pub(crate) reads: usize,
    /// Writes in namespaces, without events.
    pub(crate) writes: usize,
    /// Events.
    pub(crate) events: usize,
    /// Writes of what is in no namespace.
    pub(crate) cluster_wide: usize,
}

impl Sent {
    fn of(entries: &[Entry]) -> Self {
        let mut sent = Self::default();
        for entry in entries {
            let place = if !entry.is_write() {
                &mut sent.reads
            } else if entry.resource == "events" {
                &mut sent.events
            } else if entry.namespace.is_empty() {
                &mut sent.cluster_wide
            } else {
                &mut sent.writes
            };
            *place += 1;
        }
        sent
    }

    /// All of it.
    pub(crate) const fn all(self) -> usize {
        self.reads + self.all_writes()
    }

    /// All that ask for a change.
    pub(crate) const fn all_writes(self) -> usize {
        self.writes + self.events + self.cluster_wide
    }
}

/// What a phase took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Phase {
    /// Times, and the requests in all.
    pub(crate) cost: Cost,
    /// Requests by what they ask for.
    pub(crate) sent: Sent,
    /// Reconciles that ended, of all controllers.
    pub(crate) reconciles: usize,
}

/// What one life of the operator took.
#[derive(Clone, Debug)]
pub(crate) struct Life<C> {
    /// Every root created.
    pub(crate) create: Phase,
    /// The annotations of every root touched.
    pub(crate) touch: Phase,
    /// The changes of the system.
    pub(crate) change: C,
    /// A new process that finds everything done.
    pub(crate) restart: Phase,
    /// Memory before the first root.
    pub(crate) before: Memory,
    /// Memory after the changes.
    pub(crate) after: Memory,
    /// Memory of the new process.
    pub(crate) restarted: Memory,
    /// Memory after others did what they do.
    pub(crate) crowded: Option<Memory>,
}

/// All rounds at one scale.
#[derive(Debug)]
pub(crate) struct Rounds<F, C> {
    pub(crate) floors: Vec<F>,
    pub(crate) lives: Vec<Life<C>>,
}

/// Measures so many rounds, in which floors and product take turns.
pub(crate) async fn measure<W: Workload>(
    workload: &W,
    binary: &Path,
    rounds: usize,
) -> anyhow::Result<Rounds<W::Floor, W::Change>> {
    let (mut floors, mut lives) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        say(&format!(
            "{}: {} objects, round {round} of {rounds}",
            W::SYSTEM,
            workload.count()
        ));
        floors.push(workload.floor().await?);
        lives.push(live(workload, binary).await?);
        workload.clear().await?;
    }
    Ok(Rounds { floors, lives })
}

async fn live<W: Workload>(workload: &W, binary: &Path) -> anyhow::Result<Life<W::Change>> {
    let plane = workload.plane();
    let mut session = Session::start(workload, binary).await;
    workload.surroundings().await?;
    workload.sent(&plane.mark()).await;
    tokio::time::sleep(REST).await;
    let before = session.memory()?;
    let create = session.phase(Some(1), workload.create()).await?;
    let touch = session.phase(None, workload.patch(&touch())).await?;
    let change = Box::pin(workload.change(&session)).await?;
    let after = session.memory()?;
    workload.sent(&plane.mark()).await;
    session.operator.terminate().await;

    let mark = plane.mark();
    let starting = async { Ok(Session::start(workload, binary).await) };
    let (cost, mut session) = plane.cost(starting).await?;
    let entries = workload.sent_at_start(&mark).await;
    let restart = session.counted(cost, &entries, Duration::ZERO, 0).await?;
    tokio::time::sleep(REST).await;
    let restarted = session.memory()?;
    let mut crowded = None;
    if workload.crowd().await? {
        tokio::time::sleep(REST).await;
        crowded = Some(session.memory()?);
    }
    session.operator.terminate().await;
    Ok(Life {
        create,
        touch,
        change,
        restart,
        before,
        after,
        restarted,
        crowded,
    })
}

/// A patch without consequence for most roots.
pub(crate) fn touch() -> Value {
    json!({"metadata": {"annotations": {"example.org/touched": "yes"}}})
}

/// The operator as a process, and whom it works for.
pub(crate) struct Session<'run, W> {
    workload: &'run W,
    operator: Operator,
    /// Address of its metrics.
    metrics: String,
}

impl<'run, W: Workload> Session<'run, W> {
    async fn start(workload: &'run W, binary: &Path) -> Self {
        let metrics = format!("127.0.0.1:{}", free_port());
        // Only the system that is measured.
        let flags = ["--systems", W::SYSTEM, "--metrics-bind-address", &metrics];
        Self {
            workload,
            operator: workload.plane().start_operator(binary, &flags).await,
            metrics,
        }
    }

    fn memory(&self) -> anyhow::Result<Memory> {
        usage::memory(self.operator.id())
    }

    /// What the operator does about some work of the user: until every root is done for a generation, if one is given,
    /// and until nothing more is sent.
    pub(crate) async fn phase(
        &self,
        generation: Option<i64>,
        work: impl Future<Output = anyhow::Result<()>>,
    ) -> anyhow::Result<Phase> {
        let plane = self.workload.plane();
        let mut observer = Observer::start(self.workload.roots(), W::done).await?;
        let reconciles = self.reconciles().await?;
        let mark = plane.mark();
        let own = usage::processor_time(self.operator.id())?;
        let work = async {
            work.await?;
            match generation {
                Some(generation) => observer.wait_for(self.workload.count(), generation).await,
                None => Ok(()),
            }
        };
        let (cost, ()) = plane.cost(work).await?;
        let entries = self.workload.sent(&mark).await;
        self.counted(cost, &entries, own, reconciles).await
    }

    /// A phase with everything that is counted at its end.
    async fn counted(
        &self,
        cost: Cost,
        entries: &[Entry],
        own: Duration,
        reconciles: usize,
    ) -> anyhow::Result<Phase> {
        let sent = Sent::of(entries);
        let own = usage::processor_time(self.operator.id())?.saturating_sub(own);
        Ok(Phase {
            cost: Cost {
                operator: own,
                requests: sent.all(),
                writes: sent.all_writes(),
                ..cost
            },
            sent,
            reconciles: self.reconciles().await?.saturating_sub(reconciles),
        })
    }

    /// Reconciles that have ended so far.
    async fn reconciles(&self) -> anyhow::Result<usize> {
        let answer = http_get_text(&self.metrics, "/metrics").await;
        let answer = answer.context("the operator tells no metrics")?;
        reconciles(&answer).context("the operator does not count its reconciles")
    }
}

/// The sum over controllers and results.
fn reconciles(metrics: &str) -> Option<usize> {
    let lines = metrics
        .lines()
        .filter(|line| line.starts_with("controller_runtime_reconcile_total{"));
    let counts = lines.map(|line| line.rsplit(' ').next()?.trim().parse::<usize>().ok());
    let counts = counts.collect::<Option<Vec<usize>>>()?;
    (!counts.is_empty()).then(|| counts.iter().sum())
}

impl<F, C> Rounds<F, C> {
    /// The costs of a phase.
    pub(crate) fn costs(&self, phase: fn(&Life<C>) -> Phase) -> Vec<Cost> {
        self.lives.iter().map(|life| phase(life).cost).collect()
    }

    /// The largest count of all rounds.
    pub(crate) fn most(&self, phase: impl Fn(&Life<C>) -> Phase, part: fn(Phase) -> usize) -> f64 {
        let counts = self.lives.iter().map(|life| part(phase(life)));
        crate::statistics::number(counts.max().unwrap_or_default())
    }

    fn largest(&self, part: fn(&Life<C>) -> u64) -> u64 {
        self.lives.iter().map(part).max().unwrap_or_default()
    }

    /// Times of a start that finds everything done.
    pub(crate) fn restart_figures(&self) -> [Figure; 2] {
        let restart = self.costs(|life| life.restart);
        let middle = |part| crate::cost::middle(&restart, part);
        [
            Figure::milliseconds("restart to ready", middle(|cost| cost.wall)),
            Figure::milliseconds("restart, operator time", middle(|cost| cost.operator)),
        ]
    }

    /// Memory over a life; the peak may have a limit, in MiB.
    pub(crate) fn memory_figures(&self, most: Option<f64>) -> Vec<Figure> {
        let peak = Figure::bytes("memory, peak", self.largest(|life| life.after.peak));
        vec![
            Figure::bytes(
                "memory, idle before",
                self.largest(|life| life.before.resident),
            )
            .at_most(16.0),
            match most {
                Some(most) => peak.at_most(most),
                None => peak,
            },
            Figure::bytes("memory, after", self.largest(|life| life.after.resident)),
            Figure::bytes(
                "memory, idle after restart",
                self.largest(|life| life.restarted.resident),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconciles_are_summed_over_controllers_and_results() {
        let text = "HTTP/1.1 200 OK\r\n\r\n# TYPE controller_runtime_reconcile counter\n\
            controller_runtime_reconcile_total{controller=\"app\",result=\"success\"} 40\n\
            controller_runtime_reconcile_total{controller=\"environment\",result=\"error\"} 2\n\
            controller_runtime_reconcile_errors_total{controller=\"app\"} 7\n";
        assert_eq!(reconciles(text), Some(42));
        assert_eq!(reconciles("HTTP/1.1 404 Not Found\r\n\r\n"), None);
    }

    #[test]
    fn requests_are_told_apart_by_what_they_ask_for() {
        let entry = |verb: &str, resource: &str, namespace: &str| Entry {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: "one".to_owned(),
            code: 200,
            dry_run: false,
        };
        let sent = Sent::of(&[
            entry("get", "secrets", "shop"),
            entry("patch", "services", "shop"),
            entry("create", "events", "shop"),
            entry("patch", "clowdenvironments/status", ""),
        ]);
        assert_eq!((sent.reads, sent.writes, sent.events), (1, 1, 1));
        assert_eq!((sent.all(), sent.all_writes()), (4, 3));
    }
}
