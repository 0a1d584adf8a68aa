//! What a system knows of a cluster: the stores of its kinds, the watches that fill them, and the queues of those who are
//! concerned.

mod router;

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use kube::Client;
use mainstay_cluster::{
    cache::Cache,
    contests::Contests,
    effects::{EffectPort, Effects},
    fence::Fence,
    resource::{api, metadata_api},
    root::{RootObserver, RootStore, Trigger},
    sink::Sink,
    source::{Source, Supposed, UnitTimer},
    views::Views,
    watch::{ChildWatch, Facts, Wake, WatchState, watch_roots},
    write_locks::WriteLocks,
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::Kind,
    kind::{DeclaredKind, Following, KindTable, Role, Scope},
    snapshot::AnyIndex,
};
use tokio::{sync::watch, task::JoinSet};

use self::router::RootViews;
pub use self::router::{Changes, Router};
use crate::metrics::{KindLabel, Metrics};

/// States of the watches of a system, for the probes.
pub type WatchStates = Vec<(String, watch::Receiver<WatchState>)>;

/// How a system reaches the cluster.
#[derive(Clone)]
pub struct StoreSettings {
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

impl fmt::Debug for StoreSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

/// The stores of a system. Controllers are made from them, then [`Stores::follow`] starts the watches.
pub struct Stores {
    /// Its settings.
    pub settings: StoreSettings,
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

impl fmt::Debug for Stores {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Stores")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Stores {
    /// Fresh stores.
    pub fn new(settings: StoreSettings, client: Client, metrics: Metrics, fence: Fence) -> Self {
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
