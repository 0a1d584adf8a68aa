//! What is known of an object that exists in the cluster.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    definition::Definition,
    hidden::Part,
    key::{Kind, ObjectKey},
    mark::Marked,
    owned::Owned,
};

/// One owner reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// API group of the owner; empty for the core group.
    pub group: String,
    /// Kind of the owner.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Whether it is the managing controller.
    pub controller: bool,
}

/// A live object, reduced to what plan, commit and report need.
#[derive(Clone, PartialEq)]
pub struct LiveObject {
    /// Identity.
    pub key: ObjectKey,
    /// Uid.
    pub uid: String,
    /// Resource version.
    pub resource_version: String,
    /// Whether deletion was requested.
    pub deleting: bool,
    /// Owner references.
    pub owners: Vec<Owner>,
    /// Its mark, if its kind has one and the object carries it.
    pub marked: Option<Marked>,
    /// The fields that our field manager owns, with their values.
    pub owned: Owned,
    /// Items that somebody else put into lists of ours, as JSON pointers in the order in which they can be removed.
    pub foreign_items: Vec<String>,
    /// The `managedFields` with which what a former manager wrote is ours; `None` if there is nothing to take over.
    /// The owned fields above count as if that had been done.
    pub migrated_managed_fields: Option<Value>,
    /// What the system asked to keep of the rest (addresses, readiness); null if nothing.
    pub facts: Value,
}

impl fmt::Debug for LiveObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &self.key.kind;
        formatter
            .debug_struct("LiveObject")
            .field("key", &self.key)
            .field("uid", &self.uid)
            .field("resource_version", &self.resource_version)
            .field("deleting", &self.deleting)
            .field("owners", &self.owners)
            .field("marked", &self.marked)
            .field("owned", &Part::of(kind, &self.owned))
            .field("foreign_items", &self.foreign_items)
            .field("migrated_managed_fields", &self.migrated_managed_fields)
            .field("facts", &Part::of(kind, &self.facts))
            .finish()
    }
}

impl LiveObject {
    /// Whether the object belongs to the owner with this uid.
    pub fn belongs_to(&self, owner_uid: &str) -> bool {
        self.owners.iter().any(|owner| owner.uid == owner_uid)
    }

    /// The managing controller.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.controller)
    }

    /// Words for who holds the object, if it is not ours.
    pub fn holder(&self) -> String {
        let holder = self.controller().or(self.owners.first());
        match holder {
            Some(owner) => format!("belongs to {} {}", owner.kind, owner.name),
            None => "was not created by this operator".to_owned(),
        }
    }
}

/// Live objects as far as they are known. Absence here is no proof of absence in the cluster.
pub trait LiveView {
    /// The object with this key.
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>>;

    /// All known objects that belong to an owner, in the order of their keys.
    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>>;

    /// What is known of the installed definition of a kind; `None` if it was not looked at.
    fn definition(&self, _kind: &Kind) -> Option<Arc<Definition>> {
        None
    }
}
