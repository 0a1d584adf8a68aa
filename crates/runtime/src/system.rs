//! One system at work: the watches of its kinds, the stores that they fill, and a controller for each kind of root.

mod task;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use futures::future::select_all;
use kube::Client;
use mainstay_cluster::{
    cache::Cache,
    contests::Contests,
    effects::{EffectPort, Effects},
    fence::Fence,
    resource::{api, metadata_api},
    root::{RootObject, RootObserver, RootStore, Trigger},
    sink::Sink,
    source::{Source, Supposed, UnitTimer},
    views::Views,
    watch::{ChildWatch, Facts, Wake, WatchState, watch_roots},
    write_locks::WriteLocks,
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind::{DeclaredKind, Following, KindTable, Role, Scope},
    snapshot::AnyIndex,
};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};

pub use self::task::ControllerTask;
use crate::{
    metrics::{KindLabel, Metrics},
    shutdown::Shutdown,
};

/// Longest time to wait for a kind that cannot be listed before work begins without it.
const SYNC_PATIENCE: Duration = Duration::from_secs(30);

/// States of the watches of a system, for the probes.
pub type WatchStates = Vec<(String, watch::Receiver<WatchState>)>;

/// Keys of roots that somebody wants looked at.
pub type Changes = mpsc::UnboundedReceiver<ObjectKey>;

/// How a system reaches the cluster.
#[derive(Clone)]
pub struct SystemSettings {
    /// The system's kinds.
    pub declared: KindTable,
    /// Field manager of its writes.
    pub manager: FieldManager,
    /// What it keeps of live objects.
    pub facts: Facts,
    /// Only this namespace; empty means all.
    pub namespace: String,
    /// What of a root makes its controller look at it.
    pub trigger: Trigger,
    /// Longest duration of a commit.
    pub deadline: Duration,
    /// Indexes over its roots.
    pub indexes: &'static [&'static dyn AnyIndex],
    /// Who runs its effects.
    pub effects: Arc<dyn EffectPort>,
}

impl fmt::Debug for SystemSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SystemSettings")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

/// A system before it runs. Controllers are made from it, then [`System::follow`] starts the watches.
pub struct System {
    /// Its settings.
    pub settings: SystemSettings,
    /// API client.
    pub client: Client,
    /// Children.
    pub cache: Arc<Cache>,
    write_locks: Arc<WriteLocks>,
    contests: Arc<Contests>,
    /// What reconciles asked for.
    pub views: Arc<Views>,
    /// Leadership.
    pub fence: Fence,
    /// What is counted.
    pub metrics: Metrics,
    roots: HashMap<Kind, Arc<RootStore>>,
    router: Arc<Router>,
}

impl fmt::Debug for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("System")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The ends of the queues, by kind of root.
#[derive(Debug, Default)]
pub struct Router {
    queues: std::sync::Mutex<HashMap<Kind, mpsc::UnboundedSender<ObjectKey>>>,
}

impl Router {
    /// Has a root looked at. Waking somebody whom no controller is for is harmless.
    pub fn wake(&self, key: ObjectKey) {
        let queues = self
            .queues
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(queue) = queues.get(&key.kind) {
            // The receiver is gone only when the process stops.
            let _ = queue.send(key);
        }
    }

    fn open(&self, kind: Kind) -> Changes {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut queues = self
            .queues
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        queues.insert(kind, sender);
        receiver
    }
}

/// Keeps the views of roots, and wakes who sees a difference in them.
struct RootViews {
    views: Arc<Views>,
    router: Arc<Router>,
}

impl RootViews {
    fn changed(&self, key: &ObjectKey, version: &str, object: Option<&Value>) {
        for root in self.views.root_changed(key, version, object) {
            self.router.wake(root);
        }
    }
}

impl RootObserver for RootViews {
    fn learned(&self, root: &RootObject) {
        let (key, version) = (&root.root.key, &root.root.resource_version);
        self.changed(key, version, Some(&root.value));
    }

    fn forgotten(&self, key: &ObjectKey) {
        self.changed(key, "", None);
    }
}

impl System {
    /// A system over fresh stores.
    pub fn new(settings: SystemSettings, client: Client, metrics: Metrics, fence: Fence) -> Self {
        let router = Arc::new(Router::default());
        let views = Arc::new(Views::new(settings.indexes));
        let observer: Arc<dyn RootObserver> = Arc::new(RootViews {
            views: views.clone(),
            router: router.clone(),
        });
        let followed = settings.declared.iter().filter(|row| is_root(row));
        let roots = followed.map(|row| {
            let store = RootStore::new(settings.trigger, Some(observer.clone()));
            (row.kind.clone(), Arc::new(store))
        });
        Self {
            roots: roots.collect(),
            settings,
            client,
            cache: Arc::default(),
            write_locks: Arc::default(),
            contests: Arc::default(),
            views,
            fence,
            metrics,
            router,
        }
    }

