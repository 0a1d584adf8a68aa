//! Objects as the user wrote them: custom resources and whatever lies beside them in the files.
//!
//! They are applied by server-side apply under a name of their own and without force: what somebody else owns
//! is a conflict that the user must decide.

mod differences;

use std::collections::BTreeSet;

use anyhow::Context;
use kube::{
    Api, Client,
    api::{DynamicObject, GroupVersionKind, Patch, PatchParams},
    core::{Status, discovery::Scope},
    discovery::pinned_kind,
};
use mainstay_cluster::error::{causes, is_missing};
use mainstay_engine::{
    field_change::FieldChange,
    key::{Kind, ObjectKey},
};
use serde_json::{Map, Value};

use self::differences::differences;
use crate::{exit::Rejected, input::Item};

const MANAGER: &str = "mainstay";

/// What to do about fields that belong to somebody else.
const TAKE_OVER: &str = "leave the fields to the other manager, or take them over once: `kubectl apply --server-side --force-conflicts --field-manager mainstay -f FILE`";

/// What an apply of a user's object does, or would do.
#[derive(Debug)]
pub(crate) struct Applied {
    /// In one word: created, configured, unchanged.
    pub(crate) word: &'static str,
    /// Why.
    pub(crate) because: &'static str,
    /// The fields that differ, if the object exists.
    pub(crate) changes: Vec<FieldChange>,
    /// The object afterwards.
    pub(crate) after: Value,
}

/// What the server says to an apply of a user's object that is not carried out.
#[derive(Debug)]
pub(crate) enum Asked {
    /// This would happen.
    Applied(Applied),
    /// The namespace does not exist, so it could not be asked.
    NoNamespace {
        /// Text of the server.
        message: String,
        /// Whether the files bring it.
        is_planned: bool,
    },
    /// It would not be accepted.
    Refused {
        /// Text of the server.
        message: String,
    },
}

impl Asked {
    /// The object as it would be; without an answer as it stands in the file.
    pub(crate) const fn after<'asked>(&'asked self, item: &'asked Item) -> &'asked Value {
        match self {
            Self::Applied(applied) => &applied.after,
            Self::NoNamespace { .. } | Self::Refused { .. } => &item.value,
        }
    }
}

impl Applied {
    fn new(before: Option<&DynamicObject>, after: &DynamicObject) -> Self {
        let (word, because) = match before {
            None => ("created", "does not exist"),
            Some(before) if same(before, after) => ("unchanged", "as in the file"),
            Some(before) if plain(before) == plain(after) => {
                ("configured", "the file claims its fields")
            }
            Some(_) => ("configured", "the file differs"),
        };
        let after = plain(after);
        let changes = before.map(|before| differences(&plain(before), &after));
        Self {
            word,
            because,
            changes: changes.unwrap_or_default(),
            after,
        }
    }
}

/// Asks the server what an apply would do. The namespaces are those that the files bring.
pub(crate) async fn ask(
    client: &Client,
    item: &Item,
    namespaces: &BTreeSet<&str>,
) -> anyhow::Result<Asked> {
    let api = api_of(client, &item.key).await?;
    let before = before(&api, item).await?;
    match patch(&api, item, true).await {
        Ok(after) => Ok(Asked::Applied(Applied::new(before.as_ref(), &after))),
        Err(error) if is_missing(&error) => Ok(Asked::NoNamespace {
            message: causes(&error).join(": "),
            is_planned: namespaces.contains(item.key.namespace.as_str()),
        }),
        Err(kube::Error::Api(status)) if !is_about_the_file(&status) && status.code < 500 => {
            Ok(Asked::Refused {
                message: status.message.clone(),
            })
        }
        Err(error) => Err(failed(item, error)),
    }
}

/// Applies an object. One that would not change is not written.
pub(crate) async fn apply(client: &Client, item: &Item) -> anyhow::Result<Applied> {
    let api = api_of(client, &item.key).await?;
    let before = before(&api, item).await?;
    if before.is_some()
        && let Some(after) = send(&api, item, true).await?
        && before.as_ref().is_some_and(|before| same(before, &after))
    {
        return Ok(Applied::new(before.as_ref(), &after));
    }
    let after = send(&api, item, false).await?;
    let after = after.with_context(|| could_not(item))?;
    Ok(Applied::new(before.as_ref(), &after))
}

