//! What reconciles have asked for: views of objects, and who is interested in them.
//!
//! A cluster has many Secrets and `ConfigMap`s and we need few of them. Their watch brings in metadata only; of each
//! object no more is kept than that it exists, as a hash, so that absence is known without a request. Content is read
//! when a reconcile asks for it, reduced to the view that was asked for, kept as long as somebody is interested, and
//! forgotten when the watch shows a newer version. Roots are followed as a whole: a view of a root is computed when it is
//! asked for, and computed again when the root changes; only if it differs is anybody woken.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_engine::{
    key::{Kind, ObjectKey},
    snapshot::{AnyIndex, AnyView, IndexStore, Projected, Slot},
};
use serde_json::Value;

use crate::root::version_number;

/// What a view is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// One object.
    Object(ObjectKey),
    /// All objects of a kind in a namespace.
    List(Kind, String),
    /// The roots under a key of an index.
    Indexed(Slot),
}

impl Subject {
    /// The kind of the objects, unless they are found through an index.
    pub const fn kind(&self) -> Option<&Kind> {
        match self {
            Self::Object(key) => Some(&key.kind),
            Self::List(kind, _) => Some(kind),
            Self::Indexed(_) => None,
        }
    }
}

/// What a reconcile asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interest {
    /// What it is about.
    pub subject: Arc<Subject>,
    /// Name of the view.
    pub view: &'static str,
}

/// What was read or computed for an interest.
#[derive(Debug)]
struct Content {
    /// Version of the object when it was read.
    version: u64,
    views: Vec<Projected>,
}

/// A view that somebody is interested in.
struct Watched {
    view: &'static dyn AnyView,
    content: Option<Content>,
    roots: HashSet<ObjectKey>,
}

impl Watched {
    /// Whether it was found that there is nothing.
    fn is_absence(&self) -> bool {
        self.content
            .as_ref()
            .is_some_and(|content| content.views.is_empty() && content.version == 0)
    }
}

#[derive(Default)]
struct Inner {
    indexes: IndexStore,
    /// Hashes of the keys of all objects that exist, by kind and list.
    existing: HashMap<Kind, HashMap<u64, u64>>,
    epochs: HashMap<Kind, u64>,
    /// Kinds that cannot be listed: what was not read is not known.
    unlisted: HashSet<Kind>,
    /// Metadata of all objects of the kinds of which nothing else is ever asked.
    metadata: HashMap<ObjectKey, Arc<Value>>,
    subjects: HashMap<Arc<Subject>, Vec<Watched>>,
    /// Newest version that the watch showed, of objects that somebody is interested in.
    versions: HashMap<ObjectKey, u64>,
    by_root: HashMap<ObjectKey, BTreeSet<Interest>>,
}

/// The store.
#[derive(Default)]
pub struct Views {
    inner: Mutex<Inner>,
}

impl fmt::Debug for Views {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Views")
    }
}