    /// Where the snapshots of its controllers come from.
    pub fn source(&self, timer: Option<Arc<dyn UnitTimer>>) -> Arc<Source> {
        Arc::new(self.new_source(timer, false))
    }

    /// Where the snapshots of a session come from.
    pub fn session_source(&self) -> Arc<Source> {
        Arc::new(self.new_source(None, true))
    }

    fn new_source(&self, timer: Option<Arc<dyn UnitTimer>>, waits_for_effects: bool) -> Source {
        Source {
            client: self.client.clone(),
            declared: self.settings.declared.clone(),
            manager: self.settings.manager,
            facts: self.settings.facts.clone(),
            cache: self.cache.clone(),
            views: self.views.clone(),
            roots: self.roots.clone(),
            effects: Arc::new(Effects::new(self.settings.effects.clone())),
            fence: self.fence.clone(),
            wake: self.waker(),
            waits_for_effects,
            timer,
            supposed: Supposed::default(),
        }
    }

    /// The means to enqueue roots.
    pub const fn router(&self) -> &Arc<Router> {
        &self.router
    }

    /// The queue of a kind of root.
    pub fn changes(&self, kind: &Kind) -> Changes {
        self.router.open(kind.clone())
    }

    /// The way of the writes of the controller of a kind of root.
    pub fn sink(&self, root: &Kind) -> Sink {
        Sink {
            client: self.client.clone(),
            declared: self.settings.declared.clone(),
            manager: self.settings.manager,
            facts: self.settings.facts.clone(),
            cache: self.cache.clone(),
            roots: self.roots.get(root).cloned().unwrap_or_default(),
            fence: self.fence.clone(),
            write_locks: self.write_locks.clone(),
            contests: self.contests.clone(),
            deadline: self.settings.deadline,
        }
    }

    /// Follows all kinds for ever.
    pub fn follow(&self, watches: &mut JoinSet<()>) -> WatchStates {
        let mut receivers = Vec::new();
        for row in self.settings.declared.iter() {
            let (state, receiver) = watch::channel(WatchState::default());
            receivers.push((row.kind.to_string(), receiver.clone()));
            watches.spawn(count_restarts(
                row.kind.to_string(),
                receiver,
                self.metrics.clone(),
            ));
            self.spawn(watches, row, state);
        }
        let definitions = self.cache.definitions().clone();
        watches.spawn(definitions.follow(self.client.clone(), self.waker()));
        receivers
    }

    fn spawn(
        &self,
        watches: &mut JoinSet<()>,
        row: &DeclaredKind,
        state: watch::Sender<WatchState>,
    ) {
        let wake = self.waker();
        let objects = api(self.client.clone(), row, &self.settings.namespace);
        if let Some(store) = self.roots.get(&row.kind) {
            let watch = watch_roots(objects, row.clone(), store.clone(), wake, state);
            watches.spawn(self.metrics.polls.timed(watch));
            return;
        }
        let child = ChildWatch {
            row: row.clone(),
            declared: self.settings.declared.clone(),
            manager: self.settings.manager,
            facts: self.settings.facts.clone(),
            cache: self.cache.clone(),
            wake,
        };
        match row.following {
            Following::Objects { .. } => {
                let views = self.views.clone();
                let watch = child.run(objects, state, views);
                watches.spawn(self.metrics.polls.timed(watch));
            }
            Following::Metadata => {
                let metadata = metadata_api(self.client.clone(), row, self.namespace_of(row));
                let views = self.views.clone();
                let watch = child.run_metadata(metadata, state, views);
                watches.spawn(self.metrics.polls.timed(watch));
            }
        }
    }

    fn waker(&self) -> Wake {
        let router = self.router.clone();
        Arc::new(move |key| router.wake(key))
    }

    fn namespace_of(&self, row: &DeclaredKind) -> &str {
        match row.scope {
            Scope::Namespaced => &self.settings.namespace,
            Scope::Cluster => "",
        }
    }
}

/// Whether whole objects of the kind are kept as users wrote them.
fn is_root(row: &DeclaredKind) -> bool {
    let whole = matches!(row.following, Following::Objects { .. });
    row.role == Role::Root || (row.role == Role::Reference && whole)
}

