//! What is known of the installed definitions of kinds, and when it is looked at again.
//!
//! The schema that the API server publishes is read when a plan is about to write a path of another operator's kind that
//! was not looked up before, and after a server error. Nothing is asked while nothing is written; only as long as fields
//! are left out the index of published documents is read every ten minutes, to notice a definition that knows more.

mod published;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube::Client;
use mainstay_engine::{
    definition::Definition,
    key::{Kind, ObjectKey},
    plan::Plan,
};
use serde_json::Value;
use tokio::sync::Mutex as Turn;

use self::published::{Index, document, index};
use crate::watch::Wake;

/// How often definitions are looked at again that do not declare what we write.
const LOOK_AGAIN: Duration = Duration::from_mins(10);

#[derive(Debug, Default)]
struct Inner {
    known: HashMap<Kind, Arc<Definition>>,
    /// Roots from whose objects fields were left out.
    concerned: BTreeMap<Kind, BTreeSet<ObjectKey>>,
    /// What was told of a kind, and for which version of its definition.
    told: HashMap<Kind, (String, BTreeSet<String>)>,
}

/// The store, shared by all controllers of a system.
#[derive(Debug, Default)]
pub struct Definitions {
    inner: Mutex<Inner>,
    /// One look at a time: a thousand apps that start together ask the same question.
    looking: Turn<()>,
}

impl Definitions {
    /// What is known of a kind.
    pub fn get(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.lock(|inner| inner.known.get(kind).cloned())
    }

    /// Looks up what a plan has to know before it is carried out. Says whether there was anything.
    pub async fn complete(&self, client: &Client, plan: &Plan) -> bool {
        let mut unchecked: BTreeMap<&Kind, Vec<&Value>> = BTreeMap::new();
        for (kind, body) in plan.unchecked() {
            unchecked.entry(kind).or_default().push(body);
        }
        if unchecked.is_empty() {
            return false;
        }
        let _turn = self.looking.lock().await;
        let is_known = |kind: &Kind, bodies: &[&Value]| {
            let known = self.get(kind);
            known.is_some_and(|known| bodies.iter().all(|body| known.covers(body)))
        };
        unchecked.retain(|kind, bodies| !is_known(kind, bodies));
        if unchecked.is_empty() {
            return true;
        }
        let published = index(client).await.unwrap_or_else(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "Could not read which schemas the API server publishes; fields are written without a look at definitions"
            );
            Index::default()
        });
        for (kind, bodies) in unchecked {
            self.look_up(client, &published, kind, &bodies).await;
        }
        true
    }

    /// Looks at a definition again after the server failed to write an object. Says whether fields have to be left out that
    /// were sent, or the reverse.
    pub(crate) async fn look_again(
        &self,
        client: &Client,
        kind: &Kind,
        body: &Value,
        sent_by: Option<&str>,
    ) -> bool {
        let _turn = self.looking.lock().await;
        let is_newer = |known: &Definition| sent_by != Some(known.version.as_str());
        if self.get(kind).is_none_or(|known| !is_newer(&known)) {
            let Ok(published) = index(client).await else {
                return false;
            };
            self.look_up(client, &published, kind, &[body]).await;
        }
        self.get(kind).is_some_and(|known| {
            let leaves_out = !known.leave_out(&mut body.clone()).is_empty();
            leaves_out || sent_by.is_some_and(|version| version != known.version)
        })
    }

    /// Whether a body that was made by one version of a definition is what would be made now.
    pub(crate) fn still_holds(&self, kind: &Kind, body: &Value, made_by: Option<&str>) -> bool {
        match (self.get(kind), made_by) {
            (Some(known), Some(version)) => known.version == version,
            (Some(known), None) => known.leave_out(&mut body.clone()).is_empty(),
            (None, _) => true,
        }
    }

    async fn look_up(&self, client: &Client, published: &Index, kind: &Kind, bodies: &[&Value]) {
        let definition = self.learned(client, published, kind, bodies).await;
        let left_out = |body: &&Value| definition.leave_out(&mut Value::clone(body));
        let left_out: BTreeSet<String> = bodies.iter().flat_map(left_out).collect();
        let news = self.lock(|inner| {
            let told = inner.told.entry(kind.clone()).or_default();
            if told.0 != definition.version {
                *told = (definition.version.clone(), BTreeSet::new());
            }
            let news: Vec<String> = left_out.difference(&told.1).cloned().collect();
            told.1.extend(left_out);
            inner.known.insert(kind.clone(), Arc::new(definition));
            news
        });
        if !news.is_empty() {
            tracing::warn!(
                kind = %kind,
                group = %kind.group,
                fields = news.join(", "),
                "The installed definition does not declare these fields, so they are left out"
            );
        }
    }

    /// What is known of a definition after some bodies were looked up in it.
    async fn learned(
        &self,
        client: &Client,
        published: &Index,
        kind: &Kind,
        bodies: &[&Value],
    ) -> Definition {
        let Some(address) = published.address(kind) else {
            return Definition::unpublished();
        };
        let known = self.get(kind).filter(|known| known.version == address);
        if let Some(known) = &known
            && bodies.iter().all(|body| known.covers(body))
        {
            return Definition::clone(known);
        }
        match document(client, address, kind).await {
            Ok(document) => {
                let mut definition = known.map_or_else(
                    || Definition::new(address.to_owned()),
                    |known| Definition::clone(&known),
                );
                for body in bodies {
                    definition.look_up(body, &document.schemas());
                }
                definition
            }
            Err(error) => {
                tracing::warn!(kind = %kind, error = &error as &dyn std::error::Error, "Could not read the published schema");
                Definition::unpublished()
            }
        }
    }

    /// Remembers from whose objects something was left out, so that they are looked at when the definition changes.
    pub fn concern(&self, root: &ObjectKey, plan: &Plan) {
        let kinds = plan.left_out().into_keys();
        self.lock(|inner| {
            for kind in kinds {
                let roots = inner.concerned.entry(kind.clone()).or_default();
                roots.insert(root.clone());
            }
        });
    }

    /// A root is gone.
    pub fn forget_root(&self, root: &ObjectKey) {
        self.lock(|inner| {
            inner.concerned.retain(|_, roots| {
                roots.remove(root);
                !roots.is_empty()
            });
        });
    }

    /// The definition of a kind may be another one. Returns the roots that have to be looked at because of it.
    pub(crate) fn forget(&self, kind: &Kind) -> BTreeSet<ObjectKey> {
        self.lock(|inner| {
            inner.known.remove(kind);
            inner.concerned.remove(kind).unwrap_or_default()
        })
    }

    /// Notices for ever when a definition changes that left something out.
    pub async fn follow(self: Arc<Self>, client: Client, wake: Wake) {
        loop {
            tokio::time::sleep(LOOK_AGAIN).await;
            let kinds: Vec<Kind> = self.lock(|inner| inner.concerned.keys().cloned().collect());
            if kinds.is_empty() {
                continue;
            }
            let Ok(published) = index(&client).await else {
                continue;
            };
            for kind in kinds {
                let known = self.get(&kind).map(|known| known.version.clone());
                if published.address(&kind) != known.as_deref() {
                    self.forget(&kind).into_iter().for_each(&*wake);
                }
            }
        }
    }

    fn lock<R>(&self, with: impl FnOnce(&mut Inner) -> R) -> R {
        with(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
