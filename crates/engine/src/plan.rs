//! Plan: the typed difference between what is wanted and what is there.
//!
//! `mainstay plan` prints this value and the operator executes this value; there is no other path to
//! a write.

mod judge;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::judge::MOST_ITEMS;
pub(crate) use self::judge::differences;
use self::judge::{Found, entry_step};
pub use self::step::{Action, Check, DesiredState, ENGINE_UNIT, Fixup, Step};
use crate::{
    change_set::Verb,
    key::{Kind, ObjectKey},
    kind::KindTable,
    live::{LiveObject, LiveView},
    object_set::{ObjectSet, Policy},
    reconciler::Event,
};

/// The object for which a reconcile runs: the custom resource that owns all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Identity.
    pub key: ObjectKey,
    /// Uid.
    pub uid: String,
    /// Resource version.
    pub resource_version: String,
    /// Finalizers, in order.
    pub finalizers: Vec<String>,
}

/// Ordered steps for one root.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Steps in order of execution.
    pub steps: Vec<Step>,
    /// What the render had to tell: events to record on the root.
    pub events: Vec<Event>,
}

impl Plan {
    /// Whether carrying the plan out would send nothing.
    pub fn is_noop(&self) -> bool {
        self.steps
            .iter()
            .all(|step| step.action.planned() == Verb::Nothing)
    }

    /// The objects whose definitions have to be looked at before the plan is carried out.
    pub fn unchecked(&self) -> impl Iterator<Item = (&Kind, &Value)> {
        self.steps.iter().filter_map(|step| match &step.desired {
            DesiredState::Present { body, .. } if step.check.is_due => Some((&step.key.kind, body)),
            _ => None,
        })
    }

    /// The fields that installed definitions do not declare, by kind.
    pub fn left_out(&self) -> BTreeMap<&Kind, BTreeSet<&str>> {
        let mut left_out: BTreeMap<&Kind, BTreeSet<&str>> = BTreeMap::new();
        let steps = self.steps.iter();
        for step in steps.filter(|step| !step.check.left_out.is_empty()) {
            let fields = step.check.left_out.iter().map(String::as_str);
            left_out.entry(&step.key.kind).or_default().extend(fields);
        }
        left_out
    }

    /// The part that has to be carried out, and looked at again, before the rest can be rendered for good: values that
    /// were made up are stored first. `None` if there is nothing of the kind.
    #[must_use]
    pub fn generated_first(&self) -> Option<Self> {
        let is_generated = |step: &Step| {
            let policy = match &step.desired {
                DesiredState::Present { policy, .. } => Some(*policy),
                _ => None,
            };
            policy == Some(Policy::Generated) && !matches!(step.action, Action::Unchanged(_))
        };
        let comes_first =
            |step: &Step| is_generated(step) || matches!(step.desired, DesiredState::Finalizers(_));
        if !self.steps.iter().any(is_generated) {
            return None;
        }
        let steps = self.steps.iter().filter(|step| comes_first(step)).cloned();
        Some(Self {
            steps: steps.collect(),
            events: Vec::new(),
        })
    }
}

const OWNER_LEAVES: &str = "its owner is being deleted";

const FINALIZER_STAGE: u16 = 0;
const PRUNE_STAGE: u16 = u16::MAX - 1;
const RELEASE_STAGE: u16 = u16::MAX;

/// How a system wants its objects brought to the cluster.
#[derive(Clone, Copy)]
pub struct Strategy<'system> {
    /// Finalizer of the root, if the system uses one.
    pub finalizer: Option<&'system str>,
    /// Stage of a kind, counted from 0. Objects of equal stage are written together.
    pub stage: fn(&Kind) -> u16,
    /// Which owned objects outside the set are removed at the end; `None` removes nothing.
    pub prune: Option<fn(&LiveObject) -> bool>,
    /// Places (JSON pointers) where what we once set stays, although it is no longer rendered.
    pub sticky: &'system [&'system str],
    /// Whether lists are exactly as rendered, so that items of others are removed.
    pub strict_lists: bool,
    /// Whether the finalizer is added even if nothing else can be done for the root.
    pub early_finalizer: bool,
    /// Whether a stage runs only if nothing before it failed.
    pub all_essential: bool,
    /// What becomes of the objects of a root that is deleted.
    pub deletion: Deletion,
}

/// What becomes of the objects of a root that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// They are deleted one kind after the other before the root goes.
    Explicit,
    /// The cluster collects them by their owner references after the root has gone.
    ByOwnerReference,
}

impl Strategy<'_> {
    /// No finalizer, one stage, nothing removed.
    pub const PLAIN: Self = Self {
        finalizer: None,
        stage: |_| 0,
        prune: None,
        sticky: &[],
        strict_lists: false,
        early_finalizer: false,
        all_essential: false,
        deletion: Deletion::Explicit,
    };
}

impl std::fmt::Debug for Strategy<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Strategy")
            .field("finalizer", &self.finalizer)
            .finish_non_exhaustive()
    }
}

