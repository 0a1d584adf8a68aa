//! All roots of one kind: watches in, passes out.
//!
//! Bounded concurrency, one pass per root at a time, back-off per root, and a wall around each pass: a
//! panic or an undecodable object ends that pass and nothing else.

use std::{fmt, sync::Arc, time::Duration};

use kube::Client;
use mainstay_cluster::{
    cache::Cache,
    resource::api,
    root::RootStore,
    sink::{Fence, Sink},
    watch::{ChildWatch, Facts, Wake, WatchState, watch_roots},
};
use mainstay_engine::{
    corridor::Corridor,
    key::ObjectKey,
    kind::{DeclaredKind, Role},
    outcome::Outcome,
};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinSet},
    time::Instant,
};

use crate::{
    metrics::{
        ActionLabel, ControllerLabel, KindLabel, Metrics, QueueLabel, ReasonLabel, ResultLabel,
    },
    pass::{self, PassResult},
    queue::{Backoff, Next, Queue},
    shutdown::Shutdown,
};

/// How a controller runs.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Only this namespace; empty means all.
    pub namespace: String,
    /// Label selector of the children.
    pub selector: Option<&'static str>,
    /// Passes at the same time.
    pub concurrency: usize,
    /// Back-off of failing roots.
    pub backoff: Backoff,
    /// Time after which a settled root is looked at again.
    pub resync: Duration,
    /// Longest duration of a commit.
    pub deadline: Duration,
}

/// A controller before it runs.
pub struct Controller<C: Corridor> {
    corridor: Arc<C>,
    client: Client,
    settings: ControllerSettings,
    metrics: Metrics,
    roots: Arc<RootStore>,
    cache: Arc<Cache>,
    fence: Fence,
}

impl<C: Corridor> fmt::Debug for Controller<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Controller")
            .field("name", &self.corridor.name())
            .finish_non_exhaustive()
    }
}

/// States of the watches of a controller, for the probes.
pub type WatchStates = Vec<(String, watch::Receiver<WatchState>)>;

impl<C: Corridor<Observed = ()>> Controller<C> {
    /// A controller over fresh caches.
    pub fn new(
        corridor: C,
        client: Client,
        settings: ControllerSettings,
        metrics: Metrics,
        fence: Fence,
    ) -> Self {
        metrics.prepare(corridor.name());
        Self {
            corridor: Arc::new(corridor),
            client,
            settings,
            metrics,
            roots: Arc::default(),
            cache: Arc::default(),
            fence,
        }
    }