/// An object as it is in the cluster now.
pub(crate) async fn read(client: &Client, key: &ObjectKey) -> anyhow::Result<Option<Value>> {
    let api = api_of(client, key).await?;
    let found = api.get_opt(&key.name).await;
    let found = found.with_context(|| format!("could not read {key}"))?;
    Ok(found.as_ref().map(plain))
}

fn could_not(item: &Item) -> String {
    format!("could not apply {} from {}", item.key, item.place())
}

async fn before(api: &Api<DynamicObject>, item: &Item) -> anyhow::Result<Option<DynamicObject>> {
    let found = api.get_opt(&item.key.name).await;
    found.with_context(|| could_not(item))
}

/// Sends the apply. `None`: a dry run in a namespace that does not exist.
async fn send(
    api: &Api<DynamicObject>,
    item: &Item,
    dry_run: bool,
) -> anyhow::Result<Option<DynamicObject>> {
    match patch(api, item, dry_run).await {
        Ok(after) => Ok(Some(after)),
        Err(error) if dry_run && is_missing(&error) => Ok(None),
        Err(error) => Err(failed(item, error)),
    }
}

async fn patch(
    api: &Api<DynamicObject>,
    item: &Item,
    dry_run: bool,
) -> Result<DynamicObject, kube::Error> {
    let params = PatchParams {
        dry_run,
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let body = without_empty_spec(&item.value);
    api.patch(&item.key.name, &params, &Patch::Apply(&body))
        .await
}

/// Whether an answer speaks of what the file says, so that the user has to change it.
fn is_about_the_file(status: &Status) -> bool {
    status.is_conflict() || status.is_invalid()
}

fn failed(item: &Item, error: kube::Error) -> anyhow::Error {
    match error {
        kube::Error::Api(status) if is_about_the_file(&status) => Rejected {
            message: format!(
                "{}: the cluster refuses {}: {}",
                item.place(),
                item.key,
                status.message
            ),
            hint: status.is_conflict().then(|| TAKE_OVER.to_owned()),
        }
        .into(),
        error => anyhow::Error::new(error).context(could_not(item)),
    }
}

/// An empty spec says no more than none. Sent all the same, the server's merge turns one that used to hold fields into
/// null, which the schema then refuses.
fn without_empty_spec(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut()
        && fields
            .get("spec")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
    {
        fields.remove("spec");
    }
    value
}

async fn api_of(client: &Client, key: &ObjectKey) -> anyhow::Result<Api<DynamicObject>> {
    let kind = GroupVersionKind::gvk(&key.kind.group, &key.kind.version, &key.kind.kind);
    let (resource, capabilities) = match pinned_kind(client, &kind).await {
        Ok(found) => found,
        Err(error @ kube::Error::Api(_)) if !is_missing(&error) => {
            return Err(error).context("could not ask the cluster for its kinds");
        }
        Err(error @ (kube::Error::Service(_) | kube::Error::HyperError(_))) => {
            return Err(error).context("could not reach the cluster");
        }
        Err(_) => {
            return Err(not_served(&key.kind).into());
        }
    };
    Ok(match capabilities.scope {
        Scope::Namespaced => {
            let namespace = if key.namespace.is_empty() {
                "default"
            } else {
                &key.namespace
            };
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    })
}

/// The cluster does not know a kind.
pub(crate) fn not_served(kind: &Kind) -> Rejected {
    Rejected {
        message: format!("the cluster has no kind {kind} in {}", kind.api_version()),
        hint: Some(
            "for kinds of Mainstay: `mainstay crds | kubectl apply --server-side -f -`".to_owned(),
        ),
    }
}

/// Whether nothing differs, the fields that the file owns included: to become an owner is a change as well.
fn same(before: &DynamicObject, after: &DynamicObject) -> bool {
    plain(before) == plain(after) && claims(before) == claims(after)
}

/// The fields that earlier applies of the file own; none if they own nothing.
fn claims(object: &DynamicObject) -> Option<&Value> {
    let entries = object.metadata.managed_fields.iter().flatten();
    let mut ours = entries.filter(|entry| {
        entry.manager.as_deref() == Some(MANAGER) && entry.operation.as_deref() == Some("Apply")
    });
    let fields = ours.find_map(|entry| entry.fields_v1.as_ref());
    fields.map(|fields| &fields.0)
}

/// The object without the bookkeeping of the server.
fn plain(object: &DynamicObject) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    value
}