impl Views {
    /// A store with the indexes of a system.
    pub fn new(indexes: &'static [&'static dyn AnyIndex]) -> Self {
        Self {
            inner: Mutex::new(Inner {
                indexes: IndexStore::new(indexes),
                ..Inner::default()
            }),
        }
    }

    /// What is known: `None` if it has to be read first. Absence counts unless it has to be `confirmed` by a read: the
    /// watch of one kind may lag behind that of another, and what is missing for a moment would be reported as missing.
    pub fn answer(
        &self,
        subject: &Subject,
        view: &'static dyn AnyView,
        confirmed: bool,
    ) -> Option<Vec<Projected>> {
        self.lock(|inner| {
            let watched = inner.subjects.get(subject).into_iter().flatten();
            let mut of_view = watched.filter(|watched| watched.view.name() == view.name());
            if let Some(content) = of_view.find_map(|watched| watched.content.as_ref()) {
                return Some(content.views.clone());
            }
            let Subject::Object(key) = subject else {
                return None;
            };
            if let Some(metadata) = inner.metadata.get(key) {
                return Some(view.project(metadata).into_iter().collect());
            }
            let is_absent = !inner.exists(key) && !inner.unlisted.contains(&key.kind);
            (is_absent && !confirmed).then(Vec::new)
        })
    }

    /// The members of a key of an index.
    pub fn members(&self, index: &dyn AnyIndex, key: &str) -> Vec<Projected> {
        self.lock(|inner| inner.indexes.members(index, key))
    }

    /// What the fold of an index makes of the members of a key.
    pub fn folded(&self, index: &dyn AnyIndex, key: &str) -> Option<Projected> {
        self.lock(|inner| inner.indexes.folded(index, key))
    }

    /// From now on a root is interested in this too. Asked before anything is read: whoever reads before listening
    /// misses what happens in between.
    pub fn extend(&self, root: &ObjectKey, subject: &Arc<Subject>, view: &'static dyn AnyView) {
        self.lock(|inner| inner.gain_interest(root, subject, view));
    }

    /// From now on a root is interested in no more than this.
    pub fn retain(&self, root: &ObjectKey, interests: BTreeSet<Interest>) {
        self.lock(|inner| {
            let old = inner.by_root.remove(root).unwrap_or_default();
            for interest in old.difference(&interests) {
                inner.lose_interest(root, interest);
            }
            if !interests.is_empty() {
                inner.by_root.insert(root.clone(), interests);
            }
        });
    }

    /// Takes in what was read. `version` is that of the object, or of the list. What the watch brought meanwhile wins;
    /// the watch will tell if an object that was not found appears.
    pub fn learn(&self, interest: &Interest, version: &str, views: Vec<Projected>) {
        let version = version_number(version);
        self.lock(|inner| {
            let newest = match &*interest.subject {
                Subject::Object(key) => inner.versions.get(key).copied(),
                Subject::List(..) | Subject::Indexed(_) => None,
            };
            let is_absence = views.is_empty() && version == 0;
            if !is_absence && newest.is_some_and(|newest| newest > version) {
                return;
            }
            let watched = inner.subjects.get_mut(&interest.subject);
            let mut watched = watched.into_iter().flatten();
            if let Some(watched) = watched.find(|watched| watched.view.name() == interest.view) {
                watched.content = Some(Content { version, views });
            }
        });
    }

    /// A root changed or is gone. Returns the other roots that see a difference.
    pub fn root_changed(
        &self,
        key: &ObjectKey,
        version: &str,
        object: Option<&Value>,
    ) -> Vec<ObjectKey> {
        let version = version_number(version);
        self.lock(|inner| {
            let mut roots = Vec::new();
            for slot in inner.indexes.learn(key, object) {
                roots.extend(inner.interested(&Subject::Indexed(slot)));
            }
            if let Some(watched) = inner.subjects.get_mut(&Subject::Object(key.clone())) {
                inner.versions.insert(key.clone(), version);
                for watched in watched {
                    let views = object.and_then(|object| watched.view.project(object));
                    let views = Vec::from_iter(views);
                    let known = watched.content.as_ref();
                    if known.is_none_or(|known| known.views != views) {
                        roots.extend(watched.roots.iter().cloned());
                    }
                    watched.content = Some(Content { version, views });
                }
            }
            roots.retain(|root| root != key);
            roots.sort();
            roots.dedup();
            roots
        })
    }

    /// The roots that are interested in an object.
    pub fn interested(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.lock(|inner| inner.interested(&Subject::Object(key.clone())))
    }

    /// The watch shows metadata of an object of a kind of which nothing else is ever asked. Returns the roots that see a
    /// difference.
    pub fn metadata_seen(&self, key: &ObjectKey, metadata: Value) -> Vec<ObjectKey> {
        self.lock(|inner| {
            inner.exists_now(key);
            let old = inner.metadata.get(key).cloned();
            let mut roots = Vec::new();
            let subject = Subject::Object(key.clone());
            for watched in inner.subjects.get_mut(&subject).into_iter().flatten() {
                let before = old.as_ref().and_then(|old| watched.view.project(old));
                if old.is_none() || before != watched.view.project(&metadata) {
                    roots.extend(watched.roots.iter().cloned());
                }
                watched.content = None;
            }
            inner.metadata.insert(key.clone(), Arc::new(metadata));
            roots
        })
    }

    /// The watch shows an object. Returns the roots that have to look because of it.
    pub fn seen(&self, key: &ObjectKey, resource_version: &str) -> Vec<ObjectKey> {
        let version = version_number(resource_version);
        self.lock(|inner| {
            let is_new = inner.exists_now(key);
            let mut roots = Vec::new();
            for subject in subjects_of(key) {
                let Some(watched) = inner.subjects.get_mut(&subject) else {
                    continue;
                };
                let is_list = matches!(subject, Subject::List(..));
                for watched in watched {
                    let content = watched.content.as_ref();
                    let is_read = content.is_some_and(|content| content.version >= version);
                    // Whoever was told that it does not exist learns that it does.
                    let is_current = is_read && (is_list || !watched.is_absence());
                    if is_current && !is_new {
                        continue;
                    }
                    roots.extend(watched.roots.iter().cloned());
                    watched.content = None;
                    inner.versions.insert(key.clone(), version);
                }
            }
            roots
        })
    }

    /// The object is gone. Returns the roots that have to look because of it.
    pub fn gone(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        self.lock(|inner| {
            if let Some(existing) = inner.existing.get_mut(&key.kind) {
                existing.remove(&hash(key));
            }
            inner.versions.remove(key);
            inner.metadata.remove(key);
            let subjects = subjects_of(key);
            let roots = subjects.iter().flat_map(|subject| inner.forget(subject));
            roots.collect()
        })
    }

    /// Work begins although a kind could not be listed. Until its list is complete its objects are read one by one, and
    /// nothing counts as absent that was not looked for.
    pub fn go_on_without(&self, kind: &Kind) {
        self.lock(|inner| inner.unlisted.insert(kind.clone()));
    }

    /// A new list of a kind begins.
    pub(crate) fn begin_list(&self, kind: &Kind) {
        self.lock(|inner| *inner.epochs.entry(kind.clone()).or_default() += 1);
    }

    /// The list is complete. Returns the roots that are interested in something that disappeared.
    pub(crate) fn end_list(&self, kind: &Kind) -> Vec<ObjectKey> {
        self.lock(|inner| {
            inner.unlisted.remove(kind);
            let epoch = inner.epochs.get(kind).copied().unwrap_or_default();
            if let Some(existing) = inner.existing.get_mut(kind) {
                existing.retain(|_, seen| *seen == epoch);
            }
            let metadata = std::mem::take(&mut inner.metadata);
            inner.metadata = metadata
                .into_iter()
                .filter(|(key, _)| key.kind != *kind || inner.exists(key))
                .collect();
            let subjects = inner.subjects.iter();
            let stale = subjects.filter(|(subject, watched)| {
                let has_content =
                    |watched: &Watched| watched.content.is_some() && !watched.is_absence();
                subject.kind() == Some(kind)
                    && match &***subject {
                        Subject::Object(key) => {
                            watched.iter().any(has_content) && !inner.exists(key)
                        }
                        // What went missing from it cannot be told, so it is read again.
                        Subject::List(..) => true,
                        Subject::Indexed(_) => false,
                    }
            });
            let stale: Vec<Arc<Subject>> = stale.map(|(subject, _)| subject.clone()).collect();
            let roots = stale.iter().flat_map(|subject| inner.forget(subject));
            roots.collect()
        })
    }

    fn lock<R>(&self, with: impl FnOnce(&mut Inner) -> R) -> R {
        with(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    /// Two keys with the same hash cost a needless read, nothing else.
    fn exists(&self, key: &ObjectKey) -> bool {
        self.existing
            .get(&key.kind)
            .is_some_and(|existing| existing.contains_key(&hash(key)))
    }

    /// An object was seen in the current list or since; says whether it was not known to exist.
    fn exists_now(&mut self, key: &ObjectKey) -> bool {
        let epoch = self.epochs.get(&key.kind).copied().unwrap_or_default();
        let existing = self.existing.entry(key.kind.clone()).or_default();
        existing.insert(hash(key), epoch).is_none()
    }

    fn interested(&self, subject: &Subject) -> Vec<ObjectKey> {
        let watched = self.subjects.get(subject).into_iter().flatten();
        watched
            .flat_map(|watched| watched.roots.iter().cloned())
            .collect()
    }

    /// Forgets what was read of a subject; returns who is interested in it.
    fn forget(&mut self, subject: &Subject) -> Vec<ObjectKey> {
        for watched in self.subjects.get_mut(subject).into_iter().flatten() {
            watched.content = None;
        }
        self.interested(subject)
    }

    fn gain_interest(
        &mut self,
        root: &ObjectKey,
        subject: &Arc<Subject>,
        view: &'static dyn AnyView,
    ) {
        // One copy of each subject, however many are interested.
        let known = self.subjects.get_key_value(subject);
        let subject = known.map_or(subject, |(known, _)| known).clone();
        let interest = Interest {
            subject: subject.clone(),
            view: view.name(),
        };
        if !self
            .by_root
            .entry(root.clone())
            .or_default()
            .insert(interest)
        {
            return;
        }
        let watched = self.subjects.entry(subject).or_default();
        let known = watched
            .iter_mut()
            .find(|watched| watched.view.name() == view.name());
        match known {
            Some(known) => {
                known.roots.insert(root.clone());
            }
            None => watched.push(Watched {
                view,
                content: None,
                roots: HashSet::from([root.clone()]),
            }),
        }
    }

    fn lose_interest(&mut self, root: &ObjectKey, interest: &Interest) {
        let Some(watched) = self.subjects.get_mut(&interest.subject) else {
            return;
        };
        watched.retain_mut(|watched| {
            if watched.view.name() == interest.view {
                watched.roots.remove(root);
            }
            !watched.roots.is_empty()
        });
        if watched.is_empty() {
            self.subjects.remove(&interest.subject);
            if let Subject::Object(key) = &*interest.subject {
                self.versions.remove(key);
            }
        }
    }
}

fn hash(key: &ObjectKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&key.namespace, &key.name).hash(&mut hasher);
    hasher.finish()
}

/// Everything that an object may be part of.
fn subjects_of(key: &ObjectKey) -> [Subject; 2] {
    [
        Subject::Object(key.clone()),
        Subject::List(key.kind.clone(), key.namespace.clone()),
    ]
}

#[cfg(test)]
mod tests;
