//! All roots of one kind: news in, passes out.
//!
//! Bounded concurrency, one reconcile per root at a time, back-off per root, and a wall around each reconcile: a
//! panic or an undecodable object ends that reconcile and nothing else.

mod ended;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ObjectReference;
use mainstay_cluster::{sink::Sink, source::Source, watch::Facts};
use mainstay_engine::{
    backoff::Backoff,
    change_set::{Change, ChangeSet},
    key::{Kind, ObjectKey},
    reconciler::{Event, Reconciler},
};
use tokio::{
    task::{Id, JoinSet},
    time::Instant,
};

use self::ended::Said;
use crate::{
    events::{self, Told},
    metrics::{ControllerLabel, Metrics, QueueLabel},
    queue::{Next, Queue},
    reconcile::{self, ReconcileHooks, ReconcileResult},
    stores::{Changes, Router, Stores},
    work::{ControllerTask, RunState},
};

/// How a controller runs.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Passes at the same time.
    pub concurrency: usize,
    /// Back-off of failing roots.
    pub backoff: Backoff,
    /// Time after which a settled root is looked at again.
    pub resync: Duration,
    /// Shortest time between two reconciles of one root that did not fail. A root that many others change would be looked
    /// at for each of them otherwise.
    pub pause: Duration,
    /// Component that events name.
    pub component: &'static str,
    /// Kinds that it does not work without, see [`ControllerTask::needs`].
    pub needs: &'static [Kind],
}

/// A controller before it runs.
pub struct Controller<C: Reconciler> {
    reconciler: Arc<C>,
    source: Arc<Source>,
    hooks: Arc<dyn ReconcileHooks>,
    router: Arc<Router>,
    settings: ControllerSettings,
    metrics: Metrics,
    /// The way of every write; it also holds the stores that the watches fill.
    sink: Sink,
}

impl<C: Reconciler> fmt::Debug for Controller<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Controller")
            .field("name", &self.reconciler.name())
            .finish_non_exhaustive()
    }
}

impl<C: Reconciler> Controller<C> {
    /// The controller of a reconciler in a system, ready to run.
    pub fn task(
        reconciler: Arc<C>,
        source: Arc<Source>,
        hooks: Arc<dyn ReconcileHooks>,
        settings: ControllerSettings,
        stores: &Stores,
    ) -> ControllerTask {
        let concurrency = settings.concurrency.max(1);
        stores.metrics.prepare(reconciler.name(), concurrency);
        let kind = reconciler.root_kind();
        let controller = Self {
            source,
            hooks,
            router: stores.router().clone(),
            settings,
            metrics: stores.metrics.clone(),
            sink: stores.sink(&kind),
            reconciler,
        };
        let changes = stores.changes(&kind);
        ControllerTask {
            needs: controller.settings.needs,
            run: Box::new(move |state| {
                Box::pin(async move { controller.work(changes, state).await })
            }),
        }
    }

