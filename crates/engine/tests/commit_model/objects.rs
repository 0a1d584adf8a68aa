//! The objects of the model in the terms of the engine.

use std::sync::Arc;

use mainstay_engine::{
    Kind, ObjectKey,
    kind::{DeclaredKind, KindTable, Role},
    live::{LiveObject, Owner},
    options::{Options, Update},
    owned::Owned,
    plan::{Deletion, Lifecycle, Root},
};
use serde_json::{Value, json};

use super::{
    scenario::Slot,
    world::{Content, Holder, Object, PLACES, RootObject},
};

pub(crate) const FINALIZER: &str = "example.io/finalizer";
const OWNER_UID: &str = "root";
const NAMES: [&str; PLACES] = ["first", "second", "third"];

const fn row(kind: &'static str, plural: &'static str) -> DeclaredKind {
    DeclaredKind::new(Kind::new("example.io", "v1", kind), plural, Role::Child)
}

/// The kinds of the model: one is written before the other.
static ROWS: &[DeclaredKind] = &[row("Early", "earlies"), row("Late", "lates")];
pub(crate) const DECLARED: KindTable = KindTable::closed(ROWS);

/// How a place is brought to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Apply,
    CreateOnce,
    Generated,
    Recreate,
    Adopt,
}

/// How a system brings its objects to the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) lifecycle: Lifecycle,
    pub(crate) exact_lists: bool,
    pub(crate) essential: bool,
}

/// A finalizer on the root, two stages, and everything that is not rendered goes: the way of Kaoto.
pub(crate) const KAOTO: Manner = Manner {
    lifecycle: Lifecycle {
        finalizer: Some(FINALIZER),
        ..Lifecycle::PLAIN
    },
    exact_lists: false,
    essential: false,
};

/// The way of Clowder: a stage waits for the one before to succeed, lists are exactly as rendered, and the garbage
/// collector takes what a deleted root leaves behind.
pub(crate) const CLOWDER: Manner = Manner {
    lifecycle: Lifecycle {
        early_finalizer: true,
        deletion: Deletion::ByOwnerReference,
        ..KAOTO.lifecycle
    },
    exact_lists: true,
    essential: true,
};

impl Manner {
    pub(crate) fn options(self, slot: Slot, policy: Policy) -> Options {
        let options = Options {
            phase: u16::from(slot.late),
            essential: self.essential,
            exact_lists: self.exact_lists,
            ..Options::DEFAULT
        };
        match policy {
            Policy::Apply => options,
            Policy::CreateOnce => options.once(),
            Policy::Generated => options.generated(),
            Policy::Recreate => options.recreated(),
            Policy::Adopt => options.adopting(),
        }
    }
}

fn root_key() -> ObjectKey {
    ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "here", "thing")
}

pub(crate) fn key(place: usize, slot: Slot) -> ObjectKey {
    let kind = if slot.late { "Late" } else { "Early" };
    ObjectKey::new(Kind::new("example.io", "v1", kind), "here", NAMES[place])
}

/// What is wanted in a place.
pub(crate) fn body(place: usize, slot: Slot) -> Value {
    let key = key(place, slot);
    json!({
        "apiVersion": key.kind.api_version(),
        "kind": key.kind.kind,
        "metadata": {"name": key.name, "namespace": key.namespace},
        OWNER_FIELD: OWNER_UID,
        content_field(slot): "desired",
    })
}

/// Stands for the owner reference among the fields that we claim.
const OWNER_FIELD: &str = "owner";

/// The fields that are ours of an object.
fn owned(content: &str, value: &str, holder: Holder) -> Owned {
    let content = (content.to_owned(), Owned::Whole(json!(value)));
    let owner = (OWNER_FIELD.to_owned(), Owned::Whole(json!(OWNER_UID)));
    let owner = (holder == Holder::Ours).then_some(owner);
    Owned::Fields([content].into_iter().chain(owner).collect())
}

/// Values that were made up are data of Secrets.
fn content_field(slot: Slot) -> &'static str {
    if slot.is_generated() { "data" } else { "spec" }
}

/// An object as the commit sees it.
pub(crate) fn live_object(key: ObjectKey, slot: Slot, object: Object) -> LiveObject {
    let owner = |uid: &str| Owner {
        group: "example.io".to_owned(),
        kind: "Thing".to_owned(),
        name: "thing".to_owned(),
        uid: uid.to_owned(),
        controller: true,
    };
    let spec = match object.content {
        Content::Desired | Content::Intruded => "desired",
        Content::Drifted => "drifted",
        Content::Frozen => "frozen",
        Content::Inherited => "inherited",
    };
    LiveObject {
        key,
        uid: object.uid.to_string(),
        resource_version: object.version.to_string(),
        deleting: object.deleting,
        owners: match object.holder {
            Holder::Ours => vec![owner(OWNER_UID)],
            Holder::Another => vec![owner("another")],
            Holder::Nobody => Vec::new(),
        },
        owned: owned(content_field(slot), spec, object.holder),
        foreign_items: match object.content {
            Content::Intruded => vec!["/spec/1".to_owned()],
            _ => Vec::new(),
        },
        migrated_managed_fields: (object.content == Content::Inherited).then(|| json!([])),
        facts: if object.scaled {
            json!("scaled")
        } else {
            Value::Null
        },
    }
}

/// Whether a live object is what a step with this policy is there for.
pub(crate) fn is_as_wanted(live: &LiveObject, options: Options) -> bool {
    let desired = owned("spec", "desired", Holder::Ours);
    let once = options.update == Update::Once;
    let equal = once || live.owned == desired && live.foreign_items.is_empty();
    equal && !live.deleting && live.belongs_to(OWNER_UID)
}

/// The root as a reconcile observes it.
pub(crate) fn root(observed: RootObject) -> Root {
    Root {
        key: root_key(),
        uid: OWNER_UID.to_owned(),
        resource_version: observed.version.to_string(),
        finalizers: observed
            .finalizer
            .then(|| FINALIZER.to_owned())
            .into_iter()
            .collect(),
    }
}

/// The root as the answer to a finalizer patch.
pub(crate) fn live_root(root: RootObject) -> Arc<LiveObject> {
    Arc::new(LiveObject {
        key: root_key(),
        uid: OWNER_UID.to_owned(),
        resource_version: root.version.to_string(),
        deleting: root.deleting,
        owners: Vec::new(),
        owned: Owned::default(),
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: Value::Null,
    })
}

/// The place of a key; `None` for the root.
pub(crate) fn place_of(key: &ObjectKey) -> Option<usize> {
    NAMES.iter().position(|&name| name == key.name)
}
