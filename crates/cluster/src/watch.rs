//! Watches that feed the stores and wake controllers.

mod troubles;

use std::{fmt, sync::Arc, time::Duration};

use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api,
    api::{DynamicObject, PartialObjectMeta},
    runtime::watcher::{self, Event},
};
use mainstay_engine::{
    field_manager::FieldManager,
    key::{Kind, ObjectKey},
    kind::{DeclaredKind, Following, KindTable, Role},
    live::LiveObject,
    mark::Mark,
};
use serde_json::{Value, json};
use tokio::{sync::watch::Sender, time::Instant};

use self::troubles::Troubles;
use crate::{
    cache::{Cache, Holders},
    error::is_missing,
    resource::{key_of, live_object, owners, to_value},
    root::{RootObject, RootStore},
    views::Views,
};

/// Load balancers drop idle streams after four minutes, so ours end before that.
const WATCH_SECONDS: u32 = 200;
/// Small pages keep the peak low while a long list loads.
const PAGE: u32 = 100;

/// Pause before a kind is looked for again that the cluster does not serve.
const ABSENT_PAUSE: Duration = Duration::from_secs(10);

/// State of one watch, for readiness, liveness and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchState {
    /// The first list is complete.
    pub synced: bool,
    /// The cluster does not serve the kind.
    pub absent: bool,
    /// Errors in a row since the last event.
    pub failures: u32,
}

/// Wakes the controller of a root, by key.
pub type Wake = Arc<dyn Fn(ObjectKey) + Send + Sync>;

/// Keeps what a system wants of a live object besides our own fields.
pub type Facts = Arc<dyn Fn(&Kind, &Value) -> Value + Send + Sync>;

fn config(selector: Option<&str>) -> watcher::Config {
    let config = watcher::Config::default()
        .timeout(WATCH_SECONDS)
        .page_size(PAGE);
    match selector {
        Some(selector) => config.labels(selector),
        None => config,
    }
}

/// Follows the roots of a kind for ever.
pub async fn watch_roots(
    api: Api<DynamicObject>,
    row: DeclaredKind,
    store: Arc<RootStore>,
    wake: Wake,
    state: Sender<WatchState>,
) {
    let stream = watcher::watcher(api, config(None));
    follow(stream, &row, state, |event| match event {
        Event::Init => store.begin_list(),
        Event::InitDone => store.end_list(),
        Event::InitApply(object) | Event::Apply(object) => {
            let key = key_of(&row, &object.metadata);
            if store.learn(&RootObject::of(key.clone(), to_value(&row, object))) {
                wake(key);
            }
        }
        Event::Delete(object) => {
            let key = key_of(&row, &object.metadata);
            store.forget(&key, object.metadata.uid.as_deref().unwrap_or_default());
        }
    })
    .await;
}

/// What a watch of children needs.
pub struct ChildWatch {
    /// Row of the kind.
    pub row: DeclaredKind,
    /// The system's kinds: the roots among them own these children.
    pub declared: KindTable,
    /// Our field manager.
    pub manager: FieldManager,
    /// What else to keep.
    pub facts: Facts,
    /// Where to keep it.
    pub cache: Arc<Cache>,
    /// Whom to tell.
    pub wake: Wake,
}

impl fmt::Debug for ChildWatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChildWatch")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

impl ChildWatch {
    /// Follows the children for ever. A change wakes who owns them, and who is interested in them.
    pub async fn run(self, api: Api<DynamicObject>, state: Sender<WatchState>, views: Arc<Views>) {
        let kind = &self.row.kind;
        let selector = match self.row.following {
            Following::Objects { selector } => selector,
            Following::Metadata => None,
        };
        let stream = watcher::watcher(api, config(selector));
        follow(stream, &self.row, state, |event| match event {
            Event::Init => self.begin_list(),
            Event::InitDone => {
                for gone in self.cache.end_list(kind) {
                    self.wake_holders(&gone);
                    let interested = views.interested(&gone.key);
                    interested.into_iter().for_each(&*self.wake);
                }
            }
            Event::InitApply(object) | Event::Apply(object) => {
                // Whose it is comes first: what is in an object of somebody else must not cost anything.
                if !self.row.with_foreign && !self.is_ours(&object.metadata) {
                    return;
                }
                let facts = |value: &Value| (self.facts)(kind, value);
                let live = live_object(&self.row, object, self.manager, facts);
                if self.cache.learn(&live) {
                    self.wake_holders(&Holders::of(&live));
                    let interested = views.interested(&live.key);
                    interested.into_iter().for_each(&*self.wake);
                }
            }
            Event::Delete(object) => {
                let live = live_object(&self.row, object, self.manager, |_| Value::Null);
                self.forget(&live);
                let interested = views.interested(&live.key);
                interested.into_iter().for_each(&*self.wake);
            }
        })
        .await;
    }

