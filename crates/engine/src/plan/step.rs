//! One step of a plan: what is wanted of an object, and what follows from it.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{Claim, Root};
use crate::{
    change_set::Verb,
    field_change::FieldChange,
    hidden::{Part, Whole},
    key::ObjectKey,
    live::LiveObject,
    options::{Options, Propagation, Stops, Update},
};

/// Unit name of steps that the engine itself adds.
pub const ENGINE_UNIT: &str = "engine";

/// What a step wants to reach.
#[derive(Clone, PartialEq)]
pub enum DesiredState {
    /// The object exists with these fields.
    Present {
        /// Exactly the fields that we claim.
        body: Value,
        /// How it is brought to the cluster.
        options: Options,
    },
    /// The object does not exist, if it is ours.
    Absent,
    /// The root carries exactly these finalizers.
    Finalizers(Vec<String>),
    /// The status of the root says this: a merge patch.
    Status(Value),
}

impl fmt::Debug for DesiredState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present { body, options } => formatter
                .debug_struct("Present")
                .field("body", &Whole(body))
                .field("options", options)
                .finish(),
            Self::Absent => formatter.write_str("Absent"),
            Self::Finalizers(finalizers) => formatter
                .debug_tuple("Finalizers")
                .field(finalizers)
                .finish(),
            Self::Status(status) => formatter.debug_tuple("Status").field(status).finish(),
        }
    }
}

/// What is put right on an object of ours before its fields are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixup {
    /// List items of others go: JSON pointers in the order in which they can be removed.
    RemoveForeignItems(Vec<String>),
    /// What a former manager wrote becomes ours: the new `managedFields`.
    MigrateManager(Value),
}

impl Fixup {
    /// What has to be put right on an object, if anything.
    pub(crate) fn of(live: &LiveObject, options: Options) -> Option<Self> {
        if options.leaves_alone() || options.update == Update::IfHashDiffers {
            return None;
        }
        if let Some(managed_fields) = &live.migrated_managed_fields {
            return Some(Self::MigrateManager(managed_fields.clone()));
        }
        let strips = options.exact_lists && !live.foreign_items.is_empty();
        strips.then(|| Self::RemoveForeignItems(live.foreign_items.clone()))
    }

    pub(super) fn because(&self) -> String {
        match self {
            Self::RemoveForeignItems(pointers) => {
                format!("somebody else added {}", pointers.join(", "))
            }
            Self::MigrateManager(_) => "was written by the operator before this one".to_owned(),
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
    Fixup {
        /// The object that was compared.
        uid: String,
        /// In the state in which it was compared.
        resource_version: String,
        /// What is put right.
        fixup: Fixup,
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
    /// It may be there: read, and deleted if it is ours.
    DeleteIfOurs,
    /// It is ours, not wanted, and goes already.
    Deleting,
    /// The status of the root is patched.
    PatchStatus {
        /// State of the root that was judged.
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
    /// It is not fit to be written: nothing, and a report.
    Refused {
        /// Why, and what to do.
        message: String,
    },
}

impl Action {
    pub(super) fn delete(object: &LiveObject) -> Self {
        Self::Delete {
            uid: object.uid.clone(),
            resource_version: object.resource_version.clone(),
        }
    }

    /// The action without its details.
    pub const fn planned(&self) -> Verb {
        match self {
            Self::Create => Verb::Create,
            Self::Update { .. }
            | Self::Fixup { .. }
            | Self::PatchFinalizers { .. }
            | Self::PatchStatus { .. } => Verb::Update,
            Self::Delete { .. } | Self::DeleteIfPresent | Self::DeleteIfOurs => Verb::Delete,
            Self::Unchanged(_) | Self::Deleting | Self::Foreign { .. } | Self::Refused { .. } => {
                Verb::Nothing
            }
        }
    }
}

/// How a body was checked against the installed definition of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Fields that the definition does not declare, and that are not in the body therefore.
    pub left_out: Vec<String>,
    /// Version of the definition that was looked at, if one was.
    pub version: Option<String>,
    /// The definition has to be looked at before the body is sent.
    pub is_due: bool,
}

/// One object of the plan.
#[derive(Clone, PartialEq)]
pub struct Step {
    /// The object.
    pub key: ObjectKey,
    /// The unit that asked for it.
    pub unit: &'static str,
    /// Steps of one stage run together; a stage starts when the one before has ended.
    pub stage: u16,
    /// What is wanted.
    pub desired: DesiredState,
    /// What follows from it.
    pub action: Action,
    /// Why, in words.
    pub because: String,
    /// Why, field by field; values of Secrets are hidden.
    pub changes: Vec<FieldChange>,
    /// What an existing object must say to count as ours.
    pub claim: Claim,
    /// What becomes of its dependents if it is deleted.
    pub propagation: Propagation,
    /// What the installed definition has to say about the body.
    pub check: Check,
    /// Facts of the object that was known when the fields were rendered from them; null if none was.
    pub facts: Value,
    /// Which later stages it stops.
    pub stops: Stops,
    /// Positions of steps of earlier stages without which this one is not carried out.
    pub needs: Vec<usize>,
    /// Runs only if nothing before it failed that may pass: what is no longer wanted goes when its successor stands.
    pub cautious: bool,
}

impl fmt::Debug for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Step")
            .field("key", &self.key)
            .field("unit", &self.unit)
            .field("stage", &self.stage)
            .field("desired", &self.desired)
            .field("action", &self.action)
            .field("because", &self.because)
            .field("changes", &self.changes)
            .field("claim", &self.claim)
            .field("propagation", &self.propagation)
            .field("check", &self.check)
            .field("facts", &Part::of(&self.key.kind, &self.facts))
            .field("stops", &self.stops)
            .field("needs", &self.needs)
            .field("cautious", &self.cautious)
            .finish()
    }
}

impl Step {
    /// Whether it changes the root itself.
    pub(crate) const fn is_of_root(&self) -> bool {
        matches!(
            self.desired,
            DesiredState::Finalizers(_) | DesiredState::Status(_)
        )
    }

