//! Plan: the typed difference between what is wanted and what is there.
//!
//! `mainstay plan` prints this value and the operator executes this value; there is no other path to
//! a write.

mod claim;
mod judge;
mod step;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::Value;

pub(crate) use self::judge::differences;
use self::judge::{Found, entry_step};
pub use self::{
    claim::Claim,
    judge::MOST_ITEMS,
    step::{Action, Check, DesiredState, ENGINE_UNIT, Fixup, Step},
};
pub use crate::options::Stops;
use crate::{
    change_set::{Change, ChangeSet, Verb},
    key::{Kind, ObjectKey},
    kind::KindTable,
    live::LiveView,
    object_set::{Desired, Entry, ObjectSet},
    prune,
    reconciler::{Cleanup, Event},
    references,
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

    /// What the status of the root says now because the plan was carried out: a merge patch.
    pub fn recorded(&self, changes: &ChangeSet) -> Option<&Value> {
        let rows = self.steps.iter().zip(&changes.rows);
        let mut recorded = rows.filter_map(|(step, row)| match (&step.desired, &row.change) {
            (DesiredState::Status(status), Change::Configured(_)) => Some(status),
            _ => None,
        });
        recorded.next()
    }

    /// The part that has to be carried out, and looked at again, before the rest can be rendered for good: values that
    /// were made up are stored first. `None` if there is nothing of the kind.
    #[must_use]
    pub fn generated_first(&self) -> Option<Self> {
        let is_generated = |step: &Step| {
            let comes_first = matches!(&step.desired, DesiredState::Present { options, .. } if options.generated_first);
            comes_first && !matches!(step.action, Action::Unchanged(_))
        };
        let comes_first =
            |step: &Step| is_generated(step) || matches!(step.desired, DesiredState::Finalizers(_));
        if !self.steps.iter().any(is_generated) {
            return None;
        }
        let first = self.steps.iter().filter(|step| comes_first(step));
        // Nothing among them refers to anything else.
        let steps = first.map(|step| Step {
            needs: Vec::new(),
            ..step.clone()
        });
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

/// What holds a root while it lives, and what becomes of its objects when it goes.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle {
    /// Finalizer of the root, if the system uses one.
    pub finalizer: Option<&'static str>,
    /// Whether the finalizer is added even if nothing else can be done for the root.
    pub early_finalizer: bool,
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

impl Lifecycle {
    /// No finalizer.
    pub const PLAIN: Self = Self {
        finalizer: None,
        early_finalizer: false,
        deletion: Deletion::Explicit,
    };
}

/// Plans the desired objects of a root that stays.
pub fn plan(root: &Root, set: &ObjectSet, live: &dyn LiveView, lifecycle: &Lifecycle) -> Plan {
    let mut steps = Vec::from_iter(added_finalizer(root, lifecycle));
    let mut first = FINALIZER_STAGE + 1;
    if let Some(status) = set.record() {
        steps.push(Step::record(root, first, status.clone()));
        first += 1;
    }
    let mut needs = Vec::new();
    let relatives: Arc<[ObjectKey]> = set.relatives().into();
    for entry in set.iter() {
        let phase = match &entry.desired {
            Desired::Present { options, .. } | Desired::Absent { options, .. } => options.phase,
        };
        let stage = phase.saturating_add(first).min(PRUNE_STAGE - 1);
        needs.extend(needs_of(entry));
        let found = found(set, &entry.key, live);
        steps.push(entry_step(entry, stage, found, root, &relatives));
    }
    for (key, options) in set.prune.places(set) {
        let step = Step::remove(key, live.get(key), root, *options, "no longer rendered");
        steps.push(Step {
            stage: PRUNE_STAGE,
            cautious: true,
            ..step
        });
    }
    for object in prune::left_over(&root.uid, set, live) {
        steps.push(Step {
            cautious: true,
            ..Step::delete(&object, root, PRUNE_STAGE, "no longer rendered")
        });
    }
    steps.sort_by_key(|step| step.stage);
    connect(&mut steps, &needs);
    Plan {
        steps,
        events: set.events().to_vec(),
    }
}

/// Pairs of an object and one that it needs: what a unit stated, and what its pods refer to.
fn needs_of(entry: &Entry) -> BTreeSet<(ObjectKey, ObjectKey)> {
    let referred = match &entry.desired {
        Desired::Present { body, .. } => references::of(body),
        Desired::Absent { .. } => Vec::new(),
    };
    let needed = entry.needs.iter().cloned().chain(referred);
    needed.map(|key| (entry.key.clone(), key)).collect()
}

/// Tells steps the positions of those that they need.
fn connect(steps: &mut [Step], needs: &[(ObjectKey, ObjectKey)]) {
    let position = |(position, step): (usize, &Step)| (step.key.clone(), (position, step.stage));
    let positions: HashMap<ObjectKey, (usize, u16)> =
        steps.iter().enumerate().map(position).collect();
    for (key, needed) in needs {
        let (Some(&(user, stage)), Some(&(used, before))) =
            (positions.get(key), positions.get(needed))
        else {
            continue;
        };
        if let Some(step) = steps.get_mut(user).filter(|_| before < stage) {
            step.needs.push(used);
        }
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
pub fn plan_nothing(root: &Root, lifecycle: &Lifecycle) -> Plan {
    let finalizer = added_finalizer(root, lifecycle).filter(|_| lifecycle.early_finalizer);
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
    lifecycle: &Lifecycle,
) -> Plan {
    match early {
        Some(early) => plan(root, early, live, lifecycle),
        None => plan_nothing(root, lifecycle),
    }
}

/// Plans the end of a root: its objects go kind by kind in the reverse order of the table, then those in the places that
/// it names, group by group, then what departs with it although no owner reference says so, then the finalizer.
pub fn plan_deletion(
    root: &Root,
    declared: &KindTable,
    live: &dyn LiveView,
    lifecycle: &Lifecycle,
    cleanup: &Cleanup,
) -> Plan {
    let mut steps = match lifecycle.deletion {
        Deletion::Explicit => removals(root, declared, live),
        Deletion::ByOwnerReference => Vec::new(),
    };
    for (key, options) in &cleanup.places {
        let step = Step::remove(key, live.get(key), root, *options, OWNER_LEAVES);
        let stage = options.phase.min(PRUNE_STAGE - 1);
        steps.push(Step { stage, ..step });
    }
    steps.sort_by_key(|step| step.stage);
    let departing = cleanup.objects.iter();
    steps.extend(departing.map(|key| Step::delete_by_name(key, root, PRUNE_STAGE, OWNER_LEAVES)));
    if let Some(finalizer) = lifecycle.finalizer
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
    let owned = live.owned_by(&root.uid).into_iter();
    let owned = owned.filter(|object| !object.deleting);
    let steps = owned.map(|object| Step {
        stops: Stops::Later,
        ..Step::delete(&object, root, rank(&object.key.kind), OWNER_LEAVES)
    });
    steps.collect()
}

/// The step that adds the finalizer, if the root lacks it.
fn added_finalizer(root: &Root, lifecycle: &Lifecycle) -> Option<Step> {
    let finalizer = lifecycle
        .finalizer
        .filter(|&wanted| root.finalizers.iter().all(|held| held != wanted))?;
    let finalizers = root.finalizers.iter().cloned();
    let finalizers = finalizers.chain([finalizer.to_owned()]).collect();
    let because = format!("adds finalizer {finalizer}");
    Some(Step::finalizers(root, FINALIZER_STAGE, finalizers, because))
}

#[cfg(test)]
mod tests;
