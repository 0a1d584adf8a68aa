//! Indexes over roots, declared by a system: a function from a view of a root to keys, and perhaps a fold over all roots
//! that share a key.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use serde_json::Value;

use super::{
    Projected,
    view::{AnyView, View},
};
use crate::key::{Kind, ObjectKey};

/// An index over the roots of a kind. `A` is what the fold makes of the members of a key; `()` if nothing is folded.
pub struct Index<V: 'static, A = ()> {
    /// Name, unique within a system.
    pub name: &'static str,
    /// The kind of the roots.
    pub kind: Kind,
    /// What is known of each member.
    pub view: &'static View<V>,
    /// The keys under which a root is found.
    pub keys: fn(&V) -> Vec<String>,
    /// Adds what a member says about a key. The order in which members are added must not matter, and adding one twice
    /// must change nothing.
    pub fold: Option<fn(&mut A, &str, &V)>,
}

impl<V, A> fmt::Debug for Index<V, A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Index").field(&self.name).finish()
    }
}

/// An index, whatever it is over.
pub trait AnyIndex: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The kind of the roots.
    fn kind(&self) -> &Kind;

    /// What is known of each member.
    fn view(&self) -> &'static dyn AnyView;

    /// The keys under which a root is found.
    fn keys(&self, member: &Projected) -> Vec<String>;

    /// What the fold makes of what was folded before and one more member.
    fn fold(&self, before: Option<&Projected>, key: &str, member: &Projected) -> Option<Projected>;
}

impl<V, A> AnyIndex for Index<V, A>
where
    V: Any + PartialEq + Send + Sync,
    A: Any + PartialEq + Default + Clone + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> &Kind {
        &self.kind
    }

    fn view(&self) -> &'static dyn AnyView {
        self.view
    }

    fn keys(&self, member: &Projected) -> Vec<String> {
        member.downcast_ref().map_or_else(Vec::new, self.keys)
    }

    fn fold(&self, before: Option<&Projected>, key: &str, member: &Projected) -> Option<Projected> {
        let fold = self.fold?;
        let mut folded = before
            .and_then(|before| before.downcast_ref::<A>())
            .cloned()
            .unwrap_or_default();
        fold(&mut folded, key, member.downcast_ref()?);
        Some(Projected::new(folded))
    }
}

/// A key of an index: what a root can be interested in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Name of the index.
    pub index: &'static str,
    /// The key.
    pub key: String,
    /// Whether only the fold over the members matters, not each of them.
    pub is_folded: bool,
}

/// Namespace and name of a member, in the order in which members are listed.
type Member = (String, String);

#[derive(Debug, Default)]
struct Members {
    views: BTreeMap<Member, Projected>,
    folded: Option<Projected>,
}

/// The indexes of a system, filled.
#[derive(Default)]
pub struct IndexStore {
    declared: &'static [&'static dyn AnyIndex],
    /// Members by index and key.
    slots: HashMap<&'static str, HashMap<String, Members>>,
    /// What is known of each root, by view: the same for all indexes over it.
    roots: HashMap<ObjectKey, BTreeMap<&'static str, Projected>>,
}

impl fmt::Debug for IndexStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IndexStore")
            .field("roots", &self.roots.len())
            .finish_non_exhaustive()
    }
}

impl IndexStore {
    /// Empty indexes.
    pub fn new(declared: &'static [&'static dyn AnyIndex]) -> Self {
        Self {
            declared,
            ..Self::default()
        }
    }

    /// Takes in a root, or that it is gone. Returns the slots in which somebody sees a difference.
    pub fn learn(&mut self, key: &ObjectKey, object: Option<&Value>) -> Vec<Slot> {
        let indexes: Vec<&'static dyn AnyIndex> = self.of_kind(&key.kind);
        if indexes.is_empty() {
            return Vec::new();
        }
        let mut views: BTreeMap<&'static str, Projected> = BTreeMap::new();
        if let Some(object) = object {
            for index in &indexes {
                let view = index.view();
                if !views.contains_key(view.name())
                    && let Some(projected) = view.project(object)
                {
                    views.insert(view.name(), projected);
                }
            }
        }
        let old = if views.is_empty() {
            self.roots.remove(key)
        } else {
            self.roots.insert(key.clone(), views.clone())
        };
        let old = old.unwrap_or_default();
        let mut changed = Vec::new();
        for index in indexes {
            let name = index.view().name();
            self.update(index, key, old.get(name), views.get(name), &mut changed);
        }
        changed
    }

    fn of_kind(&self, kind: &Kind) -> Vec<&'static dyn AnyIndex> {
        let declared = self.declared.iter().copied();
        declared.filter(|index| index.kind() == kind).collect()
    }

    fn update(
        &mut self,
        index: &'static dyn AnyIndex,
        root: &ObjectKey,
        old: Option<&Projected>,
        new: Option<&Projected>,
        changed: &mut Vec<Slot>,
    ) {
        let is_same = old == new;
        let old_keys = old.map_or_else(Vec::new, |old| index.keys(old));
        let new_keys = new.map_or_else(Vec::new, |new| index.keys(new));
        let slots = self.slots.entry(index.name()).or_default();
        let member = (root.namespace.clone(), root.name.clone());
        let mut slot = |key: &String, is_folded| {
            changed.push(Slot {
                index: index.name(),
                key: key.clone(),
                is_folded,
            });
        };
        let kept: HashSet<&String> = new_keys.iter().collect();
        for key in old_keys.iter().filter(|key| !kept.contains(key)) {
            let Some(members) = slots.get_mut(key) else {
                continue;
            };
            members.views.remove(&member);
            slot(key, false);
            if members.refold(index, key) {
                slot(key, true);
            }
            if members.views.is_empty() {
                slots.remove(key);
            }
        }
        let Some(new) = new else { return };
        for key in &new_keys {
            let members = slots.entry(key.clone()).or_default();
            let replaced = members.views.insert(member.clone(), new.clone());
            if is_same && replaced.is_some() {
                continue;
            }
            slot(key, false);
            // A member that joins can be added to what is there; what one that changed took back is known only from
            // all the others.
            let is_other = match replaced {
                Some(_) => members.refold(index, key),
                None => members.add(index, key, new),
            };
            if is_other {
                slot(key, true);
            }
        }
    }

    /// The members of a key, in ascending order of namespace and name.
    pub fn members(&self, index: &dyn AnyIndex, key: &str) -> Vec<Projected> {
        let members = self.get(index, key);
        members.map_or_else(Vec::new, |members| {
            members.views.values().cloned().collect()
        })
    }

    /// What the fold makes of the members of a key.
    pub fn folded(&self, index: &dyn AnyIndex, key: &str) -> Option<Projected> {
        self.get(index, key)?.folded.clone()
    }

    fn get(&self, index: &dyn AnyIndex, key: &str) -> Option<&Members> {
        self.slots.get(index.name())?.get(key)
    }
}