    /// Follows the metadata of all objects of the kind for ever. Ours go to the cache, the content to be read when a
    /// pass needs it; of the others those that somebody is interested in wake who is.
    pub async fn run_metadata(
        self,
        api: Api<PartialObjectMeta<DynamicObject>>,
        state: Sender<WatchState>,
        views: Arc<Views>,
    ) {
        let kind = &self.row.kind;
        let selector = self.row.mark.map(Mark::selector);
        let stream = watcher::watcher(api, config(selector.as_deref()));
        follow(stream, &self.row, state, |event| match event {
            Event::Init => {
                self.begin_list();
                views.begin_list(kind);
            }
            Event::InitDone => {
                self.end_list();
                views.end_list(kind).into_iter().for_each(&*self.wake);
            }
            Event::InitApply(object) | Event::Apply(object) => {
                let is_ours = self.is_ours(&object.metadata);
                let metadata = self
                    .is_only_looked_at()
                    .then(|| metadata_value(&object.metadata));
                let live = self.metadata_live(object);
                let interested = match metadata {
                    Some(metadata) => views.metadata_seen(&live.key, metadata),
                    None => views.seen(&live.key, &live.resource_version),
                };
                interested.into_iter().for_each(&*self.wake);
                if is_ours && self.cache.learn_metadata(&live) {
                    self.wake_holders(&Holders::of(&live));
                }
            }
            Event::Delete(object) => {
                let live = self.metadata_live(object);
                let interested = views.gone(&live.key);
                interested.into_iter().for_each(&*self.wake);
                self.forget(&live);
            }
        })
        .await;
    }

    /// The metadata of kinds that are only looked at are all that is ever asked of them.
    fn is_only_looked_at(&self) -> bool {
        self.row.role == Role::Reference
    }

    /// What the metadata tell; the facts are computed over them alone.
    fn metadata_live(&self, object: PartialObjectMeta<DynamicObject>) -> LiveObject {
        let object = DynamicObject {
            types: None,
            metadata: object.metadata,
            data: Value::Null,
        };
        let facts = |value: &Value| (self.facts)(&self.row.kind, value);
        live_object(&self.row, object, self.manager, facts)
    }

    /// Whether one of our roots owns it, or it is selected by its mark.
    fn is_ours(&self, metadata: &ObjectMeta) -> bool {
        let owners = owners(metadata);
        let mut owners = owners.iter();
        self.row.mark.is_some() || owners.any(|owner| self.declared.root_of(owner, "").is_some())
    }

    fn forget(&self, live: &LiveObject) {
        self.cache.forget(&live.key, &live.uid);
        self.wake_holders(&Holders::of(live));
    }

    /// A list that begins anew may show objects of another definition.
    fn begin_list(&self) {
        let kind = &self.row.kind;
        self.cache.begin_list(kind);
        let concerned = self.cache.definitions().forget(kind);
        concerned.into_iter().for_each(&*self.wake);
    }

    fn end_list(&self) {
        for gone in self.cache.end_list(&self.row.kind) {
            self.wake_holders(&gone);
        }
    }

    /// Waking somebody who does not exist is harmless, so the name is enough.
    fn wake_holders(&self, holders: &Holders) {
        let namespace = &holders.key.namespace;
        let controllers = holders.owners.iter().filter(|owner| owner.controller);
        let roots = controllers.filter_map(|owner| self.declared.root_of(owner, namespace));
        roots.for_each(&*self.wake);
        if let Some((mark, marked)) = self.row.mark.zip(holders.marked.as_ref()) {
            let roots = self.declared.roots_of(mark, marked);
            roots.for_each(&*self.wake);
        }
    }
}

/// Runs a watch, pauses after failures and reports its state.
async fn follow<T>(
    stream: impl Stream<Item = Result<Event<T>, watcher::Error>> + Send,
    row: &DeclaredKind,
    state: Sender<WatchState>,
    mut handle: impl FnMut(Event<T>),
) {
    let mut stream = stream.boxed();
    let mut absent = false;
    let mut troubles = Troubles::default();
    loop {
        match stream.try_next().await {
            // The beginning of a list is no sign that it will succeed.
            Ok(Some(Event::Init)) => handle(Event::Init),
            Ok(Some(event)) => {
                let synced = matches!(event, Event::InitDone);
                absent = false;
                handle(event);
                if synced || state.borrow().synced {
                    troubles.end(row);
                }
                state.send_if_modified(|state| {
                    let before = state.clone();
                    state.synced |= synced;
                    state.absent = false;
                    state.failures = 0;
                    *state != before
                });
            }
            Ok(None) => return,
            // A kind that the cluster does not serve has no objects. Should it be installed, the next try finds it.
            Err(error) if row.optional && is_absent(&error) => {
                if !std::mem::replace(&mut absent, true) {
                    tracing::info!(kind = %row.kind, group = %row.kind.group, "The cluster does not serve this kind");
                }
                state.send_if_modified(|state| {
                    let before = state.clone();
                    state.synced = true;
                    state.absent = true;
                    *state != before
                });
                tokio::time::sleep(ABSENT_PAUSE).await;
            }
            Err(error) => {
                let pause = troubles.pause_after(&error, row, state.borrow().synced);
                state.send_modify(|state| state.failures = state.failures.saturating_add(1));
                tokio::time::sleep(pause).await;
                troubles.tried = Some(Instant::now());
            }
        }
    }
}

fn metadata_value(metadata: &ObjectMeta) -> Value {
    let metadata = ObjectMeta {
        managed_fields: None,
        ..metadata.clone()
    };
    json!({"metadata": metadata})
}

fn is_absent(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) => {
            is_missing(error)
        }
        _ => false,
    }
}
