//! Plan: the typed difference between what is wanted and what is there.
//!
//! `mainstay plan` prints this value and the operator executes this value; there is no other path to
//! a write.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    change_set::Planned,
    field_change::FieldChange,
    key::{Kind, ObjectKey},
    kind::DeclaredKind,
    live::{LiveObject, LiveView},
    object_set::{Entry, ObjectSet, Policy, Wish},
};

/// The object for which a pass runs: the custom resource that owns all others.
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

/// What a step wants to reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// The object exists with these fields.
    Present {
        /// Exactly the fields that we claim.
        body: Value,
        /// How changes are made.
        policy: Policy,
    },
    /// The object does not exist, if it is ours.
    Absent,
    /// The root carries exactly these finalizers.
    Finalizers(Vec<String>),
}

/// What is put right on an object of ours before its fields are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mending {
    /// List items of others go: JSON pointers in the order in which they can be removed.
    Strip(Vec<String>),
    /// What a former manager wrote becomes ours: the new `managedFields`.
    Inherit(Value),
}

impl Mending {
    /// What has to be put right on an object, if anything.
    pub(crate) fn of(live: &LiveObject, policy: Policy, strict_lists: bool) -> Option<Self> {
        // What is created once is not touched again.
        if policy == Policy::CreateOnce {
            return None;
        }
        if let Some(managed_fields) = &live.inheritance {
            return Some(Self::Inherit(managed_fields.clone()));
        }
        let strips = strict_lists && !live.intruders.is_empty();
        strips.then(|| Self::Strip(live.intruders.clone()))
    }

    fn because(&self) -> String {
        match self {
            Self::Strip(pointers) => format!("somebody else added {}", pointers.join(", ")),
            Self::Inherit(_) => "was written by the operator before this one".to_owned(),
        }
    }
}

/// What has to be done for it, as far as is known now.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It is not known to exist: create, and only create.
    Create,
    /// It is ours and differs.
    Update {
        /// The object that was compared.
        uid: String,
        /// In the state in which it was compared.
        resource_version: String,
    },
    /// It is ours and something has to be put right first; then it is judged again.
    Mend {
        /// The object that was compared.
        uid: String,
        /// In the state in which it was compared.
        resource_version: String,
        /// What is put right.
        mending: Mending,
    },
    /// It is ours and not wanted.
    Delete {
        /// The object that was judged.
        uid: String,
        /// In the state in which it was judged.
        resource_version: String,
    },
    /// It is ours by its name alone and not wanted: read, and deleted if it is there.
    DeleteIfPresent,
    /// The finalizers of the root change.
    PatchFinalizers {
        /// State of the root that was judged.
        resource_version: String,
    },
    /// Nothing.
    Unchanged(Option<Arc<LiveObject>>),
    /// It exists and is not ours: nothing, and a report.
    Foreign {
        /// Who holds it.
        holder: String,
    },
}

impl Action {
    /// The action without its details.
    pub const fn planned(&self) -> Planned {
        match self {
            Self::Create => Planned::Create,
            Self::Update { .. } | Self::Mend { .. } | Self::PatchFinalizers { .. } => {
                Planned::Update
            }
            Self::Delete { .. } | Self::DeleteIfPresent => Planned::Delete,
            Self::Unchanged(_) | Self::Foreign { .. } => Planned::Nothing,
        }
    }
}

/// One object of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The object.
    pub key: ObjectKey,
    /// The unit that asked for it.
    pub unit: &'static str,
    /// Steps of one stage run together; a stage starts when the one before has ended.
    pub stage: u16,
    /// What is wanted.
    pub goal: Goal,
    /// What follows from it.
    pub action: Action,
    /// Why, in words.
    pub because: String,
    /// Why, field by field; values of Secrets are hidden.
    pub changes: Vec<FieldChange>,
    /// Uid that an existing object must name as an owner to count as ours.
    pub owner_uid: String,
    /// Items of others in lists of this object are removed.
    pub strict_lists: bool,
    /// Facts of the object that was known when the fields were rendered from them; null if none was.
    pub facts: Value,
    /// If this step fails, no later stage runs.
    pub essential: bool,
    /// Runs only if nothing before it failed: what is no longer wanted goes when its successor stands.
    pub cautious: bool,
}

