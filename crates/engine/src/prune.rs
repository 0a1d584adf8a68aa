//! Prune: objects of a root that are no longer rendered go.
//!
//! A set says for which kinds it is complete, or in which places something may be that it no longer holds; one that says
//! nothing prunes nothing.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    key::{Kind, ObjectKey},
    live::{LiveObject, LiveView},
    object_set::ObjectSet,
    options::Options,
};

/// For which kinds a set is complete, and which of a root's objects may go at all.
#[derive(Clone, Debug)]
pub struct Prune {
    kinds: BTreeSet<Kind>,
    places: Vec<(ObjectKey, Options)>,
    may_go: fn(&LiveObject) -> bool,
}

impl Default for Prune {
    fn default() -> Self {
        Self {
            kinds: BTreeSet::new(),
            places: Vec::new(),
            may_go: |_| true,
        }
    }
}

impl Prune {
    /// The set is complete for a kind: objects of ours that are not in it are left over.
    pub fn kind(&mut self, kind: Kind) {
        self.kinds.insert(kind);
    }

    /// Something of ours may be in this place, which the set no longer holds: an inventory says so. It is looked at, and
    /// goes if it is ours.
    pub fn place(&mut self, key: ObjectKey, options: Options) {
        self.places.push((key, options));
    }

    /// The places that an inventory names and the set no longer holds.
    pub(crate) fn places<'set>(
        &'set self,
        set: &'set ObjectSet,
    ) -> impl Iterator<Item = &'set (ObjectKey, Options)> {
        let places = self.places.iter();
        places.filter(|(key, _)| set.get(key).is_none())
    }

    /// Only what this says yes to ever goes.
    pub fn only(&mut self, may_go: fn(&LiveObject) -> bool) {
        self.may_go = may_go;
    }

    /// Whether the set is complete for a kind.
    pub fn covers(&self, kind: &Kind) -> bool {
        self.kinds.iter().any(|covered| covered.is_like(kind))
    }
}

/// What a root has in the cluster and a set no longer holds.
pub(crate) fn left_over(
    owner_uid: &str,
    set: &ObjectSet,
    live: &dyn LiveView,
) -> Vec<Arc<LiveObject>> {
    let prune = &set.prune;
    if prune.kinds.is_empty() {
        return Vec::new();
    }
    let owned = live.owned_by(owner_uid).into_iter();
    let left_over = owned.filter(|object| {
        set.get(&object.key).is_none()
            && !object.deleting
            && prune.covers(&object.key.kind)
            && (prune.may_go)(object)
    });
    left_over.collect()
}