    /// A step of the engine itself, which only this unit asks for.
    fn of_engine(
        key: &ObjectKey,
        root: &Root,
        stage: u16,
        desired: DesiredState,
        action: Action,
    ) -> Self {
        Self {
            key: key.clone(),
            unit: ENGINE_UNIT,
            stage,
            desired,
            action,
            because: String::new(),
            changes: Vec::new(),
            claim: Claim::of_owner(&root.uid),
            propagation: Propagation::default(),
            check: Check::default(),
            facts: Value::Null,
            stops: Stops::Nothing,
            needs: Vec::new(),
            cautious: false,
        }
    }

    /// An object that is not wanted goes.
    pub(super) fn delete(object: &LiveObject, root: &Root, stage: u16, because: &str) -> Self {
        Self {
            because: because.to_owned(),
            ..Self::of_engine(
                &object.key,
                root,
                stage,
                DesiredState::Absent,
                Action::delete(object),
            )
        }
    }

    /// What may be in a place goes, if it is ours.
    pub(super) fn remove(
        key: &ObjectKey,
        live: Option<Arc<LiveObject>>,
        root: &Root,
        options: Options,
        because: &str,
    ) -> Self {
        let mut claim = Claim::of_owner(&root.uid);
        claim.mark = options.mark.map(|_| root.key.path());
        let action = match live {
            None => Action::DeleteIfOurs,
            Some(live) if !claim.holds(&live) => Action::Unchanged(None),
            Some(live) if live.deleting => Action::Deleting,
            Some(live) => Action::delete(&live),
        };
        Self {
            because: because.to_owned(),
            stops: options.stops,
            propagation: options.propagation,
            claim,
            ..Self::of_engine(key, root, 0, DesiredState::Absent, action)
        }
    }

    /// The status of the root says something before anything else is written.
    pub(super) fn record(root: &Root, stage: u16, status: Value) -> Self {
        let action = Action::PatchStatus {
            resource_version: root.resource_version.clone(),
        };
        Self {
            because: "records where things are put".to_owned(),
            stops: Stops::Later,
            ..Self::of_engine(&root.key, root, stage, DesiredState::Status(status), action)
        }
    }

    /// What is known by its name alone goes, if it is there.
    pub(super) fn delete_by_name(key: &ObjectKey, root: &Root, stage: u16, because: &str) -> Self {
        Self {
            because: because.to_owned(),
            stops: Stops::Later,
            ..Self::of_engine(
                key,
                root,
                stage,
                DesiredState::Absent,
                Action::DeleteIfPresent,
            )
        }
    }

    /// The root gets these finalizers.
    pub(super) fn finalizers(
        root: &Root,
        stage: u16,
        finalizers: Vec<String>,
        because: String,
    ) -> Self {
        let action = Action::PatchFinalizers {
            resource_version: root.resource_version.clone(),
        };
        Self {
            because,
            stops: Stops::Later,
            ..Self::of_engine(
                &root.key,
                root,
                stage,
                DesiredState::Finalizers(finalizers),
                action,
            )
        }
    }
}
