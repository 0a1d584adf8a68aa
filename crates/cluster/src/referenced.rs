//! Objects that are not ours and that somebody refers to.
//!
//! A cluster has many Secrets and `ConfigMap`s and we need few of them. Their watch brings in metadata only; of each
//! object no more is kept than that it exists, as a hash, so that absence is known without a request. Content is read
//! when a reconcile asks for it, kept as long as somebody is interested, and forgotten when the watch shows a newer version.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use mainstay_engine::key::{Kind, ObjectKey};
use serde_json::Value;

use crate::root::version_number;

/// What a reconcile is interested in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interest {
    /// One object.
    Object(ObjectKey),
    /// A digest of one object, because its content is large and only its changes matter.
    Digest(ObjectKey),
    /// All objects of a kind in a namespace.
    All(Kind, String),
}

impl Interest {
    /// The kind that it is about.
    pub const fn kind(&self) -> &Kind {
        match self {
            Self::Object(key) | Self::Digest(key) => &key.kind,
            Self::All(kind, _) => kind,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The content has to be read first.
    Unknown,
    /// The objects: none or one for an object, any number for all of a namespace.
    Known(Vec<Arc<Value>>),
}

#[derive(Debug)]
struct Content {
    /// Version of the object when it was read.
    version: u64,
    objects: Vec<Arc<Value>>,
}

impl Content {
    fn is_absence(&self, interest: &Interest) -> bool {
        self.objects.is_empty() && !matches!(interest, Interest::All(..))
    }
}

#[derive(Debug, Default)]
struct Inner {
    /// Hashes of the keys of all objects that exist, by kind and list.
    existing: HashMap<Kind, HashMap<u64, u64>>,
    epochs: HashMap<Kind, u64>,
    /// Kinds that cannot be listed: what was not read is not known.
    unlisted: HashSet<Kind>,
    contents: HashMap<Interest, Content>,
    /// Newest version that the watch showed, of objects that somebody is interested in.
    versions: HashMap<ObjectKey, u64>,
    by_root: HashMap<ObjectKey, BTreeSet<Interest>>,
    interested: HashMap<Interest, HashSet<ObjectKey>>,
}

/// The store.
#[derive(Debug, Default)]
pub struct Referenced {
    inner: Mutex<Inner>,
}

impl Referenced {
    /// What is known about something.
    pub fn get(&self, interest: &Interest) -> Answer {
        self.lock(|inner| {
            if let Some(content) = inner.contents.get(interest) {
                return Answer::Known(content.objects.clone());
            }
            match interest {
                Interest::Object(key) | Interest::Digest(key)
                    if !inner.exists(key) && !inner.unlisted.contains(&key.kind) =>
                {
                    Answer::Known(Vec::new())
                }
                _ => Answer::Unknown,
            }
        })
    }

    /// The same, but absence counts only if a read has confirmed it: the watch of one kind may lag behind that of
    /// another, and what is missing for a moment would be reported as missing.
    pub fn get_confirmed(&self, interest: &Interest) -> Answer {
        self.lock(|inner| match inner.contents.get(interest) {
            Some(content) => Answer::Known(content.objects.clone()),
            None => Answer::Unknown,
        })
    }

    /// From now on a root is interested in this too.
    pub fn extend(&self, root: &ObjectKey, interests: BTreeSet<Interest>) {
        let known = self.lock(|inner| inner.by_root.get(root).cloned());
        let all = known.unwrap_or_default().into_iter().chain(interests);
        self.register(root, all.collect());
    }

    /// From now on a root is interested in exactly this.
    pub fn register(&self, root: &ObjectKey, interests: BTreeSet<Interest>) {
        self.lock(|inner| {
            let old = inner.by_root.remove(root).unwrap_or_default();
            for interest in old.difference(&interests) {
                inner.lose_interest(root, interest);
            }
            for interest in interests.difference(&old) {
                let roots = inner.interested.entry(interest.clone()).or_default();
                roots.insert(root.clone());
            }
            if !interests.is_empty() {
                inner.by_root.insert(root.clone(), interests);
            }
        });
    }

    /// Takes in what was read. `version` is that of the object, or of the list. News that the watch brought meanwhile
    /// win; the watch will tell if an object that was not found appears.
    pub fn learn(&self, interest: Interest, version: &str, objects: Vec<Arc<Value>>) {
        let version = version_number(version);
        self.lock(|inner| {
            let newest = match &interest {
                Interest::Object(key) | Interest::Digest(key) => inner.versions.get(key).copied(),
                Interest::All(..) => None,
            };
            let is_absence = objects.is_empty() && !matches!(interest, Interest::All(..));
            if is_absence || newest.is_none_or(|newest| newest <= version) {
                inner
                    .contents
                    .insert(interest, Content { version, objects });
            }
        });
    }

    /// The roots that are interested in an object that is followed as a whole.
    pub fn interested(&self, key: &ObjectKey) -> Vec<ObjectKey> {
        let interest = Interest::Object(key.clone());
        self.lock(|inner| {
            let roots = inner.interested.get(&interest);
            roots.into_iter().flatten().cloned().collect()
        })
    }

    /// The watch shows an object. Returns the roots that have to look because of it.
    pub fn seen(&self, key: &ObjectKey, resource_version: &str) -> Vec<ObjectKey> {
        let version = version_number(resource_version);
        self.lock(|inner| {
            let epoch = inner.epochs.get(&key.kind).copied().unwrap_or_default();
            let existing = inner.existing.entry(key.kind.clone()).or_default();
            let is_new = existing.insert(hash(key), epoch).is_none();
            let mut roots = Vec::new();
            for interest in interests_in(key) {
                let Some(interested) = inner.interested.get(&interest) else {
                    continue;
                };
                let content = inner.contents.get(&interest);
                // Whoever was told that it does not exist learns that it does.
                let is_current = content.is_some_and(|content| {
                    content.version >= version && !content.is_absence(&interest)
                });
                if is_current && !is_new {
                    continue;
                }
                roots.extend(interested.iter().cloned());
                inner.contents.remove(&interest);
                inner.versions.insert(key.clone(), version);
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
            let mut roots = Vec::new();
            for interest in interests_in(key) {
                inner.contents.remove(&interest);
                roots.extend(
                    inner
                        .interested
                        .get(&interest)
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
            }
            roots
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
            let stale: Vec<Interest> = inner
                .contents
                .iter()
                .filter(|(interest, content)| {
                    interest.kind() == kind
                        && match interest {
                            Interest::Object(key) | Interest::Digest(key) => {
                                !content.objects.is_empty() && !inner.exists(key)
                            }
                            // What went missing from it cannot be told, so it is read again.
                            Interest::All(..) => true,
                        }
                })
                .map(|(interest, _)| interest.clone())
                .collect();
            let mut roots = Vec::new();
            for interest in stale {
                inner.contents.remove(&interest);
                roots.extend(
                    inner
                        .interested
                        .get(&interest)
                        .into_iter()
                        .flatten()
                        .cloned(),
                );
            }
            roots
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

    fn lose_interest(&mut self, root: &ObjectKey, interest: &Interest) {
        let Some(roots) = self.interested.get_mut(interest) else {
            return;
        };
        roots.remove(root);
        if roots.is_empty() {
            self.interested.remove(interest);
            self.contents.remove(interest);
            if let Interest::Object(key) | Interest::Digest(key) = interest {
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
fn interests_in(key: &ObjectKey) -> [Interest; 3] {
    [
        Interest::Object(key.clone()),
        Interest::Digest(key.clone()),
        Interest::All(key.kind.clone(), key.namespace.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECRET: Kind = Kind::new("", "v1", "Secret");

    fn secret(name: &str) -> ObjectKey {
        ObjectKey::new(SECRET, "shop", name)
    }

    fn root() -> ObjectKey {
        ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "thing")
    }

    fn interested(interest: &Interest) -> Referenced {
        let store = Referenced::default();
        store.register(&root(), BTreeSet::from([interest.clone()]));
        store
    }

    #[test]
    fn absence_is_known_without_a_request() {
        let store = Referenced::default();
        let interest = Interest::Object(secret("a"));
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
        store.seen(&secret("a"), "5");
        assert_eq!(store.get(&interest), Answer::Unknown);
        store.gone(&secret("a"));
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
    }

    #[test]
    fn absence_that_matters_is_read_once_and_ends_when_the_watch_says_so() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        assert_eq!(store.get_confirmed(&interest), Answer::Unknown);
        store.learn(interest.clone(), "", Vec::new());
        assert_eq!(store.get_confirmed(&interest), Answer::Known(Vec::new()));
        assert_eq!(store.seen(&secret("a"), "5"), [root()]);
        assert_eq!(store.get_confirmed(&interest), Answer::Unknown);
    }

    #[test]
    fn content_is_kept_until_a_newer_version_is_seen() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        assert_eq!(store.seen(&secret("a"), "5"), [root()]);
        let content = vec![Arc::new(json!({"data": 1}))];
        store.learn(interest.clone(), "5", content.clone());
        assert_eq!(store.get(&interest), Answer::Known(content));
        assert!(store.seen(&secret("a"), "5").is_empty(), "old news");
        assert_eq!(store.seen(&secret("a"), "6"), [root()]);
        assert_eq!(store.get(&interest), Answer::Unknown);
    }

    #[test]
    fn a_read_that_is_older_than_the_watch_is_not_kept() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        store.seen(&secret("a"), "6");
        store.learn(interest.clone(), "5", vec![Arc::new(json!(1))]);
        assert_eq!(store.get(&interest), Answer::Unknown);
    }

    #[test]
    fn an_object_that_was_not_found_is_news_when_it_is_seen() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        store.seen(&secret("a"), "6");
        store.learn(interest.clone(), "", Vec::new());
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
        assert_eq!(store.seen(&secret("a"), "7"), [root()]);
        assert_eq!(store.get(&interest), Answer::Unknown);
    }

    #[test]
    fn nothing_is_kept_of_what_nobody_is_interested_in() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        store.seen(&secret("a"), "5");
        store.learn(interest.clone(), "5", vec![Arc::new(json!(1))]);
        store.register(&root(), BTreeSet::new());
        assert_eq!(store.get(&interest), Answer::Unknown);
        assert!(store.seen(&secret("a"), "7").is_empty());
        store.lock(|inner| {
            assert!(inner.contents.is_empty() && inner.versions.is_empty());
            assert!(inner.interested.is_empty() && inner.by_root.is_empty());
        });
    }

    #[test]
    fn any_change_in_a_namespace_concerns_who_wants_all_of_it() {
        let interest = Interest::All(SECRET, "shop".to_owned());
        let store = interested(&interest);
        store.learn(interest.clone(), "9", Vec::new());
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
        assert_eq!(store.seen(&secret("new"), "10"), [root()]);
        assert_eq!(store.get(&interest), Answer::Unknown);
        store.learn(interest.clone(), "10", Vec::new());
        assert_eq!(store.gone(&secret("new")), [root()]);
        assert_eq!(store.get(&interest), Answer::Unknown);
    }

    #[test]
    fn a_list_forgets_what_it_does_not_contain() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        store.seen(&secret("a"), "5");
        store.learn(interest.clone(), "5", vec![Arc::new(json!(1))]);
        store.begin_list(&SECRET);
        assert_eq!(store.end_list(&SECRET), [root()]);
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
    }

    #[test]
    fn nothing_of_a_kind_that_cannot_be_listed_counts_as_absent_before_it_was_looked_for() {
        let interest = Interest::Object(secret("a"));
        let store = interested(&interest);
        store.go_on_without(&SECRET);
        assert_eq!(store.get(&interest), Answer::Unknown);
        store.learn(interest.clone(), "", Vec::new());
        assert_eq!(store.get(&interest), Answer::Known(Vec::new()));
        let other = Interest::Object(secret("b"));
        assert_eq!(store.get(&other), Answer::Unknown);
        store.begin_list(&SECRET);
        store.end_list(&SECRET);
        assert_eq!(store.get(&other), Answer::Known(Vec::new()));
    }
}
