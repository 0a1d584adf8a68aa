//! A system that is looked at once: the command line plans and applies with the machinery of the operator, over the
//! same stores, so that the two cannot disagree.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kube::api::ListParams;
use mainstay_cluster::{
    cache::Known,
    error::{causes, is_forbidden, is_missing},
    resource::{api, live_object},
    root::RootObject,
    source::{Fetched, Source},
};
use mainstay_engine::{
    key::{Kind, ObjectKey},
    kind::DeclaredKind,
    plan::{Action, Plan},
    reconciler::Reconciler,
};
use tokio::task::JoinSet;

use crate::{
    reconcile::{self, MOST_ROUNDS, ReconcileResult, RenderResult},
    stores::Stores,
};

/// Pause between two looks at watches that have not seen everything yet.
const PAUSE: Duration = Duration::from_millis(20);

/// Why a session is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A kind cannot be read.
    #[error("could not list {plural}")]
    List {
        /// Resource name.
        plural: String,
        /// Cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// An object cannot be read.
    #[error("could not read {key}")]
    Read {
        /// The object.
        key: Box<ObjectKey>,
        /// Cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// What a plan needs to know could not be found out.
    #[error("could not find out what {key} needs: {message}")]
    Unknown {
        /// The root.
        key: Box<ObjectKey>,
        /// Why.
        message: String,
    },
}

/// A kind that a session goes on without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The kind.
    pub kind: Kind,
    /// Resource name.
    pub plural: String,
    /// Why, in the words of the server.
    pub message: String,
    /// Whether a right is missing.
    pub forbidden: bool,
}

/// A system whose stores are filled. The watches end with the session, or before it, see [`Session::stop_watching`].
#[derive(Debug)]
pub struct Session {
    stores: Stores,
    unread: Mutex<Vec<Unread>>,
    absent: Vec<Kind>,
    watches: JoinSet<()>,
}

