//! Objects of others that stand in the way of a root. Watches that select by label do not show them, so each of them is
//! followed by its name for as long as it is in the way; when it has gone the root is looked at, at once.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use futures::StreamExt as _;
use kube::{
    Client,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event},
    },
};
use mainstay_cluster::resource::metadata_api;
use mainstay_engine::{
    change_set::Failure,
    key::ObjectKey,
    kind::{DeclaredKind, KindTable},
};
use tokio::task::JoinSet;

use crate::{
    reconcile::{ReconcileHooks, ReconcileResult},
    stores::Router,
};

/// More roots than this are not followed: they are looked at again by the clock, as their outcome says.
const MOST_ROOTS: usize = 64;

/// What is in the way of a root, and the watches of it. They end when they are dropped.
struct Followed {
    objects: BTreeSet<ObjectKey>,
    watches: JoinSet<()>,
}

/// Wakes roots whose way is free again.
pub struct Blockers {
    client: Client,
    declared: KindTable,
    router: Arc<Router>,
    followed: Mutex<HashMap<ObjectKey, Followed>>,
}

impl fmt::Debug for Blockers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Blockers")
    }
}

impl Blockers {
    /// Follows nothing yet.
    pub fn new(client: Client, declared: KindTable, router: Arc<Router>) -> Self {
        Self {
            client,
            declared,
            router,
            followed: Mutex::default(),
        }
    }

    /// Follows exactly these objects for a root.
    fn follow(&self, root: &ObjectKey, objects: BTreeSet<ObjectKey>) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.is_empty() {
            followed.remove(root);
            return;
        }
        let is_full = followed.len() >= MOST_ROOTS;
        if let Some(known) = followed.get_mut(root) {
            // A watch that has ended has woken the root, and this is its reconcile: the object may be there again.
            let is_watched = known.watches.try_join_next().is_none();
            if is_watched && known.objects == objects {
                return;
            }
        } else if is_full {
            return;
        }
        let mut watches = JoinSet::new();
        for object in &objects {
            let Some(row) = self.declared.find(&object.kind).cloned() else {
                continue;
            };
            let (client, router) = (self.client.clone(), self.router.clone());
            let (object, root) = (object.clone(), root.clone());
            watches.spawn(async move {
                until_gone(client, &row, &object).await;
                router.wake(root);
            });
        }
        followed.insert(root.clone(), Followed { objects, watches });
    }
}

/// Ends when there is no such object, or when it has changed hands.
async fn until_gone(client: Client, row: &DeclaredKind, object: &ObjectKey) {
    let api = metadata_api(client, row, &object.namespace);
    let config = watcher::Config::default().fields(&format!("metadata.name={}", object.name));
    let stream = watcher::watcher(api, config).default_backoff();
    let mut stream = pin!(stream);
    let mut owners = None;
    let mut is_listed = false;
    while let Some(event) = stream.next().await {
        match event {
            Ok(Event::Init) => is_listed = false,
            Ok(Event::InitApply(object) | Event::Apply(object)) => {
                is_listed = true;
                let found = object.metadata.owner_references.unwrap_or_default();
                if *owners.get_or_insert_with(|| found.clone()) != found {
                    return;
                }
            }
            Ok(Event::InitDone) if is_listed => {}
            Ok(Event::InitDone | Event::Delete(_)) => return,
            // The next try comes after a pause.
            Err(_) => {}
        }
    }
}

impl ReconcileHooks for Blockers {
    fn ended(&self, root: &ObjectKey, result: Option<&ReconcileResult>) {
        let failures = result
            .into_iter()
            .flat_map(|result| result.changes.failures());
        let foreign = failures.filter(|(_, failure)| matches!(failure, Failure::Foreign { .. }));
        self.follow(root, foreign.map(|(row, _)| row.key.clone()).collect());
    }
}
