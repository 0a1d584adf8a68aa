//! One line of a plan.

use mainstay_engine::{
    field_change::FieldChange,
    key::ObjectKey,
    plan::{Action, ENGINE_UNIT, Step},
};
use mainstay_system::System;
use serde_json::{Value, json};

use crate::{
    commands::{sessions::Sessions, user_object::Asked},
    input::Item,
    printer::style,
};

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlannedChange {
    Create,
    Update,
    Delete,
    Unchanged,
    /// It belongs to somebody else, or nobody serves its kind.
    Blocked,
    /// The server would not accept it.
    Refused,
    /// Its turn has not come.
    Waiting,
    /// It cannot be told.
    Unknown,
}

impl PlannedChange {
    pub(super) const ALL: [Self; 8] = [
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Unchanged,
        Self::Blocked,
        Self::Refused,
        Self::Waiting,
        Self::Unknown,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Unchanged => "unchanged",
            Self::Blocked => "blocked",
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Unknown => "unknown",
        }
    }

    pub(super) const fn sign(self) -> (&'static str, anstyle::Style) {
        match self {
            Self::Create => ("+", style::OK),
            Self::Update => ("~", style::WARNING),
            Self::Delete => ("-", style::ERROR),
            Self::Unchanged => (" ", anstyle::Style::new()),
            Self::Blocked | Self::Refused => ("!", style::ERROR),
            Self::Waiting => ("*", style::WARNING),
            Self::Unknown => ("?", style::WARNING),
        }
    }

    /// Words for a number of objects; most plans have nobody who waits, know everything, and are accepted.
    pub(super) fn count(self, number: usize) -> Option<String> {
        match self {
            Self::Create | Self::Update | Self::Delete => {
                Some(format!("{number} to {}", self.word()))
            }
            Self::Refused | Self::Waiting | Self::Unknown if number == 0 => None,
            _ => Some(format!("{number} {}", self.word())),
        }
    }
}

/// One line of the plan.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) key: ObjectKey,
    pub(crate) change: PlannedChange,
    pub(crate) unit: &'static str,
    pub(crate) because: String,
    pub(crate) changes: Vec<FieldChange>,
    /// What there is to say besides.
    pub(crate) notes: Vec<String>,
    /// The custom resource that it comes from, unless it stands in the files itself.
    pub(crate) root: Option<ObjectKey>,
    /// What would be sent for it, and by which system.
    pub(crate) step: Option<(&'static System, Step)>,
}

impl Line {
    pub(super) fn new(
        key: &ObjectKey,
        change: PlannedChange,
        unit: &'static str,
        because: String,
    ) -> Self {
        Self {
            key: key.clone(),
            change,
            unit,
            because,
            changes: Vec::new(),
            notes: Vec::new(),
            root: None,
            step: None,
        }
    }

    /// The line of an object of the user.
    pub(super) fn of_user(item: &Item, asked: &Asked) -> Self {
        const UNIT: &str = "file";
        let applied = match asked {
            Asked::Applied(applied) => applied,
            // Where the namespace does not exist yet, neither does the object.
            Asked::NoNamespace { is_planned, .. } if *is_planned => {
                return Self::new(
                    &item.key,
                    PlannedChange::Create,
                    UNIT,
                    "does not exist".to_owned(),
                );
            }
            Asked::NoNamespace { message, .. } | Asked::Refused { message } => {
                return Self::new(&item.key, PlannedChange::Refused, UNIT, message.clone());
            }
        };
        let change = match applied.word {
            "unchanged" => PlannedChange::Unchanged,
            "configured" => PlannedChange::Update,
            _ => PlannedChange::Create,
        };
        Self {
            changes: applied.changes.clone(),
            ..Self::new(&item.key, change, UNIT, applied.because.to_owned())
        }
    }

    /// The line of a step for a root.
    pub(super) fn of_step(
        step: Step,
        system: &'static System,
        root: &ObjectKey,
        sessions: &Sessions<'_>,
    ) -> Self {
        let kind = &step.key.kind;
        let is_absent = matches!(step.action, Action::Create) && sessions.is_absent(kind);
        let change = match &step.action {
            Action::Create if is_absent => PlannedChange::Blocked,
            Action::Create => PlannedChange::Create,
            Action::Update { .. }
            | Action::PatchFinalizers { .. }
            | Action::PatchStatus { .. }
            | Action::Fixup { .. } => PlannedChange::Update,
            Action::Delete { .. } | Action::DeleteIfPresent | Action::DeleteIfOurs => {
                PlannedChange::Delete
            }
            Action::Unchanged(_) | Action::Deleting => PlannedChange::Unchanged,
            Action::Foreign { .. } | Action::Refused { .. } => PlannedChange::Blocked,
        };
        let left_out = step.check.left_out.iter().map(|field| {
            format!("{field}: left out, the installed definition does not declare it")
        });
        let notes = left_out.collect();
        let because = if is_absent {
            format!("the cluster has no kind {kind} in {}", kind.api_version())
        } else {
            step.because.clone()
        };
        Self {
            key: step.key.clone(),
            change,
            unit: step.unit,
            because,
            changes: step.changes.clone(),
            notes,
            root: Some(root.clone()),
            step: Some((system, step)),
        }
    }

    /// Whether it speaks of the root itself: its finalizer, or that it waits.
    pub(super) fn is_about_root(&self) -> bool {
        self.unit == ENGINE_UNIT || self.root.as_ref().is_none_or(|root| *root == self.key)
    }

    pub(super) fn to_json(&self, follows: bool) -> Value {
        let changes = self.changes.iter();
        let changes = changes.filter_map(|change| serde_json::to_value(change).ok());
        json!({
            "apiVersion": self.key.kind.api_version(),
            "kind": self.key.kind.kind,
            "namespace": self.key.namespace,
            "name": self.key.name,
            "action": self.change.word(),
            "unit": self.unit,
            "because": self.because,
            "changes": changes.collect::<Vec<_>>(),
            "notes": self.notes,
            "for": self.root.as_ref().map(ToString::to_string),
            "follows": follows,
        })
    }
}
