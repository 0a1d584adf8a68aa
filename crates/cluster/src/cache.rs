//! What we know of our own objects, without asking.
//!
//! One cache for all children of a system, fed by label-selected watches and, at once, by the answers
//! to our own writes: a reconcile that follows a write sees it even if the watch lags behind.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_engine::{
    definition::Definition,
    key::{Kind, ObjectKey},
    live::{LiveObject, LiveView, Owner},
    mark::Marked,
    owned::Owned,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    definitions::Definitions,
    root::{is_known, version_number},
    tombstones::Tombstones,
};

/// Our fields and the facts, as text: a third of the size of the parsed tree, parsed when a reconcile needs it.
#[derive(Serialize, Deserialize)]
struct Content {
    o: Owned,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    i: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    h: Option<Value>,
    f: Value,
}

#[derive(Debug)]
struct Stored {
    version: u64,
    uid: String,
    resource_version: String,
    deleting: bool,
    owners: Vec<Owner>,
    marked: Option<Marked>,
    /// `None` if only the metadata was seen and the content has to be read when it is needed.
    content: Option<Box<str>>,
    /// Facts of an object of which only the metadata was seen.
    facts: Value,
    epoch: u64,
}

impl Stored {
    /// Whether a reconcile could come to another result.
    fn differs(&self, other: &Self) -> bool {
        self.uid != other.uid
            || self.deleting != other.deleting
            || self.owners != other.owners
            || self.marked != other.marked
            || self.content != other.content
    }
}

#[derive(Debug, Default)]
struct Inner {
    objects: BTreeMap<Arc<ObjectKey>, Stored>,
    by_owner: HashMap<String, Vec<Arc<ObjectKey>>>,
    epochs: HashMap<Kind, u64>,
    tombstones: Tombstones,
}

/// Who is to be told about an object.
pub(crate) struct Holders {
    pub(crate) key: ObjectKey,
    pub(crate) owners: Vec<Owner>,
    pub(crate) marked: Option<Marked>,
}

impl Holders {
    pub(crate) fn of(live: &LiveObject) -> Self {
        Self {
            key: live.key.clone(),
            owners: live.owners.clone(),
            marked: live.marked.clone(),
        }
    }
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub enum Known {
    /// It does not exist, or is not one that is followed.
    Nothing,
    /// It exists, and its content has not been read.
    Metadata(Arc<LiveObject>),
    /// All of it.
    Whole(Arc<LiveObject>),
}

/// The cache. Cheap to share, locked only for look-ups.
#[derive(Debug, Default)]
pub struct Cache {
    inner: Mutex<Inner>,
    definitions: Arc<Definitions>,
}

impl Cache {
    /// What is known of the definitions of kinds.
    pub const fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// Takes in a version from a watch or an answer; says whether anything that matters changed.
    pub fn learn(&self, live: &LiveObject) -> bool {
        let content = Content {
            o: live.owned.clone(),
            i: live.foreign_items.clone(),
            h: live.migrated_managed_fields.clone(),
            f: live.facts.clone(),
        };
        let content = serde_json::to_string(&content).unwrap_or_default();
        self.store(live, Some(content.into()), Value::Null)
    }

    /// Takes in a version of which only the metadata is known; says whether anything changed.
    pub fn learn_metadata(&self, live: &LiveObject) -> bool {
        self.store(live, None, live.facts.clone())
    }

    /// What is known of an object.
    pub fn known(&self, key: &ObjectKey) -> Known {
        let (live, whole) = self.lock(|inner| {
            let whole = inner
                .objects
                .get(key)
                .is_some_and(|stored| stored.content.is_some());
            (inner.live(key), whole)
        });
        match live {
            None => Known::Nothing,
            Some(live) if whole => Known::Whole(live),
            Some(live) => Known::Metadata(live),
        }
    }

