//! Watches that feed the stores and wake controllers.

use std::{fmt, sync::Arc};

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api,
    api::DynamicObject,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};
use mainstay_engine::{
    key::{Kind, ObjectKey},
    kind::DeclaredKind,
    live::Owner,
};
use serde_json::Value;
use tokio::sync::watch::Sender;

use crate::{
    cache::Cache,
    resource::{key_of, live_object, to_value},
    root::{RootObject, RootStore},
};

/// Load balancers drop idle streams after four minutes, so ours end before that.
const WATCH_SECONDS: u32 = 200;
/// Small pages keep the peak low while a long list loads.
const PAGE: u32 = 100;

/// State of one watch, for readiness, liveness and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchState {
    /// The first list is complete.
    pub synced: bool,
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
    row: &'static DeclaredKind,
    store: Arc<RootStore>,
    wake: Wake,
    state: Sender<WatchState>,
) {
    follow(api, row, None, state, |event| match event {
        Event::Init => store.begin_list(),
        Event::InitDone => store.end_list(),
        Event::InitApply(object) | Event::Apply(object) => {
            let key = key_of(row, &object.metadata);
            if store.learn(&RootObject::of(key.clone(), to_value(row, object))) {
                wake(key);
            }
        }
        Event::Delete(object) => {
            let key = key_of(row, &object.metadata);
            store.forget(&key, object.metadata.uid.as_deref().unwrap_or_default());
        }
    })
    .await;
}

/// What a watch of children needs.
pub struct ChildWatch {
    /// Row of the kind.
    pub row: &'static DeclaredKind,
    /// Kind of the roots that own these children.
    pub root: Kind,
    /// Only objects with these labels.
    pub selector: Option<&'static str>,
    /// Our field manager.
    pub manager: &'static str,
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
    /// Follows the children for ever.
    pub async fn run(self, api: Api<DynamicObject>, state: Sender<WatchState>) {
        let kind = &self.row.kind;
        follow(api, self.row, self.selector, state, |event| match event {
            Event::Init => self.cache.begin_list(kind),
            Event::InitDone => {
                for (key, owners) in self.cache.end_list(kind) {
                    self.wake_owners(&key.namespace, &owners);
                }
            }
            Event::InitApply(object) | Event::Apply(object) => {
                let live = live_object(self.row, object, self.manager, |value| {
                    (self.facts)(kind, value)
                });
                if self.cache.learn(&live) {
                    self.wake_owners(&live.key.namespace, &live.owners);
                }
            }
            Event::Delete(object) => {
                let live = live_object(self.row, object, self.manager, |_| Value::Null);
                self.cache.forget(&live.key, &live.uid);
                self.wake_owners(&live.key.namespace, &live.owners);
            }
        })
        .await;
    }

    /// Waking somebody who does not exist is harmless, so the kind's name is enough.
    fn wake_owners(&self, namespace: &str, owners: &[Owner]) {
        for owner in owners
            .iter()
            .filter(|owner| owner.controller && owner.kind == self.root.kind)
        {
            (self.wake)(ObjectKey::new(
                self.root.clone(),
                namespace,
                owner.name.as_str(),
            ));
        }
    }
}

/// Runs a watch with its own back-off and reports its state.
async fn follow(
    api: Api<DynamicObject>,
    row: &DeclaredKind,
    selector: Option<&str>,
    state: Sender<WatchState>,
    mut handle: impl FnMut(Event<DynamicObject>),
) {
    let mut stream = watcher::watcher(api, config(selector))
        .default_backoff()
        .into_stream()
        .boxed();
    loop {
        match stream.try_next().await {
            Ok(Some(event)) => {
                let synced = matches!(event, Event::InitDone);
                handle(event);
                state.send_if_modified(|state| {
                    let before = state.clone();
                    state.synced |= synced;
                    state.failures = 0;
                    *state != before
                });
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(kind = %row.kind, error = &error as &dyn std::error::Error, "Watch failed and will be retried");
                state.send_modify(|state| state.failures = state.failures.saturating_add(1));
            }
        }
    }
}
