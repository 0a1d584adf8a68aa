//! Plan: the typed difference between what is wanted and what is there.
//!
//! `mainstay plan` prints this value and the operator executes this value; there is no other path to
//! a write.

use std::sync::Arc;

use serde_json::Value;

use crate::{
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
    /// It is ours and not wanted.
    Delete {
        /// The object that was judged.
        uid: String,
        /// In the state in which it was judged.
        resource_version: String,
    },
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
    /// If this step fails, no later stage runs.
    pub essential: bool,
    /// Runs only if nothing before it failed: what is no longer wanted goes when its successor stands.
    pub cautious: bool,
}

/// Ordered steps for one root.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Uid of the root: the mark of what is ours.
    pub owner_uid: String,
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
    let mut steps = Vec::new();
    if let Some(finalizer) = strategy.finalizer
        && !root.finalizers.iter().any(|held| held == finalizer)
    {
        let finalizers = root
            .finalizers
            .iter()
            .cloned()
            .chain([finalizer.to_owned()])
            .collect();
        steps.push(finalizer_step(
            root,
            FINALIZER_STAGE,
            finalizers,
            format!("adds finalizer {finalizer}"),
        ));
    }
    for entry in set.iter() {
        let stage = (strategy.stage)(&entry.key.kind)
            .saturating_add(FINALIZER_STAGE + 1)
            .min(PRUNE_STAGE - 1);
        steps.push(entry_step(entry, stage, live.get(&entry.key), &root.uid));
    }
    if let Some(may_go) = strategy.prune {
        let left_over = live
            .owned_by(&root.uid)
            .into_iter()
            .filter(|object| set.get(&object.key).is_none() && !object.deleting && may_go(object));
        steps.extend(left_over.map(|object| Step {
            cautious: true,
            ..delete_step(&object, ENGINE_UNIT, PRUNE_STAGE, "no longer rendered")
        }));
    }
    steps.sort_by_key(|step| step.stage);
    Plan {
        owner_uid: root.uid.clone(),
        steps,
    }
}

/// Plans the end of a root: its objects go kind by kind in the reverse order of the table, then the finalizer.
pub fn plan_deletion(
    root: &Root,
    declared: &[DeclaredKind],
    live: &dyn LiveView,
    finalizer: Option<&str>,
) -> Plan {
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
                ENGINE_UNIT,
                rank(&object.key.kind),
                "its owner is being deleted",
            )
        })
        .collect();
    steps.sort_by_key(|step| step.stage);
    if let Some(finalizer) = finalizer
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
    Plan {
        owner_uid: root.uid.clone(),
        steps,
    }
}

fn entry_step(entry: &Entry, stage: u16, live: Option<Arc<LiveObject>>, owner_uid: &str) -> Step {
    let (goal, action, because, changes) = match (&entry.wish, live) {
        (Wish::Present { body, policy }, live) => {
            let (action, because, changes) = judge_present(entry, body, *policy, live, owner_uid);
            let (body, policy) = (body.clone(), *policy);
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
        essential: false,
        cautious: false,
    }
}

fn judge_present(
    entry: &Entry,
    body: &Value,
    policy: Policy,
    live: Option<Arc<LiveObject>>,
    owner_uid: &str,
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
    if changes.is_empty() {
        return (
            Action::Unchanged(Some(object)),
            "up to date".to_owned(),
            changes,
        );
    }
    let changes: Vec<FieldChange> = changes
        .into_iter()
        .map(|change| change.redacted(&entry.key.kind))
        .collect();
    let because = match changes.len() {
        1 => "1 field differs".to_owned(),
        count => format!("{count} fields differ"),
    };
    let action = Action::Update {
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
    };
    (action, because, changes)
}

/// What an apply would change on an object of ours.
pub(crate) fn differences(body: &Value, policy: Policy, live: &LiveObject) -> Vec<FieldChange> {
    match policy {
        Policy::CreateOnce => Vec::new(),
        Policy::Apply | Policy::Recreate => live.owned.differences(body),
    }
}

fn delete_action(object: &LiveObject) -> Action {
    Action::Delete {
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
    }
}

fn delete_step(object: &LiveObject, unit: &'static str, stage: u16, because: &str) -> Step {
    Step {
        key: object.key.clone(),
        unit,
        stage,
        goal: Goal::Absent,
        action: delete_action(object),
        because: because.to_owned(),
        changes: Vec::new(),
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
        essential: true,
        cautious: false,
    }
}

#[cfg(test)]
mod tests;
