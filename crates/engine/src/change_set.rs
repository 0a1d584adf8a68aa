//! What became of every object of a plan. Events, logs, status, command line and tests read this.

use std::{fmt, sync::Arc, time::Duration};

use crate::{key::ObjectKey, live::LiveObject};

/// Why an object could not be brought to its desired state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The object exists and is not ours; it was left as it is.
    Foreign {
        /// Who holds it.
        holder: String,
    },
    /// The API refuses the request and will refuse it again.
    Refused {
        /// Text of the API server.
        message: String,
    },
    /// The cluster does not know the kind.
    NotServed,
    /// The namespace of the object does not exist.
    NamespaceMissing {
        /// Its name.
        namespace: String,
    },
    /// What was known of the object when its fields were rendered no longer holds: they have to be rendered anew.
    Outdated,
    /// It may work later.
    Transient {
        /// What happened last.
        message: String,
    },
}

impl Failure {
    /// Whether the same request would come to the same end: waiting for it is no use.
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Foreign { .. } | Self::Refused { .. } | Self::NotServed
        )
    }
}

/// An object that two writers want differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// The object as the other one left it.
    pub live: Arc<LiveObject>,
    /// The field manager of the other one, if it can be told.
    pub rival: Option<String>,
    /// When it may be put right again.
    pub pause: Duration,
}

/// End of one object in a commit.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It did not exist and does now.
    Created(Arc<LiveObject>),
    /// It existed and was changed.
    Configured(Arc<LiveObject>),
    /// It needed nothing; the live object if it exists.
    Unchanged(Option<Arc<LiveObject>>),
    /// Somebody else keeps changing it back, so it is left alone for a while.
    Contested(Contest),
    /// Its deletion was accepted, or it was gone already.
    Deleted,
    /// Its deletion was accepted, it is not gone yet, and something waits for that.
    Deleting,
    /// Not attempted, because something before it failed.
    Skipped,
    /// Not achieved.
    Failed(Failure),
}

impl Change {
    /// One word for logs, metrics and the command line.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Created(_) => "created",
            Self::Configured(_) => "configured",
            Self::Unchanged(_) => "unchanged",
            Self::Contested(_) => "contested",
            Self::Deleted => "deleted",
            Self::Deleting => "deleting",
            Self::Skipped => "skipped",
            Self::Failed(_) => "failed",
        }
    }

    /// Whether the cluster is different now.
    pub const fn is_change(&self) -> bool {
        matches!(
            self,
            Self::Created(_) | Self::Configured(_) | Self::Deleted | Self::Deleting
        )
    }
}

/// What a plan meant to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Create it.
    Create,
    /// Change it.
    Update,
    /// Delete it.
    Delete,
    /// Leave it as it is.
    Nothing,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectChange {
    /// The object.
    pub key: ObjectKey,
    /// The unit it comes from.
    pub unit: &'static str,
    /// What was meant to become of it.
    pub planned: Verb,
    /// What became of it.
    pub change: Change,
}

/// All rows, in plan order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSet {
    /// Rows in plan order.
    pub rows: Vec<ObjectChange>,
}

impl ChangeSet {
    /// Rows of one unit.
    pub fn of_unit<'rows>(
        &'rows self,
        unit: &'rows str,
    ) -> impl Iterator<Item = &'rows ObjectChange> {
        self.rows.iter().filter(move |row| row.unit == unit)
    }

    /// Whether fields have to be rendered anew from what is known now.
    pub fn is_outdated(&self) -> bool {
        self.failures()
            .any(|(_, failure)| *failure == Failure::Outdated)
    }

    /// The rows that somebody else wants differently.
    pub fn contests(&self) -> impl Iterator<Item = (&ObjectChange, &Contest)> {
        self.rows.iter().filter_map(|row| match &row.change {
            Change::Contested(contest) => Some((row, contest)),
            _ => None,
        })
    }

    /// The failed rows.
    pub fn failures(&self) -> impl Iterator<Item = (&ObjectChange, &Failure)> {
        self.rows.iter().filter_map(|row| match &row.change {
            Change::Failed(failure) => Some((row, failure)),
            _ => None,
        })
    }
}

impl fmt::Display for Contest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("is changed back again and again, ")?;
        match &self.rival {
            Some(manager) => write!(formatter, "last by the field manager `{manager}`"),
            None => formatter.write_str("it cannot be told by whom"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { holder } => write!(
                formatter,
                "exists and {holder}; rename or remove one of the two"
            ),
            Self::Outdated => formatter.write_str("was changed meanwhile"),
            Self::NotServed => {
                formatter.write_str("the cluster does not serve its kind; install its definition")
            }
            Self::NamespaceMissing { namespace } => {
                write!(formatter, "namespace {namespace} does not exist")
            }
            Self::Refused { message } | Self::Transient { message } => formatter.write_str(message),
        }
    }
}
