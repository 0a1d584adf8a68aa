//! A set into a cluster, object by object, in order.

mod body;
mod guard;
mod hooks;

use std::{fmt, sync::Arc, time::Duration};

use mainstay_engine::owned::Owned;
use serde_json::Value;

pub(crate) use self::{body::Body, guard::Guard, hooks::Hooks};
pub use self::{
    guard::Cancellation,
    hooks::{Observer, Verb},
};
use crate::{
    client::{Client, ClientError, WriteOptions},
    merge,
    object::Object,
    set::ManifestSet,
};

/// Times that an object is read again because somebody else wrote meanwhile.
const TRIES: usize = 4;

/// Longest time that a kind takes to be served once its definition is there, and the pause between two looks.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);

/// How an object that is there is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// By a merge of what was applied last, what is wanted, and what there is, as `kubectl apply` does.
    #[default]
    ThreeWay,
    /// By the server, which remembers who wrote which field.
    ServerSide,
}

/// How a set is applied.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// How objects that are there are changed.
    pub strategy: Strategy,
    /// Lay the wanted object over the live one if the server refuses the merged one as invalid.
    pub overwrite: bool,
    /// Ask the server only what would become of it.
    pub dry_run: bool,
    /// Go on with the next object after a failure.
    pub continue_on_error: bool,
    /// Longest time for all of it.
    pub deadline: Option<Duration>,
    /// Ends it early.
    pub cancellation: Cancellation,
    /// Is told of every write, and may object.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            overwrite: true,
            dry_run: false,
            continue_on_error: false,
            deadline: None,
            cancellation: Cancellation::default(),
            observer: None,
        }
    }
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created,
    /// It was there and is different now.
    Configured,
    /// It is as it was.
    Unchanged,
}

impl Change {
    /// In one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// What became of each object, in the order of the work.
#[derive(Clone, Debug)]
pub struct Report<C> {
    /// Objects, each with what became of it.
    pub rows: Vec<(String, Result<C, ClientError>)>,
}

impl<C> Default for Report<C> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<C> Report<C> {
    /// Objects that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &ClientError)> {
        let rows = self.rows.iter();
        rows.filter_map(|(object, result)| Some((object.as_str(), result.as_ref().err()?)))
    }
}

/// Applies a set. Without `continue_on_error` the first failure ends it, and is the last row of the report.
///
/// What the server writes into objects (`status`, versions) is not part of what is wanted, whatever the set says.
pub async fn apply<C: Client>(
    client: &C,
    set: &ManifestSet,
    options: &ApplyOptions,
) -> Report<Change> {
    let guard = Guard::new(options.deadline, options.cancellation.clone());
    let hooks = Hooks(options.observer.as_deref());
    let mut report = Report::default();
    let mut expects_absence = false;
    for object in set {
        let work = ApplyOne {
            client,
            set,
            options,
            hooks,
            object,
            expects_absence,
        };
        let result = guard.run(work.run()).await;
        hooks.done(object, result.as_ref().map(|change| change.word()));
        let failed = result.is_err();
        expects_absence = matches!(result, Ok(Change::Created));
        report.rows.push((object.to_string(), result));
        if failed && (!options.continue_on_error || guard.is_over()) {
            break;
        }
    }
    report
}

struct ApplyOne<'set, C> {
    client: &'set C,
    set: &'set ManifestSet,
    options: &'set ApplyOptions,
    hooks: Hooks<'set>,
    object: &'set Object,
    /// The object before this one was not there. Then this one is created without a look: the server refuses it if it is
    /// there. A new set costs one request for each object that way.
    expects_absence: bool,
}

