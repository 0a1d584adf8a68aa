//! Custom resources as the controllers see them.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_engine::{key::ObjectKey, plan::Root};
use serde_json::Value;

use crate::tombstones::Tombstones;

/// A root object: metadata that decides what happens, and the whole as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct RootObject {
    /// What plans need.
    pub root: Root,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// Whether deletion was requested.
    pub deleting: bool,
    /// The object without `managedFields`.
    pub value: Value,
}

impl RootObject {
    /// Reads a root off its JSON.
    pub fn of(key: ObjectKey, value: Value) -> Self {
        let text = |pointer: &str| {
            value
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let finalizers = value
            .pointer("/metadata/finalizers")
            .and_then(Value::as_array);
        let finalizers = finalizers
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        Self {
            root: Root {
                key,
                uid: text("/metadata/uid"),
                resource_version: text("/metadata/resourceVersion"),
                finalizers,
            },
            generation: value
                .pointer("/metadata/generation")
                .and_then(Value::as_i64),
            deleting: value.pointer("/metadata/deletionTimestamp").is_some(),
            value,
        }
    }
}

/// What of a root makes its controller look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// Its spec, its deletion.
    #[default]
    Spec,
    /// Its labels and annotations too: they are copied to its children.
    SpecAndMetadata,
}

/// Hears of every root that is learned or gone, from watches and from our own writes alike.
pub trait RootObserver: Send + Sync {
    /// A version of a root that was not known.
    fn learned(&self, root: &RootObject);

    /// The root is gone.
    fn forgotten(&self, key: &ObjectKey);
}

/// What is stored per root: the text is a third of the size of the parsed tree.
#[derive(Debug)]
struct Stored {
    version: u64,
    state: State,
    epoch: u64,
    text: Box<str>,
}

/// What a controller has to act on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    uid: String,
    generation: Option<i64>,
    deleting: bool,
    metadata: Option<u64>,
}

#[derive(Debug, Default)]
struct Inner {
    epoch: u64,
    objects: BTreeMap<ObjectKey, Stored>,
    tombstones: Tombstones,
}

impl Inner {
    /// Removes a root, unless it is another one of that name.
    fn forget(&mut self, key: &ObjectKey, uid: &str) -> Option<Stored> {
        let is_it = self.objects.get(key)?.state.uid == uid;
        is_it.then(|| self.objects.remove(key))?
    }
}

/// Store of all roots of one kind, fed by the watch and by the answers to our own writes.
#[derive(Default)]
pub struct RootStore {
    inner: Mutex<Inner>,
    trigger: Trigger,
    observer: Option<Arc<dyn RootObserver>>,
}

impl fmt::Debug for RootStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RootStore")
            .field("trigger", &self.trigger)
            .finish_non_exhaustive()
    }
}

/// Resource versions of one kind can be compared; one that is no number is 0.
pub(crate) fn version_number(resource_version: &str) -> u64 {
    resource_version.parse().unwrap_or_default()
}

/// Whether a version tells nothing new. A watch may lag behind what our own writes taught us, also about an object that
/// was deleted and created anew meanwhile. Versions that cannot be compared are always taken.
pub(crate) const fn is_known(known: u64, version: u64) -> bool {
    version != 0 && known >= version
}

impl RootStore {
    /// A store whose roots are looked at for more than their spec, or that others listen to.
    pub fn new(trigger: Trigger, observer: Option<Arc<dyn RootObserver>>) -> Self {
        Self {
            inner: Mutex::default(),
            trigger,
            observer,
        }
    }