impl Members {
    /// Folds one more member in; says whether the result differs.
    fn add(&mut self, index: &dyn AnyIndex, key: &str, member: &Projected) -> bool {
        let folded = index.fold(self.folded.as_ref(), key, member);
        let differs = folded != self.folded;
        self.folded = folded;
        differs
    }

    /// Folds all members anew; says whether the result differs.
    fn refold(&mut self, index: &dyn AnyIndex, key: &str) -> bool {
        let mut folded = None;
        for member in self.views.values() {
            folded = index.fold(folded.as_ref(), key, member);
        }
        let differs = folded != self.folded;
        self.folded = folded;
        differs
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const THING: Kind = Kind::new("example.io", "v1", "Thing");

    #[derive(Clone, Debug, PartialEq)]
    struct Thing {
        group: String,
        wants: i64,
    }

    static THINGS: View<Thing> = View::new("thing", |object| {
        Some(Thing {
            group: object["spec"]["group"].as_str()?.to_owned(),
            wants: object["spec"]["wants"].as_i64()?,
        })
    });
    static BY_GROUP: Index<Thing, i64> = Index {
        name: "by group",
        kind: THING,
        view: &THINGS,
        keys: |thing| vec![thing.group.clone()],
        fold: Some(|most, _, thing| *most = (*most).max(thing.wants)),
    };
    static INDEXES: &[&dyn AnyIndex] = &[&BY_GROUP];

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(THING, "shop", name)
    }

    fn thing(group: &str, wants: i64) -> Value {
        json!({"spec": {"group": group, "wants": wants}, "status": {"count": wants}})
    }

    fn slots(changed: &[Slot]) -> Vec<(&str, bool)> {
        let slots = changed.iter();
        slots
            .map(|slot| (slot.key.as_str(), slot.is_folded))
            .collect()
    }

    fn most(store: &IndexStore, key: &str) -> Option<i64> {
        store.folded(&BY_GROUP, key)?.downcast_ref().copied()
    }

    #[test]
    fn who_cannot_see_a_difference_is_not_told() {
        let mut store = IndexStore::new(INDEXES);
        let changed = store.learn(&key("a"), Some(&thing("x", 3)));
        assert_eq!(slots(&changed), [("x", false), ("x", true)]);
        let mut other = thing("x", 3);
        other["status"]["count"] = json!(9);
        assert!(store.learn(&key("a"), Some(&other)).is_empty());
        let changed = store.learn(&key("b"), Some(&thing("x", 2)));
        assert_eq!(
            slots(&changed),
            [("x", false)],
            "the most is still the same"
        );
    }

    #[test]
    fn a_fold_forgets_what_left() {
        let mut store = IndexStore::new(INDEXES);
        store.learn(&key("a"), Some(&thing("x", 3)));
        store.learn(&key("b"), Some(&thing("x", 2)));
        assert_eq!(most(&store, "x"), Some(3));
        let changed = store.learn(&key("a"), Some(&thing("y", 3)));
        assert_eq!(
            slots(&changed),
            [("x", false), ("x", true), ("y", false), ("y", true)]
        );
        assert_eq!((most(&store, "x"), most(&store, "y")), (Some(2), Some(3)));
        store.learn(&key("b"), None);
        assert_eq!(most(&store, "x"), None);
        assert!(store.members(&BY_GROUP, "x").is_empty());
    }

    #[test]
    fn what_a_view_cannot_read_is_nobodys_member() {
        let mut store = IndexStore::new(INDEXES);
        store.learn(&key("a"), Some(&thing("x", 3)));
        let changed = store.learn(&key("a"), Some(&json!({"spec": 7})));
        assert_eq!(slots(&changed), [("x", false), ("x", true)]);
        assert!(store.roots.is_empty() && store.slots["by group"].is_empty());
    }
}