impl<C: Client> ApplyOne<'_, C> {
    fn write(&self) -> WriteOptions<'_> {
        WriteOptions {
            field_manager: &self.set.options().field_manager,
            dry_run: self.options.dry_run,
            force: true,
        }
    }

    /// Applies the object; if its kind is one that the set itself defines, as soon as the cluster serves it.
    async fn run(&self) -> Result<Change, ClientError> {
        let mut waited = Duration::ZERO;
        loop {
            match self.once().await {
                Err(ClientError::NotServed { .. } | ClientError::NotFound { .. })
                    if waited < LONGEST_WAIT && self.is_defined_here() && !self.options.dry_run =>
                {
                    tokio::time::sleep(PAUSE).await;
                    waited += PAUSE;
                }
                other => return other,
            }
        }
    }

    fn is_defined_here(&self) -> bool {
        let text = |object: &Object, pointer: &str| {
            let found = object.value().pointer(pointer).and_then(Value::as_str);
            found.map(str::to_owned)
        };
        let mut definitions = self.set.iter().filter(|object| object.is_definition());
        definitions.any(|definition| {
            text(definition, "/spec/group").as_deref() == Some(self.object.group())
                && text(definition, "/spec/names/kind").as_deref() == Some(self.object.kind_name())
        })
    }

    async fn once(&self) -> Result<Change, ClientError> {
        let body = Body::new(self.object, self.set.options());
        let Some(key) = self.object.key() else {
            // There is nothing that it could be compared with.
            self.create(&body.plain()).await?;
            return Ok(Change::Created);
        };
        if self.expects_absence && self.strategy(&body) == Strategy::ThreeWay {
            match self.introduce(&body).await {
                Err(ClientError::AlreadyExists { .. }) => {}
                other => return other,
            }
        }
        let mut last = ClientError::Conflict {
            message: format!("{key} was changed again and again"),
        };
        for _ in 0..TRIES {
            let tried = match self.client.get(&key).await? {
                None => self.introduce(&body).await,
                Some(live) => self.change(&body, live).await,
            };
            match tried {
                Err(error @ (ClientError::Conflict { .. } | ClientError::AlreadyExists { .. })) => {
                    last = error;
                }
                other => return other,
            }
        }
        Err(last)
    }

    /// For an object that is not there.
    async fn introduce(&self, body: &Body<'_>) -> Result<Change, ClientError> {
        match self.strategy(body) {
            Strategy::ThreeWay => self.create(&body.created()).await?,
            Strategy::ServerSide => {
                self.server_side(&body.marked()).await?;
            }
        }
        Ok(Change::Created)
    }

    /// For an object that is there.
    async fn change(&self, body: &Body<'_>, live: Value) -> Result<Change, ClientError> {
        match self.strategy(body) {
            Strategy::ThreeWay => self.three_way(body, live).await,
            Strategy::ServerSide => {
                let wanted = body.like(&live);
                if is_applied(&wanted, &live, self.write().field_manager) {
                    return Ok(Change::Unchanged);
                }
                let after = self.server_side(&wanted).await?;
                let version = |value: &Value| value.pointer("/metadata/resourceVersion").cloned();
                Ok(if version(&after) == version(&live) {
                    Change::Unchanged
                } else {
                    Change::Configured
                })
            }
        }
    }

    async fn three_way(&self, body: &Body<'_>, live: Value) -> Result<Change, ClientError> {
        let patch = body.patch(&live);
        if patch.as_object().is_none_or(serde_json::Map::is_empty) {
            return Ok(Change::Unchanged);
        }
        let merged = merge::patched(&live, &patch, body.shape());
        let merged = merged.map_err(|error| ClientError::Invalid {
            message: error.to_string(),
        })?;
        tracing::debug!(object = %self.object, bytes = patch.to_string().len(), "Patching");
        let updated = self.update(&body.with_last_applied(merged)).await;
        match updated {
            Err(ClientError::Invalid { .. }) if self.options.overwrite => {
                let mut laid = live;
                merge::overlay(&mut laid, &body.plain());
                self.update(&body.with_last_applied(laid)).await?;
                Ok(Change::Configured)
            }
            other => other.map(|()| Change::Configured),
        }
    }

    /// An object whose annotation would be larger than annotations may be is left to the server.
    fn strategy(&self, body: &Body<'_>) -> Strategy {
        if body.is_too_large_to_remember() {
            Strategy::ServerSide
        } else {
            self.options.strategy
        }
    }

    async fn create(&self, value: &Value) -> Result<(), ClientError> {
        let work = self.client.create(value, self.write());
        self.hooks
            .around(self.object, Verb::Create, work)
            .await
            .map(drop)
    }

    async fn update(&self, value: &Value) -> Result<(), ClientError> {
        let work = self.client.update(value, self.write());
        self.hooks
            .around(self.object, Verb::Update, work)
            .await
            .map(drop)
    }

    async fn server_side(&self, value: &Value) -> Result<Value, ClientError> {
        let work = self.client.apply(value, self.write());
        self.hooks.around(self.object, Verb::Apply, work).await
    }
}

/// Whether an apply would change nothing: our manager owns just these fields with just these values.
fn is_applied(wanted: &Value, live: &Value, manager: &str) -> bool {
    let entries = live
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    let ours = entries.into_iter().flatten().find(|entry| {
        let is = |field: &str, text: &str| entry.get(field).and_then(Value::as_str) == Some(text);
        is("manager", manager) && is("operation", "Apply") && entry.get("subresource").is_none()
    });
    let fields = ours.and_then(|entry| entry.get("fieldsV1"));
    fields.is_some_and(|fields| {
        Owned::from_field_set(fields, live)
            .differences(wanted)
            .is_empty()
    })
}

#[cfg(test)]
mod tests;