    /// Starts the watches of the kinds that `served` names and runs passes until the stop, then drains.
    pub async fn run(
        self,
        served: impl Fn(&DeclaredKind) -> bool,
        states: watch::Sender<WatchStates>,
        shutdown: Shutdown,
    ) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let wake: Wake = Arc::new(move |key| {
            // The receiver is gone only when the process stops.
            let _ = sender.send(key);
        });
        let mut watches = JoinSet::new();
        let mut receivers = Vec::new();
        for row in self.corridor.declared().iter().filter(|row| served(row)) {
            let (state, state_receiver) = watch::channel(WatchState::default());
            receivers.push((row.kind.to_string(), state_receiver.clone()));
            watches.spawn(count_restarts(
                row.kind.to_string(),
                state_receiver,
                self.metrics.clone(),
            ));
            self.spawn_watch(&mut watches, row, wake.clone(), state);
        }
        states.send_replace(receivers.clone());
        // A pass over half-filled caches would create what exists; the guard of the create would catch it, at the
        // price of requests.
        let synced = wait_for_sync(receivers);
        let mut stop = shutdown.clone();
        tokio::select! {
            () = synced => {}
            () = stop.wait() => return,
        }
        self.work(receiver, shutdown).await;
    }

    fn spawn_watch(
        &self,
        watches: &mut JoinSet<()>,
        row: &'static DeclaredKind,
        wake: Wake,
        state: watch::Sender<WatchState>,
    ) {
        let api = api(self.client.clone(), row, &self.settings.namespace);
        match row.role {
            Role::Root => {
                watches.spawn(watch_roots(api, row, self.roots.clone(), wake, state));
            }
            Role::Child => {
                let child = ChildWatch {
                    row,
                    root: root_row(self.corridor.declared()).kind.clone(),
                    selector: self.settings.selector,
                    manager: self.corridor.field_manager(),
                    facts: facts(&self.corridor),
                    cache: self.cache.clone(),
                    wake,
                };
                watches.spawn(child.run(api, state));
            }
        }
    }

    async fn work(&self, mut changes: mpsc::UnboundedReceiver<ObjectKey>, mut shutdown: Shutdown) {
        let mut queue: Queue<ObjectKey> = Queue::new(self.settings.backoff);
        let mut running: JoinSet<(ObjectKey, Option<PassResult>)> = JoinSet::new();
        let mut keys: std::collections::HashMap<Id, ObjectKey> = std::collections::HashMap::new();
        loop {
            while running.len() < self.settings.concurrency.max(1) && !shutdown.is_stopping() {
                let Some(key) = queue.pop(Instant::now()) else {
                    break;
                };
                let task = running.spawn(self.clone_for_pass().pass(key.clone()));
                keys.insert(task.id(), key);
            }
            self.gauge(&queue, running.len());
            if shutdown.is_stopping() && running.is_empty() {
                return;
            }
            let due = queue
                .next_due()
                .filter(|_| running.len() < self.settings.concurrency);
            tokio::select! {
                Some(key) = changes.recv() => {
                    self.enqueue(&mut queue, key);
                    while let Ok(key) = changes.try_recv() {
                        self.enqueue(&mut queue, key);
                    }
                }
                Some(ended) = running.join_next_with_id() => {
                    let (id, result) = match ended {
                        Ok((id, (_, result))) => (id, result),
                        Err(error) => (error.id(), Some(panicked())),
                    };
                    if let Some(key) = keys.remove(&id) {
                        let next = self.account(&key, result, queue.failures(&key));
                        queue.done(&key, next, Instant::now());
                    }
                }
                () = sleep_until(due) => {}
                () = shutdown.wait(), if !shutdown.is_stopping() => {}
            }
        }
    }

    fn enqueue(&self, queue: &mut Queue<ObjectKey>, key: ObjectKey) {
        if queue.add(key) {
            self.metrics
                .queue_adds
                .get_or_create(&QueueLabel {
                    name: self.corridor.name(),
                })
                .inc();
        }
    }

    fn gauge(&self, queue: &Queue<ObjectKey>, running: usize) {
        let name = self.corridor.name();
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.metrics
            .queue_depth
            .get_or_create(&QueueLabel { name })
            .set(number(queue.depth()));
        self.metrics
            .active
            .get_or_create(&ControllerLabel { controller: name })
            .set(number(running));
    }

    fn clone_for_pass(&self) -> Pass<C> {
        Pass {
            corridor: self.corridor.clone(),
            roots: self.roots.clone(),
            cache: self.cache.clone(),
            metrics: self.metrics.clone(),
            sink: Sink {
                client: self.client.clone(),
                declared: self.corridor.declared(),
                manager: self.corridor.field_manager(),
                facts: facts(&self.corridor),
                cache: self.cache.clone(),
                roots: self.roots.clone(),
                fence: self.fence.clone(),
                deadline: self.settings.deadline,
            },
        }
    }

    /// Counts and logs the end of a pass and decides when the next one runs.
    fn account(&self, key: &ObjectKey, result: Option<PassResult>, failures: u32) -> Next {
        let controller = self.corridor.name();
        let Some(result) = result else {
            return Next::Settled(None);
        };
        for row in &result.changes.rows {
            let action = row.change.word();
            self.metrics
                .objects
                .get_or_create(&ActionLabel { controller, action })
                .inc();
        }
        log(controller, key, &result);
        let (label, next) = match &result.outcome {
            Outcome::Success => ("success", Next::Settled(Some(self.settings.resync))),
            Outcome::Waiting { .. } => (
                "requeue_after",
                Next::Settled(Some(Duration::from_secs(15))),
            ),
            Outcome::Terminal { recheck, .. } => (
                "error",
                Next::Settled(Some(recheck.unwrap_or(self.settings.resync))),
            ),
            Outcome::Transient {
                reason: "StatusConflict",
            } => ("requeue", Next::Failed),
            Outcome::Transient { .. } => ("error", Next::Failed),
        };
        self.metrics
            .reconcile_total
            .get_or_create(&ResultLabel {
                controller,
                result: label,
            })
            .inc();
        if label == "error" {
            self.metrics
                .reconcile_errors
                .get_or_create(&ControllerLabel { controller })
                .inc();
        }
        if let Outcome::Transient { reason } | Outcome::Terminal { reason, .. } = result.outcome {
            self.metrics
                .errors_by_reason
                .get_or_create(&ReasonLabel { controller, reason })
                .inc();
        }
        if next == Next::Failed && failures > 0 {
            self.metrics
                .queue_retries
                .get_or_create(&QueueLabel { name: controller })
                .inc();
        }
        next
    }
}

