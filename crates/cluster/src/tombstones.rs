//! Objects whose end is known from an answer, and not yet from the watch: what it still tells of them is old.

use std::collections::HashMap;

use mainstay_engine::key::{Kind, ObjectKey};

use crate::root::is_known;

#[derive(Debug)]
struct Grave {
    uid: String,
    /// The last known version.
    version: u64,
}

/// One grave at most for each name, and none for longer than the watch may tell of it.
#[derive(Debug, Default)]
pub(crate) struct Tombstones(HashMap<ObjectKey, Grave>);

impl Tombstones {
    /// An answer told of the end of an object that was known in this version.
    pub(crate) fn bury(&mut self, key: &ObjectKey, uid: &str, version: u64) {
        let uid = uid.to_owned();
        self.0.insert(key.clone(), Grave { uid, version });
    }

    /// Whether news are of an object that is gone. The next one of that name shows that the watch is beyond its end.
    pub(crate) fn waiting(&mut self, key: &ObjectKey, uid: &str, version: u64) -> bool {
        let is_old = |grave: &Grave| grave.uid == uid || is_known(grave.version, version);
        let hold = self.0.get(key).is_some_and(is_old);
        if !hold {
            self.0.remove(key);
        }
        hold
    }

    /// The watch told of the end, too.
    pub(crate) fn told(&mut self, key: &ObjectKey, uid: &str) {
        if self.0.get(key).is_some_and(|grave| grave.uid == uid) {
            self.0.remove(key);
        }
    }

    /// A list of the kind is complete: no watch tells of what ended before it.
    pub(crate) fn listed(&mut self, kind: &Kind) {
        self.0.retain(|key, _| key.kind != *kind);
    }

    /// A list of all there is, is complete.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: Kind = Kind::new("", "v1", "Service");

    fn key() -> ObjectKey {
        ObjectKey::new(SERVICE, "shop", "a")
    }

    fn tombstones() -> Tombstones {
        let mut tombstones = Tombstones::default();
        tombstones.bury(&key(), "second", 5);
        tombstones
    }

    #[test]
    fn news_from_before_an_end_are_held() {
        let mut tombstones = tombstones();
        assert!(tombstones.waiting(&key(), "second", 6), "its last versions");
        assert!(tombstones.waiting(&key(), "first", 4), "one before it");
        assert!(!tombstones.waiting(&key(), "third", 7), "the next one");
    }

    #[test]
    fn nothing_stays_buried_for_longer_than_a_watch_may_tell_of_it() {
        let mut told = tombstones();
        told.told(&key(), "first");
        assert_eq!(told.0.len(), 1, "the end of another one");
        told.told(&key(), "second");
        assert!(told.0.is_empty());

        let mut listed = tombstones();
        listed.listed(&Kind::new("apps", "v1", "Deployment"));
        assert_eq!(listed.0.len(), 1, "another kind");
        listed.listed(&SERVICE);
        assert!(listed.0.is_empty());

        let mut followed = tombstones();
        followed.waiting(&key(), "third", 7);
        assert!(followed.0.is_empty());
    }
}