    fn store(&self, live: &LiveObject, content: Option<Box<str>>, facts: Value) -> bool {
        let mut stored = Stored {
            version: version_number(&live.resource_version),
            uid: live.uid.clone(),
            resource_version: live.resource_version.clone(),
            deleting: live.deleting,
            owners: live.owners.clone(),
            marked: live.marked.clone(),
            content,
            facts,
            epoch: 0,
        };
        self.lock(|inner| {
            if inner.tombstones.waiting(&live.key, &live.uid, stored.version) {
                return false;
            }
            stored.epoch = inner
                .epochs
                .get(&live.key.kind)
                .copied()
                .unwrap_or_default();
            if let Some(known) = inner.objects.get_mut(&live.key)
                && is_known(known.version, stored.version)
                // The content of a version of which only the metadata was known is news.
                && !(known.version == stored.version && known.content.is_none() && stored.content.is_some())
            {
                known.epoch = stored.epoch;
                return false;
            }
            let key = Arc::new(live.key.clone());
            let old = inner.remove(&key);
            let changed = old.is_none_or(|old| old.differs(&stored));
            for owner in &stored.owners {
                let children = inner.by_owner.entry(owner.uid.clone()).or_default();
                children.push(key.clone());
            }
            inner.objects.insert(key, stored);
            changed
        })
    }

    /// The object is gone, as an answer says. If the watch was faster, it is unknown by now.
    pub fn bury(&self, key: &ObjectKey, uid: &str) {
        self.lock(|inner| {
            if let Some(stored) = inner.forget(key, uid) {
                inner.tombstones.bury(key, uid, stored.version);
            }
        });
    }

    /// The object is gone, as the watch says.
    pub fn forget(&self, key: &ObjectKey, uid: &str) {
        self.lock(|inner| {
            inner.tombstones.told(key, uid);
            inner.forget(key, uid);
        });
    }

    /// A new list of a kind begins.
    pub(crate) fn begin_list(&self, kind: &Kind) {
        self.lock(|inner| *inner.epochs.entry(kind.clone()).or_default() += 1);
    }

    /// The list is complete; returns the owners of what disappeared, so that they can be looked at.
    pub(crate) fn end_list(&self, kind: &Kind) -> Vec<Holders> {
        self.lock(|inner| {
            inner.tombstones.listed(kind);
            let epoch = inner.epochs.get(kind).copied().unwrap_or_default();
            let is_gone = |(key, stored): (&Arc<ObjectKey>, &Stored)| {
                (key.kind == *kind && stored.epoch != epoch).then(|| key.clone())
            };
            let gone: Vec<Arc<ObjectKey>> = inner.objects.iter().filter_map(is_gone).collect();
            let removed = gone
                .into_iter()
                .filter_map(|key| Some((inner.remove(&key)?, key)));
            let removed = removed.map(|(stored, key)| Holders {
                key: ObjectKey::clone(&key),
                owners: stored.owners,
                marked: stored.marked,
            });
            removed.collect()
        })
    }

    fn lock<R>(&self, with: impl FnOnce(&mut Inner) -> R) -> R {
        with(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    /// Removes an object, unless it is another one of that name.
    fn forget(&mut self, key: &ObjectKey, uid: &str) -> Option<Stored> {
        let is_it = self.objects.get(key)?.uid == uid;
        is_it.then(|| self.remove(key))?
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Stored> {
        let stored = self.objects.remove(key)?;
        for owner in &stored.owners {
            if let Some(keys) = self.by_owner.get_mut(&owner.uid) {
                keys.retain(|child| **child != *key);
                if keys.is_empty() {
                    self.by_owner.remove(&owner.uid);
                }
            }
        }
        Some(stored)
    }

    fn live(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        let stored = self.objects.get(key)?;
        let content = match &stored.content {
            Some(text) => serde_json::from_str(text).ok()?,
            None => Content {
                o: Owned::default(),
                i: Vec::new(),
                h: None,
                f: stored.facts.clone(),
            },
        };
        Some(Arc::new(LiveObject {
            key: key.clone(),
            uid: stored.uid.clone(),
            resource_version: stored.resource_version.clone(),
            deleting: stored.deleting,
            owners: stored.owners.clone(),
            owned: content.o,
            marked: stored.marked.clone(),
            foreign_items: content.i,
            migrated_managed_fields: content.h,
            facts: content.f,
        }))
    }
}

impl LiveView for Cache {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.lock(|inner| inner.live(key))
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.lock(|inner| {
            let mut keys = inner.by_owner.get(owner_uid).cloned().unwrap_or_default();
            keys.sort();
            keys.iter().filter_map(|key| inner.live(key)).collect()
        })
    }

    fn definition(&self, kind: &Kind) -> Option<Arc<Definition>> {
        self.definitions.get(kind)
    }
}

#[cfg(test)]
mod tests;