impl Session {
    /// Follows the kinds of a system until everything has been seen once. What the cluster does not serve or does not
    /// let us read is left out, see [`Session::unread`].
    pub async fn open(stores: Stores) -> Result<Self, SessionError> {
        let mut watches = JoinSet::new();
        let states = stores.follow(&mut watches);
        let mut session = Self {
            stores,
            unread: Mutex::default(),
            absent: Vec::new(),
            watches,
        };
        for (row, (_, state)) in session.stores.settings.declared.iter().zip(states) {
            let mut known_failures = 0;
            loop {
                let now = state.borrow().clone();
                if now.absent {
                    session.absent.push(row.kind.clone());
                }
                if now.synced || now.absent {
                    break;
                }
                // A watch tries for ever; whoever waits for it wants to know why.
                if now.failures > known_failures {
                    known_failures = now.failures;
                    if !session.can_list(row).await? {
                        break;
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(session)
    }

    /// Ends the watches: the stores stay as they are now. A plan puts objects over what the cluster holds, and an event
    /// about one of these, such as a status that the operator writes meanwhile, would bring back what is there today.
    pub async fn stop_watching(&mut self) {
        self.watches.shutdown().await;
    }

    /// Takes in a root as it was read or written by the caller, so that a watch that lags does not bring back an older
    /// version.
    pub fn learn(&self, root: &RootObject) {
        self.stores.sink(&root.root.key.kind).roots.learn(root);
    }

    /// The kinds that could not be looked at. Plans are made as if there were none of them.
    pub fn unread(&self) -> Vec<Unread> {
        lock(&self.unread).clone()
    }

    /// Whether the cluster is known not to serve a kind.
    pub fn is_absent(&self, kind: &Kind) -> bool {
        self.absent.contains(kind)
    }

    /// Whether a kind can be listed; if it never will be, that is remembered.
    async fn can_list(&self, row: &DeclaredKind) -> Result<bool, SessionError> {
        let settings = &self.stores.settings;
        let objects = api(self.stores.client.clone(), row, &settings.namespace);
        let listed = objects.list_metadata(&ListParams::default().limit(1)).await;
        let Err(source) = listed else {
            return Ok(true);
        };
        if self.leaves_out(row, &source) {
            return Ok(false);
        }
        Err(SessionError::List {
            plural: row.plural.to_string(),
            source: Box::new(source),
        })
    }

    /// Leaves a kind out, if the answer says that it is not served or may not be read.
    fn leaves_out(&self, row: &DeclaredKind, error: &kube::Error) -> bool {
        let forbidden = is_forbidden(error);
        if !forbidden && !is_missing(error) {
            return false;
        }
        let mut unread = lock(&self.unread);
        if unread.iter().all(|known| known.kind != row.kind) {
            unread.push(Unread {
                kind: row.kind.clone(),
                plural: row.plural.to_string(),
                message: if forbidden {
                    causes(error).join(": ")
                } else {
                    format!(
                        "the cluster has no {} in {}",
                        row.plural,
                        row.kind.api_version()
                    )
                },
                forbidden,
            });
        }
        true
    }

    /// What a reconcile over a root would do, whatever the store says about the root. Nothing is written.
    pub async fn plan<C: Reconciler>(
        &self,
        reconciler: &C,
        root: &RootObject,
        source: &Arc<Source>,
    ) -> Result<RenderResult, SessionError> {
        let unknown = |message: String| SessionError::Unknown {
            key: Box::new(root.root.key.clone()),
            message,
        };
        let snapshot = source.snapshot(&root.root.key);
        for _ in 0..MOST_ROUNDS {
            let rendered = reconcile::render(reconciler, root, &snapshot).result;
            if snapshot.fetch().await.map_err(unknown)? != Fetched::Nothing {
                continue;
            }
            match &rendered {
                RenderResult::Unknown => continue,
                RenderResult::Planned(plan)
                | RenderResult::Waiting(_, plan)
                | RenderResult::NotRendered(_, plan) => {
                    let definitions = self.stores.cache.definitions();
                    if definitions.complete(&self.stores.client, plan).await
                        || self.finds_more(plan).await?
                    {
                        continue;
                    }
                }
                RenderResult::Rejected(_) => {}
            }
            return Ok(rendered);
        }
        Err(unknown("it keeps changing".to_owned()))
    }

    /// The reconcile that the operator makes.
    pub async fn reconcile<C: Reconciler>(
        &self,
        reconciler: &C,
        root: RootObject,
        source: &Arc<Source>,
    ) -> ReconcileResult {
        let sink = self.stores.sink(&reconciler.root_kind());
        reconcile::reconcile(reconciler, root, source, &sink).await
    }

    /// The newest known version of a root.
    pub fn root(&self, key: &ObjectKey) -> Option<RootObject> {
        self.stores.sink(&key.kind).roots.get(key)
    }

    /// Keys of the roots of a kind whose key and text, which is JSON, are like this.
    pub fn find_roots(
        &self,
        kind: &Kind,
        is_wanted: impl Fn(&ObjectKey, &str) -> bool,
    ) -> Vec<ObjectKey> {
        self.stores.sink(kind).roots.find(is_wanted)
    }

    /// Reads what a plan wants to create. The watches follow our own objects only, so what is somebody else's shows
    /// when it is in the way. Says whether there was anything.
    async fn finds_more(&self, plan: &Plan) -> Result<bool, SessionError> {
        let mut found = false;
        let created = plan.steps.iter();
        for step in created.filter(|step| matches!(step.action, Action::Create)) {
            let settings = &self.stores.settings;
            let Some(row) = settings.declared.find(&step.key.kind) else {
                continue;
            };
            if !matches!(self.stores.cache.known(&step.key), Known::Nothing) {
                continue;
            }
            let objects = api(self.stores.client.clone(), row, &step.key.namespace);
            let object = match objects.get_opt(&step.key.name).await {
                Ok(object) => object,
                Err(error) if self.leaves_out(row, &error) => None,
                Err(error) => {
                    return Err(SessionError::Read {
                        key: Box::new(step.key.clone()),
                        source: Box::new(error),
                    });
                }
            };
            if let Some(object) = object {
                let live = live_object(row, object, settings.manager, |value| {
                    (settings.facts)(&row.kind, value)
                });
                found |= self.stores.cache.learn(&live);
            }
        }
        Ok(found)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
