//! The objects of the model in the terms of the engine.

use std::sync::Arc;

use mainstay_engine::{
    Kind, ObjectKey,
    kind::{DeclaredKind, KindTable, Role},
    live::{LiveObject, Owner},
    mark::{Mark, Marked},
    options::{Adopt, Options, Stops, Update},
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
    /// Written if its hash differs; a mark tells whose it is as well as an owner does.
    Hash,
    /// The same without an owner: it stays when its root goes.
    Protected,
}

impl Policy {
    pub(crate) const fn is_marked(self) -> bool {
        matches!(self, Self::Hash | Self::Protected)
    }
}

/// The mark of the model.
static MARK: Mark = Mark {
    label: ("by", "us"),
    name: "/metadata/annotations/root",
    namespace: Some("/metadata/annotations/namespace"),
    hash: "/metadata/annotations/hash",
};

/// How a system brings its objects to the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) lifecycle: Lifecycle,
    pub(crate) exact_lists: bool,
    pub(crate) stops: Stops,
    /// The status of the root says where things were put.
    pub(crate) inventory: bool,
}

/// A finalizer on the root, two stages, and everything that is not rendered goes: the way of Kaoto.
pub(crate) const KAOTO: Manner = Manner {
    lifecycle: Lifecycle {
        finalizer: Some(FINALIZER),
        ..Lifecycle::PLAIN
    },
    exact_lists: false,
    stops: Stops::Nothing,
    inventory: false,
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
    stops: Stops::LaterUnlessRefused,
    inventory: false,
};

/// The way of Connectors: every failure stops what comes after it, an inventory says where to look, and a deleted root
/// waits for one group to be gone before it deletes the next.
pub(crate) const CONNECTORS: Manner = Manner {
    lifecycle: Lifecycle {
        deletion: Deletion::ByOwnerReference,
        ..KAOTO.lifecycle
    },
    exact_lists: false,
    stops: Stops::Later,
    inventory: true,
};

impl Manner {
    pub(crate) fn options(self, slot: Slot, policy: Policy) -> Options {
        let options = Options {
            phase: u16::from(slot.late),
            stops: match self.stops {
                Stops::Later => Stops::After(u16::from(slot.late)),
                stops => stops,
            },
            exact_lists: self.exact_lists,
            ..Options::DEFAULT
        };
        match policy {
            Policy::Apply => options,
            Policy::CreateOnce => options.once(),
            Policy::Generated => options.generated(),
            Policy::Recreate => options.recreated(),
            Policy::Adopt => options.adopting(),
            Policy::Hash | Policy::Protected => Options {
                update: Update::IfHashDiffers,
                mark: Some(&MARK),
                adopt: Adopt::Relatives,
                ..options
            },
        }
    }

    /// How what may be in a place goes: what is written last goes first, and the rest waits until that is gone.
    pub(crate) fn removal(slot: Slot) -> Options {
        Options {
            phase: u16::from(!slot.late),
            stops: Stops::UntilGone,
            mark: slot.is_marked().then_some(&MARK),
            ..Options::DEFAULT
        }
    }
}

/// A root whose objects may be taken over.
pub(crate) fn sibling() -> ObjectKey {
    ObjectKey {
        name: SIBLING.to_owned(),
        ..root_key()
    }
}

const SIBLING: &str = "sibling";

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
    let mut metadata = json!({"name": key.name, "namespace": key.namespace});
    if slot.is_marked() {
        metadata["labels"] = json!({"by": "us"});
        metadata["annotations"] = json!({"root": "thing", "namespace": "here", "hash": "desired"});
    }
    if slot.is_marked() && !slot.is_unowned() {
        metadata["ownerReferences"] = json!([{"name": "thing", "uid": OWNER_UID}]);
    }
    json!({
        "apiVersion": key.kind.api_version(),
        "kind": key.kind.kind,
        "metadata": metadata,
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
        name: if uid == OWNER_UID { "thing" } else { uid }.to_owned(),
        uid: uid.to_owned(),
        controller: true,
    };
    let spec = match object.content {
        Content::Desired | Content::Intruded | Content::Edited => "desired",
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
            Holder::Sibling => vec![owner(SIBLING)],
            Holder::Nobody | Holder::Marked => Vec::new(),
        },
        owned: owned(content_field(slot), spec, object.holder),
        marked: mark_of(object, spec).filter(|_| slot.is_marked()),
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

/// The mark that an object carries.
fn mark_of(object: Object, hash: &str) -> Option<Marked> {
    let root = match object.holder {
        Holder::Ours | Holder::Marked => "here/thing",
        Holder::Sibling => "here/sibling",
        Holder::Nobody | Holder::Another => return None,
    };
    Some(Marked {
        root: root.to_owned(),
        hash: hash.to_owned(),
    })
}

/// Whether a live object is what a step with this body and policy is there for.
pub(crate) fn is_as_wanted(live: &LiveObject, body: &Value, options: Options) -> bool {
    if options.update == Update::IfHashDiffers {
        let is_owned =
            body.pointer("/metadata/ownerReferences").is_none() || live.belongs_to(OWNER_UID);
        return is_owned && !live.deleting && live.marked == MARK.read(body);
    }
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
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts: Value::Null,
    })
}

/// The place of a key; `None` for the root.
pub(crate) fn place_of(key: &ObjectKey) -> Option<usize> {
    NAMES.iter().position(|&name| name == key.name)
}