/// Ends when every watch has seen everything once. A reconcile over half-filled stores would create what exists; the
/// guard of the create would catch it, at the price of requests.
///
/// A kind that cannot be listed must not stop the others, so after a while work begins without it: nothing of it is
/// cached, so nothing of it is deleted, and what exists is found by the guard of the create. Controllers that would
/// conclude something from what a kind does not hold wait on, see [`ControllerTask::needs`].
pub async fn wait_for_sync(system: &System, receivers: &WatchStates) {
    // Counted from the first answer: while nobody answers there is nothing to be impatient about.
    let first = receivers.iter().map(|(_, receiver)| {
        let mut receiver = receiver.clone();
        // A closed channel means that the watch ended, which ends the process.
        Box::pin(async move { receiver.wait_for(|state| state.synced).await.is_ok() })
    });
    select_all(first).await;
    let patience = Instant::now() + SYNC_PATIENCE;
    for (row, (kind, receiver)) in system.settings.declared.iter().zip(receivers) {
        let mut receiver = receiver.clone();
        let synced = receiver.wait_for(|state| state.synced);
        if tokio::time::timeout_at(patience, synced).await.is_err() {
            tracing::warn!(kind, "Work begins although this kind could not be listed");
            system.views.go_on_without(&row.kind);
        }
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

/// What a controller goes by while it runs.
#[derive(Clone, Debug)]
pub struct RunState {
    /// Whether the process shall stop.
    pub shutdown: Shutdown,
    /// Whether reconciles may run: we lead, and the API server can be reached.
    pub working: watch::Receiver<bool>,
}

/// How far a system has come, for the probes.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The watches, as soon as there are any.
    pub states: WatchStates,
    /// The controllers run.
    pub started: bool,
}

/// A task that never ends has ended.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what} ended, which it never should; this is a defect, please report it with the log above"
)]
pub struct TaskEnded {
    /// Which.
    pub what: String,
    /// Its panic.
    #[source]
    pub source: Option<tokio::task::JoinError>,
}

/// Follows the kinds of a system from the moment it may work and, when all is known, runs its controllers until the stop;
/// then they drain. The watches go on when the lead is lost, so that the next term begins with full stores.
pub async fn run(
    system: System,
    controllers: Vec<ControllerTask>,
    progress: watch::Sender<Progress>,
    mut state: RunState,
) -> Result<(), TaskEnded> {
    tokio::select! {
        _ = state.working.wait_for(|working| *working) => {}
        () = state.shutdown.wait() => return Ok(()),
    }
    let mut watches = JoinSet::new();
    let receivers = system.follow(&mut watches);
    progress.send_modify(|progress| progress.states.clone_from(&receivers));
    let work = async {
        let mut stop = state.shutdown.clone();
        tokio::select! {
            () = wait_for_sync(&system, &receivers) => {}
            () = stop.wait() => return Ok(()),
        }
        progress.send_modify(|progress| progress.started = true);
        let mut running = JoinSet::new();
        for controller in controllers {
            let kinds = system.settings.declared.iter().map(|row| &row.kind);
            let needed = controller.needed(kinds.zip(&receivers));
            running.spawn(controller.begin(needed, state.clone()));
        }
        while let Some(ended) = running.join_next().await {
            ended.map_err(|source| TaskEnded {
                what: "a controller".to_owned(),
                source: Some(source),
            })?;
        }
        Ok(())
    };
    tokio::select! {
        ended = work => ended,
        ended = first_end(&mut watches) => Err(TaskEnded {
            what: ended_watch(&receivers),
            source: ended,
        }),
    }
}

/// Waits for the first of the tasks to end.
async fn first_end(tasks: &mut JoinSet<()>) -> Option<tokio::task::JoinError> {
    match tasks.join_next().await {
        Some(ended) => ended.err(),
        // Without a kind there is no watch.
        None => std::future::pending().await,
    }
}

/// Which watch has ended: it reports its state no more.
fn ended_watch(states: &WatchStates) -> String {
    let mut ended = states.iter();
    let ended = ended.find(|(_, state)| state.has_changed().is_err());
    let kind = ended.map_or("some kind", |(kind, _)| kind.as_str());
    format!("the watch of {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watch_that_panics_is_noticed_and_named() {
        let (_service, service) = watch::channel(WatchState::default());
        let (deployment, deployments) = watch::channel(WatchState::default());
        let states = vec![
            ("Service".to_owned(), service),
            ("Deployment".to_owned(), deployments),
        ];
        let mut watches = JoinSet::new();
        watches.spawn(std::future::pending());
        watches.spawn(async move {
            let _held = deployment;
            tokio::task::yield_now().await;
            panic!("a defect");
        });
        let source = first_end(&mut watches).await;
        assert!(source.is_some_and(|error| error.is_panic()));
        assert_eq!(ended_watch(&states), "the watch of Deployment");
    }
}