/// Ordered steps for one root.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Steps in order of execution.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Whether carrying the plan out would send nothing.
    pub fn is_noop(&self) -> bool {
        self.steps
            .iter()
            .all(|step| matches!(step.action, Action::Unchanged(_) | Action::Foreign { .. }))
    }

    /// The part that has to be carried out, and looked at again, before the rest can be rendered for good: values that
    /// were made up are stored first. `None` if there is nothing of the kind.
    #[must_use]
    pub fn beginning(&self) -> Option<Self> {
        let is_generated = |step: &Step| {
            let policy = match &step.goal {
                Goal::Present { policy, .. } => Some(*policy),
                _ => None,
            };
            policy == Some(Policy::Generated) && !matches!(step.action, Action::Unchanged(_))
        };
        let comes_first =
            |step: &Step| is_generated(step) || matches!(step.goal, Goal::Finalizers(_));
        if !self.steps.iter().any(is_generated) {
            return None;
        }
        let steps = self.steps.iter().filter(|step| comes_first(step)).cloned();
        Some(Self {
            steps: steps.collect(),
        })
    }
}

/// Unit name of steps that the engine itself adds.
pub const ENGINE_UNIT: &str = "engine";

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
            ..entry_step(entry, stage, live.get(&entry.key), root, strategy)
        });
    }
    if let Some(may_go) = strategy.prune {
        let left_over = live.owned_by(&root.uid).into_iter().filter(|object| {
            set.get(&object.key).is_none()
                && !object.deleting
                && set.is_complete_for(&object.key.kind)
                && may_go(object)
        });
        steps.extend(left_over.map(|object| Step {
            cautious: true,
            ..delete_step(&object, root, PRUNE_STAGE, "no longer rendered")
        }));
    }
    steps.sort_by_key(|step| step.stage);
    Plan { steps }
}

