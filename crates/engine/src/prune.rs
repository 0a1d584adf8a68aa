//! Prune: objects of a root that are no longer rendered go.
//!
//! A set says for which kinds it is complete; one that says nothing prunes nothing.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    key::Kind,
    live::{LiveObject, LiveView},
    object_set::ObjectSet,
};

/// For which kinds a set is complete, and which of a root's objects may go at all.
#[derive(Clone, Debug)]
pub struct Prune {
    kinds: BTreeSet<Kind>,
    may_go: fn(&LiveObject) -> bool,
}

impl Default for Prune {
    fn default() -> Self {
        Self {
            kinds: BTreeSet::new(),
            may_go: |_| true,
        }
    }
}

impl Prune {
    /// The set is complete for a kind: objects of ours that are not in it are left over.
    pub fn kind(&mut self, kind: Kind) {
        self.kinds.insert(kind);
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
