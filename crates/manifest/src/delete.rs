//! A set out of a cluster, in reverse order.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    apply::{Body, Cancellation, Guard, Hooks, Observer, Report, Verb},
    client::{Client, ClientError, DeleteRequest, Propagation},
    object::Object,
    set::ManifestSet,
};

/// What a delete insists on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing: whatever has the name goes.
    None,
    /// That it is the very object that was read.
    #[default]
    Uid,
    /// That it is as it was read.
    UidAndVersion,
}

/// How a set is deleted.
#[derive(Clone, Debug)]
pub struct DeleteOptions {
    /// What becomes of what belongs to the objects.
    pub propagation: Option<Propagation>,
    /// Seconds that objects have to end.
    pub grace_period: Option<u32>,
    /// What a delete insists on.
    pub precondition: Precondition,
    /// Ask the server only what would become of it.
    pub dry_run: bool,
    /// An object that is not there, or whose kind is not served, is no failure.
    pub ignore_not_found: bool,
    /// Go on with the next object after a failure.
    pub continue_on_error: bool,
    /// Longest time for all of it.
    pub deadline: Option<Duration>,
    /// Ends it early.
    pub cancellation: Cancellation,
    /// Is told of every delete, and may object.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for DeleteOptions {
    fn default() -> Self {
        Self {
            propagation: None,
            grace_period: None,
            precondition: Precondition::default(),
            dry_run: false,
            ignore_not_found: true,
            continue_on_error: false,
            deadline: None,
            cancellation: Cancellation::default(),
            observer: None,
        }
    }
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// It goes.
    Deleted,
    /// It was not there.
    Absent,
    /// It stays: a namespace that an apply of ours has not created, or an object without a name.
    Kept,
}

impl Removal {
    /// In one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Absent => "absent",
            Self::Kept => "kept",
        }
    }
}

impl fmt::Display for Removal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Deletes a set, last object first. Namespaces go only if an apply of ours has created them.
pub async fn delete<C: Client>(
    client: &C,
    set: &ManifestSet,
    options: &DeleteOptions,
) -> Report<Removal> {
    let guard = Guard::new(options.deadline, options.cancellation.clone());
    let hooks = Hooks(options.observer.as_deref());
    let mut report = Report::default();
    for object in set.objects().iter().rev() {
        let work = one(client, set, options, hooks, object);
        let result = guard.run(work).await;
        hooks.done(object, result.as_ref().map(|removal| removal.word()));
        let failed = result.is_err();
        report.rows.push((object.to_string(), result));
        if failed && (!options.continue_on_error || guard.is_over()) {
            break;
        }
    }
    report
}

async fn one<C: Client>(
    client: &C,
    set: &ManifestSet,
    options: &DeleteOptions,
    hooks: Hooks<'_>,
    object: &Object,
) -> Result<Removal, ClientError> {
    let Some(key) = object.key() else {
        return Ok(Removal::Kept);
    };
    let absent = |error: ClientError| match error {
        ClientError::NotFound { .. } | ClientError::NotServed { .. }
            if options.ignore_not_found =>
        {
            Ok(Removal::Absent)
        }
        error => Err(error),
    };
    let live = match client.get(&key).await {
        Ok(Some(live)) => live,
        Ok(None) => {
            return absent(ClientError::NotFound {
                message: format!("{key} not found"),
            });
        }
        Err(error) => return absent(error),
    };
    let is_ours = Body::new(object, set.options()).origin_of(&live).is_some();
    if object.is("", "Namespace") && !is_ours {
        return Ok(Removal::Kept);
    }
    let text = |pointer: &str| {
        live.pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let request = DeleteRequest {
        propagation: options.propagation,
        grace_period: options.grace_period,
        uid: text("/metadata/uid").filter(|_| options.precondition != Precondition::None),
        resource_version: text("/metadata/resourceVersion")
            .filter(|_| options.precondition == Precondition::UidAndVersion),
        dry_run: options.dry_run,
    };
    let work = client.delete(&key, &request);
    match hooks.around(object, Verb::Delete, work).await {
        Ok(()) => Ok(Removal::Deleted),
        // Somebody else was faster.
        Err(error) => absent(error),
    }
}

#[cfg(test)]
mod tests;
