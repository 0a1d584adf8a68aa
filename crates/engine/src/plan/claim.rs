//! By what an object is told to be ours.

use std::sync::Arc;

use crate::{key::ObjectKey, live::LiveObject, options::Adopt};

/// What an object must say about itself to count as ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// An owner reference with this uid.
    pub owner_uid: String,
    /// Or, if no controller has it, the mark of this root.
    pub mark: Option<String>,
    /// Roots whose objects may be taken over: a sibling, or one of the same name that is gone.
    pub relatives: Arc<[ObjectKey]>,
}

impl Claim {
    /// By owner reference alone.
    pub fn of_owner(uid: &str) -> Self {
        Self {
            owner_uid: uid.to_owned(),
            mark: None,
            relatives: Arc::default(),
        }
    }

    /// Whether an object is ours.
    pub fn holds(&self, live: &LiveObject) -> bool {
        let is_marked = || {
            let root = live.marked.as_ref().map(|marked| &marked.root);
            root.is_some() && root == self.mark.as_ref()
        };
        live.belongs_to(&self.owner_uid) || (live.controller().is_none() && is_marked())
    }

    /// Whether an object is ours, or may become it.
    pub(crate) fn may_take(&self, live: &LiveObject, adopt: Adopt) -> bool {
        let is_free = || live.controller().is_none() && !live.deleting;
        self.holds(live)
            || match adopt {
                Adopt::Never => false,
                Adopt::Unowned => is_free(),
                Adopt::Relatives => is_free() || self.is_relative(live),
            }
    }

    fn is_relative(&self, live: &LiveObject) -> bool {
        let mut relatives = self.relatives.iter();
        live.controller().is_some_and(|owner| {
            relatives.any(|root| {
                root.kind.group == owner.group
                    && root.kind.kind == owner.kind
                    && root.name == owner.name
            })
        })
    }
}