/// Plans the desired objects of a root that stays.
pub fn plan(root: &Root, set: &ObjectSet, live: &dyn LiveView, strategy: &Strategy<'_>) -> Plan {
    let mut steps = Vec::from_iter(added_finalizer(root, strategy));
    for entry in set.iter() {
        let stage = (strategy.stage)(&entry.key.kind)
            .saturating_add(FINALIZER_STAGE + 1)
            .min(PRUNE_STAGE - 1);
        steps.push(Step {
            essential: strategy.all_essential,
            ..entry_step(entry, stage, found(set, &entry.key, live), root, strategy)
        });
    }
    if let Some(may_go) = strategy.prune {
        let left_over = live.owned_by(&root.uid).into_iter().filter(|object| {
            set.get(&object.key).is_none()
                && !object.deleting
                && set.prunes(&object.key.kind)
                && may_go(object)
        });
        steps.extend(left_over.map(|object| Step {
            cautious: true,
            ..Step::delete(&object, root, PRUNE_STAGE, "no longer rendered")
        }));
    }
    steps.sort_by_key(|step| step.stage);
    Plan {
        steps,
        events: set.events().to_vec(),
    }
}

fn found(set: &ObjectSet, key: &ObjectKey, live: &dyn LiveView) -> Found {
    Found {
        live: live.get(key),
        definition: live.definition(&key.kind),
        is_of_others: set.is_of_others(&key.kind),
    }
}

/// Plans for a root for which nothing can be done yet: no more than the finalizer, if it comes first.
pub fn plan_nothing(root: &Root, strategy: &Strategy<'_>) -> Plan {
    let finalizer = added_finalizer(root, strategy).filter(|_| strategy.early_finalizer);
    Plan {
        steps: finalizer.into_iter().collect(),
        events: Vec::new(),
    }
}

/// Plans for a root that cannot be rendered to its end: the finalizer, and the objects that do not wait for the rest.
pub fn plan_early(
    root: &Root,
    early: Option<&ObjectSet>,
    live: &dyn LiveView,
    strategy: &Strategy<'_>,
) -> Plan {
    let Some(early) = early else {
        return plan_nothing(root, strategy);
    };
    // What is not in this part of the set is not left over.
    let strategy = Strategy {
        prune: None,
        ..*strategy
    };
    plan(root, early, live, &strategy)
}

/// Plans the end of a root: its objects go kind by kind in the reverse order of the table, then what departs with it
/// although no owner reference says so, then the finalizer.
pub fn plan_deletion(
    root: &Root,
    declared: &KindTable,
    live: &dyn LiveView,
    strategy: &Strategy<'_>,
    departing: &[ObjectKey],
) -> Plan {
    let mut steps = match strategy.deletion {
        Deletion::Explicit => removals(root, declared, live),
        Deletion::ByOwnerReference => Vec::new(),
    };
    let departing = departing.iter();
    steps.extend(departing.map(|key| Step::delete_by_name(key, root, PRUNE_STAGE, OWNER_LEAVES)));
    if let Some(finalizer) = strategy.finalizer
        && root.finalizers.iter().any(|held| held == finalizer)
    {
        let finalizers = root
            .finalizers
            .iter()
            .filter(|&held| held != finalizer)
            .cloned()
            .collect();
        steps.push(Step::finalizers(
            root,
            RELEASE_STAGE,
            finalizers,
            format!("removes finalizer {finalizer}"),
        ));
    }
    Plan {
        steps,
        events: Vec::new(),
    }
}

/// Everything that belongs to a root, from the last kind of the table to the first.
fn removals(root: &Root, declared: &KindTable, live: &dyn LiveView) -> Vec<Step> {
    let rank = |kind: &Kind| {
        let from_end = declared.iter().rev().position(|row| row.kind.is_like(kind));
        from_end
            .and_then(|position| u16::try_from(position).ok())
            .unwrap_or(PRUNE_STAGE)
    };
    let mut steps: Vec<Step> = live
        .owned_by(&root.uid)
        .into_iter()
        .filter(|object| !object.deleting)
        .map(|object| Step {
            essential: true,
            ..Step::delete(&object, root, rank(&object.key.kind), OWNER_LEAVES)
        })
        .collect();
    steps.sort_by_key(|step| step.stage);
    steps
}

/// The step that adds the finalizer, if the root lacks it.
fn added_finalizer(root: &Root, strategy: &Strategy<'_>) -> Option<Step> {
    let finalizer = strategy
        .finalizer
        .filter(|&wanted| root.finalizers.iter().all(|held| held != wanted))?;
    let finalizers = root.finalizers.iter().cloned();
    let finalizers = finalizers.chain([finalizer.to_owned()]).collect();
    let because = format!("adds finalizer {finalizer}");
    Some(Step::finalizers(root, FINALIZER_STAGE, finalizers, because))
}

#[cfg(test)]
mod tests;
