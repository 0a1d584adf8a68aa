//! All roots of one kind: watches in, passes out.
//!
//! Bounded concurrency, one pass per root at a time, back-off per root, and a wall around each pass: a
//! panic or an undecodable object ends that pass and nothing else.

mod accounts;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use kube::Client;
use mainstay_cluster::{
    fence::Fence,
    resource::api,
    sink::Sink,
    watch::{ChildWatch, Facts, Wake, WatchState, watch_roots},
};
use mainstay_engine::{
    corridor::Corridor,
    key::ObjectKey,
    kind::{DeclaredKind, Role},
};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinSet},
    time::Instant,
};

use crate::{
    events::{self, Told},
    metrics::{ControllerLabel, KindLabel, Metrics, QueueLabel},
    pass::{self, PassResult},
    queue::{Backoff, Queue},
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
    settings: ControllerSettings,
    metrics: Metrics,
    /// The way of every write; it also holds the stores that the watches fill.
    sink: Sink,
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
        let corridor = Arc::new(corridor);
        let sink = Sink {
            client,
            declared: corridor.declared(),
            manager: corridor.field_manager(),
            facts: facts(&corridor),
            cache: Arc::default(),
            roots: Arc::default(),
            fence,
            deadline: settings.deadline,
        };
        Self {
            corridor,
            settings,
            metrics,
            sink,
        }
    }

    /// Starts the watches and runs passes until the stop, then drains.
    pub async fn run(self, states: watch::Sender<WatchStates>, shutdown: Shutdown) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let wake: Wake = Arc::new(move |key| {
            // The receiver is gone only when the process stops.
            let _ = sender.send(key);
        });
        let mut watches = JoinSet::new();
        let mut receivers = Vec::new();
        for row in self.corridor.declared() {
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
        let sink = &self.sink;
        let api = api(sink.client.clone(), row, &self.settings.namespace);
        match row.role {
            Role::Root => {
                watches.spawn(watch_roots(api, row, sink.roots.clone(), wake, state));
            }
            Role::Child => {
                let child = ChildWatch {
                    row,
                    root: root_row(sink.declared).kind.clone(),
                    selector: self.settings.selector,
                    manager: sink.manager,
                    facts: sink.facts.clone(),
                    cache: sink.cache.clone(),
                    wake,
                };
                watches.spawn(child.run(api, state));
            }
        }
    }

    async fn work(&self, mut changes: mpsc::UnboundedReceiver<ObjectKey>, mut shutdown: Shutdown) {
        let mut queue: Queue<ObjectKey> = Queue::new(self.settings.backoff);
        let mut running: JoinSet<Option<PassResult>> = JoinSet::new();
        let mut keys: HashMap<Id, ObjectKey> = HashMap::new();
        let mut told = Told::default();
        let most = self.settings.concurrency.max(1);
        loop {
            while running.len() < most && !shutdown.is_stopping() {
                let Some(key) = queue.pop(Instant::now()) else {
                    break;
                };
                let task = running.spawn(self.prepare_pass().pass(key.clone()));
                keys.insert(task.id(), key);
            }
            self.gauge(&queue, running.len());
            if shutdown.is_stopping() && running.is_empty() {
                return;
            }
            let due = queue.next_due().filter(|_| running.len() < most);
            tokio::select! {
                Some(key) = changes.recv() => {
                    self.enqueue(&mut queue, key);
                    while let Ok(key) = changes.try_recv() {
                        self.enqueue(&mut queue, key);
                    }
                }
                Some(ended) = running.join_next_with_id() => {
                    let (id, result) = match ended {
                        Ok((id, result)) => (id, result),
                        Err(error) => (error.id(), Some(accounts::panicked())),
                    };
                    if let Some(key) = keys.remove(&id) {
                        self.tell(&mut told, &key, result.as_ref());
                        let next = self.account(&key, result, queue.failures(&key));
                        queue.done(&key, next, Instant::now());
                    }
                }
                () = sleep_until(due) => {}
                () = shutdown.wait(), if !shutdown.is_stopping() => {}
            }
        }
    }

    /// Records what is news about a root.
    fn tell(&self, told: &mut Told, key: &ObjectKey, result: Option<&PassResult>) {
        let Some(result) = result else {
            return told.forget(key);
        };
        let news = told.news(key, result.notes.clone());
        if news.is_empty() {
            return;
        }
        let Some(root) = self.sink.roots.get(key) else {
            return;
        };
        for note in news {
            let component = self.sink.manager.to_owned();
            let regarding = events::reference(&root);
            tokio::spawn(events::record(
                self.sink.client.clone(),
                component,
                regarding,
                note,
            ));
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

    fn prepare_pass(&self) -> Pass<C> {
        Pass {
            corridor: self.corridor.clone(),
            metrics: self.metrics.clone(),
            sink: self.sink.clone(),
        }
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
    metrics: Metrics,
    sink: Sink,
}

impl<C: Corridor<Observed = ()>> Pass<C> {
    /// `None` if the root is gone.
    async fn pass(self, key: ObjectKey) -> Option<PassResult> {
        let root = self.sink.roots.get(&key)?;
        let started = Instant::now();
        let result = pass::run(&*self.corridor, root, &(), &*self.sink.cache, &self.sink).await;
        let label = ControllerLabel {
            controller: self.corridor.name(),
        };
        self.metrics
            .reconcile_seconds
            .get_or_create(&label)
            .observe(started.elapsed().as_secs_f64());
        Some(result)
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