    async fn work(&self, mut changes: Changes, state: RunState) {
        let RunState {
            mut shutdown,
            mut working,
        } = state;
        let mut may_work = *working.borrow_and_update();
        let mut queue: Queue<ObjectKey> = Queue::new(self.settings.backoff, self.settings.pause);
        let mut running: JoinSet<Option<ReconcileResult>> = JoinSet::new();
        let mut keys: HashMap<Id, ObjectKey> = HashMap::new();
        let mut told = Told::default();
        let mut told_aside = Told::default();
        let mut said = Said::default();
        let most = self.settings.concurrency.max(1);
        loop {
            while may_work && running.len() < most && !shutdown.is_stopping() {
                let now = Instant::now();
                let Some(key) = queue.pop(now) else {
                    break;
                };
                let waited = queue.waited(&key, now);
                let pass = self.prepare_reconcile().reconcile(key.clone());
                let task = running.spawn(self.metrics.polls.timed(pass));
                self.begun(task.id(), waited);
                keys.insert(task.id(), key);
            }
            self.gauge(&queue, running.len());
            if shutdown.is_stopping() && running.is_empty() {
                return;
            }
            let due = queue.next_due();
            let due = due.filter(|_| may_work && running.len() < most);
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
                        Err(error) if error.is_cancelled() => {
                            self.metrics.running.end(self.reconciler.name(), error.id());
                            if let Some(key) = keys.remove(&error.id()) {
                                queue.done(&key, Next::Settled(None), Instant::now());
                            }
                            continue;
                        }
                        Err(error) => (error.id(), Some(self.panicked())),
                    };
                    self.metrics.running.end(self.reconciler.name(), id);
                    if let Some(key) = keys.remove(&id) {
                        self.ended(&key, result.as_ref());
                        self.tell(&mut told, &key, result.as_ref());
                        self.tell_aside(&mut told_aside, &key, result.as_ref());
                        let failures = queue.failures(&key);
                        let next = self.account(&mut said, &key, result, failures);
                        queue.done(&key, next, Instant::now());
                    }
                }
                () = sleep_until(due) => {}
                Ok(()) = working.changed() => {
                    let before = std::mem::replace(&mut may_work, *working.borrow_and_update());
                    if before && !may_work {
                        // What they would send now is not ours to send, or reaches nobody.
                        running.abort_all();
                    } else if may_work && !before {
                        self.begin_anew(&mut queue);
                    }
                }
                () = shutdown.wait(), if !shutdown.is_stopping() => {}
            }
        }
    }

    fn ended(&self, key: &ObjectKey, result: Option<&ReconcileResult>) {
        self.hooks.ended(key, result);
        match result {
            Some(result) => self.wake_others(key, &result.changes),
            None => self.source.forget(key),
        }
    }

    /// The echo of our own write is no news to the caches, so whoever else it concerns is woken now: other owners, and
    /// roots that asked for the object.
    fn wake_others(&self, key: &ObjectKey, changes: &ChangeSet) {
        for row in &changes.rows {
            let (Change::Created(live) | Change::Configured(live)) = &row.change else {
                continue;
            };
            let owners = live.owners.iter().filter(|owner| owner.controller);
            let owners =
                owners.filter_map(|owner| self.source.declared.root_of(owner, &live.key.namespace));
            let interested = self.source.views.interested(&live.key);
            let others = owners.chain(interested).filter(|root| root != key);
            others.for_each(|root| self.router.wake(root));
        }
    }

    fn begun(&self, id: Id, waited: Duration) {
        let name = self.reconciler.name();
        self.metrics.running.begin(name, id);
        let times = self
            .metrics
            .queue_seconds
            .get_or_create(&QueueLabel { name });
        times.observe(waited.as_secs_f64());
    }

    /// Looks at every root: others may have written meanwhile, and passes were cut off.
    fn begin_anew(&self, queue: &mut Queue<ObjectKey>) {
        queue.forgive();
        for key in self.sink.roots.keys() {
            self.enqueue(queue, key);
        }
    }

    /// Records what is news about a root.
    fn tell(&self, told: &mut Told, key: &ObjectKey, result: Option<&ReconcileResult>) {
        let Some(result) = result else {
            self.sink.cache.definitions().forget_root(key);
            return told.forget(key);
        };
        let is_change = result.changes.rows.iter().any(|row| row.change.is_change());
        if !is_change && !result.status_written {
            told.remember(key, &result.events);
        }
        let news = told.news(key, result.events.clone());
        self.record(&result.regarding.clone().unwrap_or_default(), news);
    }

    /// Records what the reconcile of a root found out about another object.
    fn tell_aside(&self, told: &mut Told, key: &ObjectKey, result: Option<&ReconcileResult>) {
        let Some(result) = result else {
            return told.forget(key);
        };
        let Some(related_events) = &result.related_events else {
            told.news(key, Vec::new());
            return;
        };
        let news = told.news(key, related_events.events.clone());
        self.record(
            &events::reference_to(&related_events.about, &related_events.uid),
            news,
        );
    }

    fn record(&self, regarding: &ObjectReference, events: Vec<Event>) {
        for event in events {
            tokio::spawn(events::record(
                self.sink.client.clone(),
                self.sink.fence.clone(),
                self.settings.component.to_owned(),
                regarding.clone(),
                event,
            ));
        }
    }

    fn enqueue(&self, queue: &mut Queue<ObjectKey>, key: ObjectKey) {
        if queue.add(key, Instant::now()) {
            self.metrics
                .queue_adds
                .get_or_create(&QueueLabel {
                    name: self.reconciler.name(),
                })
                .inc();
        }
    }

    fn gauge(&self, queue: &Queue<ObjectKey>, running: usize) {
        let name = self.reconciler.name();
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

    fn prepare_reconcile(&self) -> Task<C> {
        Task {
            reconciler: self.reconciler.clone(),
            source: self.source.clone(),
            hooks: self.hooks.clone(),
            metrics: self.metrics.clone(),
            sink: self.sink.clone(),
        }
    }
}

/// The reconciler's choice of facts as a shareable function.
pub fn facts<C: Reconciler>(reconciler: &Arc<C>) -> Facts {
    let reconciler = reconciler.clone();
    Arc::new(move |kind, value| reconciler.facts(kind, value))
}

/// Everything one reconcile needs, so that it can run in a task of its own.
struct Task<C: Reconciler> {
    reconciler: Arc<C>,
    source: Arc<Source>,
    hooks: Arc<dyn ReconcileHooks>,
    metrics: Metrics,
    sink: Sink,
}

impl<C: Reconciler> Task<C> {
    /// `None` if the root is gone.
    async fn reconcile(self, key: ObjectKey) -> Option<ReconcileResult> {
        let root = self.sink.roots.get(&key)?;
        self.hooks.began(&root);
        let started = Instant::now();
        let regarding = Some(events::reference(&root));
        let result = reconcile::reconcile(&*self.reconciler, root, &self.source, &self.sink).await;
        let label = ControllerLabel {
            controller: self.reconciler.name(),
        };
        self.metrics
            .reconcile_seconds
            .get_or_create(&label)
            .observe(started.elapsed().as_secs_f64());
        let label = QueueLabel {
            name: self.reconciler.name(),
        };
        self.metrics
            .work_seconds
            .get_or_create(&label)
            .observe(started.elapsed().as_secs_f64());
        Some(ReconcileResult {
            regarding,
            ..result
        })
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