/// Plans for a root for which nothing can be done yet: no more than the finalizer, if it comes first.
pub fn plan_nothing(root: &Root, strategy: &Strategy<'_>) -> Plan {
    let finalizer = added_finalizer(root, strategy).filter(|_| strategy.early_finalizer);
    Plan {
        steps: finalizer.into_iter().collect(),
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
    declared: &[DeclaredKind],
    live: &dyn LiveView,
    strategy: &Strategy<'_>,
    departing: &[ObjectKey],
) -> Plan {
    let mut steps = match strategy.deletion {
        Deletion::Explicit => removals(root, declared, live),
        Deletion::ByOwnerReference => Vec::new(),
    };
    steps.extend(departing.iter().map(|key| Step {
        key: key.clone(),
        unit: ENGINE_UNIT,
        stage: PRUNE_STAGE,
        goal: Goal::Absent,
        action: Action::DeleteIfPresent,
        because: "its owner is being deleted".to_owned(),
        changes: Vec::new(),
        owner_uid: root.uid.clone(),
        strict_lists: false,
        facts: Value::Null,
        essential: true,
        cautious: false,
    }));
    if let Some(finalizer) = strategy.finalizer
        && root.finalizers.iter().any(|held| held == finalizer)
    {
        let finalizers = root
            .finalizers
            .iter()
            .filter(|&held| held != finalizer)
            .cloned()
            .collect();
        steps.push(finalizer_step(
            root,
            RELEASE_STAGE,
            finalizers,
            format!("removes finalizer {finalizer}"),
        ));
    }
    Plan { steps }
}

/// Everything that belongs to a root, from the last kind of the table to the first.
fn removals(root: &Root, declared: &[DeclaredKind], live: &dyn LiveView) -> Vec<Step> {
    let rank = |kind: &Kind| {
        let from_end = declared
            .iter()
            .rev()
            .position(|row| row.kind.group == kind.group && row.kind.kind == kind.kind);
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
            ..delete_step(
                &object,
                root,
                rank(&object.key.kind),
                "its owner is being deleted",
            )
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
    Some(finalizer_step(root, FINALIZER_STAGE, finalizers, because))
}

/// The owner that an object is rendered with; objects of one root may belong to another.
fn rendered_owner(body: &Value) -> Option<&str> {
    let owners = body.pointer("/metadata/ownerReferences")?.as_array()?;
    owners.first()?.get("uid")?.as_str()
}

fn entry_step(
    entry: &Entry,
    stage: u16,
    live: Option<Arc<LiveObject>>,
    root: &Root,
    strategy: &Strategy<'_>,
) -> Step {
    let mut owner_uid = root.uid.as_str();
    let facts = live.as_ref().map_or(Value::Null, |live| live.facts.clone());
    let (goal, action, because, changes) = match (&entry.wish, live) {
        (Wish::Present { body, policy }, live) => {
            owner_uid = rendered_owner(body).unwrap_or(owner_uid);
            let mut body = body.clone();
            if let Some(live) = live.as_ref().filter(|live| live.belongs_to(owner_uid)) {
                live.owned.keep(&mut body, strategy.sticky);
            }
            let policy = *policy;
            let strict = strategy.strict_lists;
            let (action, because, changes) = judge_present(&body, policy, live, owner_uid, strict);
            let changes = changes
                .into_iter()
                .map(|change| change.redacted(&entry.key.kind));
            let changes = changes.collect();
            (Goal::Present { body, policy }, action, because, changes)
        }
        (Wish::Absent { because }, Some(object))
            if object.belongs_to(owner_uid) && !object.deleting =>
        {
            (
                Goal::Absent,
                delete_action(&object),
                (*because).to_owned(),
                Vec::new(),
            )
        }
        (Wish::Absent { because }, _) => (
            Goal::Absent,
            Action::Unchanged(None),
            (*because).to_owned(),
            Vec::new(),
        ),
    };
    Step {
        key: entry.key.clone(),
        unit: entry.unit,
        stage,
        goal,
        action,
        because,
        changes,
        owner_uid: owner_uid.to_owned(),
        strict_lists: strategy.strict_lists,
        facts,
        essential: false,
        cautious: false,
    }
}

fn judge_present(
    body: &Value,
    policy: Policy,
    live: Option<Arc<LiveObject>>,
    owner_uid: &str,
    strict_lists: bool,
) -> (Action, String, Vec<FieldChange>) {
    let Some(object) = live else {
        return (Action::Create, "does not exist".to_owned(), Vec::new());
    };
    if !object.belongs_to(owner_uid) {
        let holder = object.holder();
        let because = format!("exists and {holder}");
        return (Action::Foreign { holder }, because, Vec::new());
    }
    if object.deleting {
        let because = "is being deleted; created anew when it is gone".to_owned();
        return (Action::Unchanged(Some(object)), because, Vec::new());
    }
    let changes = differences(body, policy, &object);
    let (uid, resource_version) = (object.uid.clone(), object.resource_version.clone());
    if let Some(mending) = Mending::of(&object, policy, strict_lists) {
        let because = mending.because();
        let action = Action::Mend {
            uid,
            resource_version,
            mending,
        };
        return (action, because, changes);
    }
    if changes.is_empty() {
        return (
            Action::Unchanged(Some(object)),
            "up to date".to_owned(),
            changes,
        );
    }
    let because = match changes.len() {
        1 => "1 field differs".to_owned(),
        count => format!("{count} fields differ"),
    };
    let action = Action::Update {
        uid,
        resource_version,
    };
    (action, because, changes)
}

/// What an apply would change on an object of ours.
pub(crate) fn differences(body: &Value, policy: Policy, live: &LiveObject) -> Vec<FieldChange> {
    match policy {
        Policy::CreateOnce => Vec::new(),
        // Whoever was first has made the values; an object without any is waiting for them.
        Policy::Generated if live.owned.at("/data").is_some() => Vec::new(),
        Policy::Generated | Policy::Apply | Policy::Recreate => live.owned.differences(body),
    }
}

fn delete_action(object: &LiveObject) -> Action {
    Action::Delete {
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
    }
}

fn delete_step(object: &LiveObject, root: &Root, stage: u16, because: &str) -> Step {
    Step {
        key: object.key.clone(),
        unit: ENGINE_UNIT,
        stage,
        goal: Goal::Absent,
        action: delete_action(object),
        because: because.to_owned(),
        changes: Vec::new(),
        owner_uid: root.uid.clone(),
        strict_lists: false,
        facts: Value::Null,
        essential: false,
        cautious: false,
    }
}

fn finalizer_step(root: &Root, stage: u16, finalizers: Vec<String>, because: String) -> Step {
    Step {
        key: root.key.clone(),
        unit: ENGINE_UNIT,
        stage,
        goal: Goal::Finalizers(finalizers),
        action: Action::PatchFinalizers {
            resource_version: root.resource_version.clone(),
        },
        because,
        changes: Vec::new(),
        owner_uid: root.uid.clone(),
        strict_lists: false,
        facts: Value::Null,
        essential: true,
        cautious: false,
    }
}

#[cfg(test)]
mod tests;