/// The row of the root kind. Every table has one; a table without would watch nothing.
pub fn root_row(declared: &'static [DeclaredKind]) -> &'static DeclaredKind {
    declared
        .iter()
        .find(|row| row.role == Role::Root)
        .expect("a system's table of kinds has a root")
}

/// The corridor's choice of facts as a shareable function.
pub fn facts<C: Corridor>(corridor: &Arc<C>) -> Facts {
    let corridor = corridor.clone();
    Arc::new(move |kind, value| corridor.facts(kind, value))
}

/// Everything one pass needs, so that it can run in a task of its own.
struct Pass<C: Corridor> {
    corridor: Arc<C>,
    roots: Arc<RootStore>,
    cache: Arc<Cache>,
    metrics: Metrics,
    sink: Sink,
}

impl<C: Corridor<Observed = ()>> Pass<C> {
    async fn pass(self, key: ObjectKey) -> (ObjectKey, Option<PassResult>) {
        let Some(root) = self.roots.get(&key) else {
            return (key, None);
        };
        let started = Instant::now();
        let result = pass::run(&*self.corridor, root, &(), &*self.cache, &self.sink).await;
        let label = ControllerLabel {
            controller: self.corridor.name(),
        };
        self.metrics
            .reconcile_seconds
            .get_or_create(&label)
            .observe(started.elapsed().as_secs_f64());
        (key, Some(result))
    }
}

fn panicked() -> PassResult {
    PassResult {
        outcome: Outcome::Transient { reason: "Panicked" },
        changes: mainstay_engine::change_set::ChangeSet::default(),
        status_written: false,
        notes: Vec::new(),
        error: Some(
            "the pass panicked; this is a defect, please report it with the log above".to_owned(),
        ),
    }
}

fn log(controller: &'static str, key: &ObjectKey, result: &PassResult) {
    let object = key.path();
    let changed = result
        .changes
        .rows
        .iter()
        .filter(|row| row.change.is_change())
        .count();
    if let Some(error) = &result.error {
        tracing::warn!(
            controller,
            object,
            outcome = result.outcome.label(),
            error,
            "Reconcile failed"
        );
    } else {
        tracing::info!(
            controller,
            object,
            outcome = result.outcome.label(),
            changed,
            status_written = result.status_written,
            "Reconciled"
        );
    }
    for row in result
        .changes
        .rows
        .iter()
        .filter(|row| row.change.is_change())
    {
        tracing::debug!(controller, object, unit = row.unit, action = row.change.word(), child = %row.key, "Changed object");
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn wait_for_sync(receivers: WatchStates) {
    for (_, mut receiver) in receivers {
        // A closed channel means that the watch ended, which only happens at the stop.
        let _ = receiver.wait_for(|state| state.synced).await;
    }
}

async fn count_restarts(kind: String, mut state: watch::Receiver<WatchState>, metrics: Metrics) {
    let counter = metrics
        .watch_restarts
        .get_or_create_owned(&KindLabel { kind });
    let mut known = 0;
    while state.changed().await.is_ok() {
        let failures = state.borrow_and_update().failures;
        counter.inc_by(u64::from(failures.saturating_sub(known)));
        known = failures;
    }
}