    /// The root with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<RootObject> {
        let text = self.lock(|inner| inner.objects.get(key).map(|stored| stored.text.clone()))?;
        let value = serde_json::from_str(&text).ok()?;
        Some(RootObject::of(key.clone(), value))
    }

    /// Keys of the roots whose key and text, which is JSON, are like this.
    pub fn find(&self, is_wanted: impl Fn(&ObjectKey, &str) -> bool) -> Vec<ObjectKey> {
        self.lock(|inner| {
            let wanted = inner.objects.iter();
            let wanted = wanted.filter(|(key, stored)| is_wanted(key, &stored.text));
            wanted.map(|(key, _)| key.clone()).collect()
        })
    }

    /// Keys of all roots.
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.lock(|inner| inner.objects.keys().cloned().collect())
    }

    /// Number of roots.
    pub fn len(&self) -> usize {
        self.lock(|inner| inner.objects.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in a version from the watch or from an answer. Says whether a controller should look: a new
    /// object, a new generation, or a deletion. Older versions than the known one are ignored.
    pub fn learn(&self, root: &RootObject) -> bool {
        let version = version_number(&root.root.resource_version);
        let state = self.state(root);
        let old = self.lock(|inner| {
            let (key, uid) = (&root.root.key, &root.root.uid);
            if inner.tombstones.waiting(key, uid, version) {
                return None;
            }
            let epoch = inner.epoch;
            if let Some(known) = inner.objects.get_mut(&root.root.key)
                && is_known(known.version, version)
            {
                known.epoch = epoch;
                return None;
            }
            let stored = Stored {
                version,
                state: state.clone(),
                epoch,
                text: root.value.to_string().into(),
            };
            let old = inner.objects.insert(root.root.key.clone(), stored);
            Some(old.map(|old| old.state))
        });
        let Some(old) = old else { return false };
        if let Some(observer) = &self.observer {
            observer.learned(root);
        }
        old != Some(state)
    }

    /// The root is gone, as an answer says. If the watch was faster, it is unknown by now.
    pub fn bury(&self, key: &ObjectKey, uid: &str) {
        let known = self.lock(|inner| {
            let known = inner.forget(key, uid);
            if let Some(stored) = &known {
                inner.tombstones.bury(key, uid, stored.version);
            }
            known.is_some()
        });
        if known {
            self.tell_forgotten([key]);
        }
    }

    /// The root is gone, as the watch says.
    pub fn forget(&self, key: &ObjectKey, uid: &str) {
        let known = self.lock(|inner| {
            inner.tombstones.told(key, uid);
            inner.forget(key, uid).is_some()
        });
        if known {
            self.tell_forgotten([key]);
        }
    }

    fn tell_forgotten<'key>(&self, keys: impl IntoIterator<Item = &'key ObjectKey>) {
        if let Some(observer) = &self.observer {
            for key in keys {
                observer.forgotten(key);
            }
        }
    }

    fn state(&self, root: &RootObject) -> State {
        let metadata = (self.trigger == Trigger::SpecAndMetadata).then(|| {
            let mut hasher = DefaultHasher::new();
            for pointer in ["/metadata/labels", "/metadata/annotations"] {
                let map = root.value.pointer(pointer);
                map.map(Value::to_string).hash(&mut hasher);
            }
            hasher.finish()
        });
        State {
            uid: root.root.uid.clone(),
            generation: root.generation,
            deleting: root.deleting,
            metadata,
        }
    }

    /// A new list begins.
    pub(crate) fn begin_list(&self) {
        self.lock(|inner| inner.epoch += 1);
    }

    /// The list is complete: what it did not contain, and nobody wrote meanwhile, is gone.
    pub(crate) fn end_list(&self) {
        let gone: Vec<ObjectKey> = self.lock(|inner| {
            inner.tombstones.clear();
            let epoch = inner.epoch;
            let objects = std::mem::take(&mut inner.objects);
            let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = objects
                .into_iter()
                .partition(|(_, stored)| stored.epoch == epoch);
            inner.objects = kept;
            gone.into_keys().collect()
        });
        self.tell_forgotten(&gone);
    }

    fn lock<R>(&self, with: impl FnOnce(&mut Inner) -> R) -> R {
        with(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use mainstay_engine::Kind;
    use serde_json::json;

    use super::*;

    fn root(uid: &str, version: u32, generation: u32, deleting: bool) -> RootObject {
        let mut value = json!({"metadata": {
            "uid": uid, "resourceVersion": version.to_string(), "generation": generation, "finalizers": ["a"],
        }});
        if deleting {
            value["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
        }
        let key = ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "thing");
        RootObject::of(key, value)
    }

    #[test]
    fn only_news_that_a_controller_must_act_on_wakes_it() {
        let store = RootStore::default();
        assert!(store.learn(&root("1", 5, 1, false)), "a new object");
        assert!(
            !store.learn(&root("1", 6, 1, false)),
            "its status or labels"
        );
        assert!(store.learn(&root("1", 7, 2, false)), "its spec");
        assert!(store.learn(&root("1", 8, 2, true)), "its deletion");
        assert!(
            store.learn(&root("2", 9, 1, false)),
            "another one of that name"
        );
    }

    #[test]
    fn older_news_do_not_replace_what_our_own_write_taught() {
        let store = RootStore::default();
        let written = root("1", 9, 1, false);
        store.learn(&written);
        assert!(!store.learn(&root("1", 7, 1, false)));
        assert!(!store.learn(&root("0", 8, 4, true)));
        assert_eq!(store.get(&written.root.key), Some(written));
    }

    #[test]
    fn a_root_that_ended_does_not_come_back_by_a_slow_watch() {
        let store = RootStore::default();
        let last = root("1", 9, 1, true);
        store.learn(&last);
        store.bury(&last.root.key, "1");
        assert!(!store.learn(&root("1", 8, 1, true)));
        assert!(!store.learn(&last));
        assert!(store.is_empty());
        assert!(store.learn(&root("2", 11, 1, false)), "the next one");
        store.bury(&last.root.key, "2");
        store.begin_list();
        store.end_list();
        assert!(store.learn(&root("2", 11, 1, false)), "behind a list");
    }

    #[test]
    fn a_list_removes_what_it_does_not_contain() {
        let store = RootStore::default();
        store.learn(&root("1", 5, 1, false));
        store.begin_list();
        store.end_list();
        assert!(store.is_empty());
        store.begin_list();
        store.learn(&root("1", 6, 1, false));
        store.end_list();
        assert_eq!(store.len(), 1);
    }
}
