//! Objects as the user wrote them: custom resources and whatever lies beside them in the files.
//!
//! They are applied by server-side apply under a name of their own and without force: what somebody else owns
//! is a conflict that the user must decide.

use anyhow::Context;
use kube::{
    Api, Client,
    api::{DynamicObject, GroupVersionKind, Patch, PatchParams},
    core::discovery::Scope,
    discovery::pinned_kind,
};
use mainstay_cluster::error::is_missing;
use mainstay_engine::key::{Kind, ObjectKey};
use serde_json::{Map, Value};

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
    /// The object afterwards.
    pub(crate) after: Value,
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
        Self {
            word,
            because,
            after: plain(after),
        }
    }
}

/// Asks the server what an apply would do. `None`: the namespace does not exist yet, so it could not be asked.
pub(crate) async fn ask(client: &Client, item: &Item) -> anyhow::Result<Option<Applied>> {
    let api = api_of(client, &item.key).await?;
    let before = before(&api, item).await?;
    let after = send(&api, item, true).await?;
    Ok(after.map(|after| Applied::new(before.as_ref(), &after)))
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
    let params = PatchParams {
        dry_run,
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    };
    match api
        .patch(
            &item.key.name,
            &params,
            &Patch::Apply(&without_empty_spec(&item.value)),
        )
        .await
    {
        Ok(after) => Ok(Some(after)),
        Err(kube::Error::Api(status)) if dry_run && status.is_not_found() => Ok(None),
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_invalid() => {
            Err(Rejected {
                message: format!(
                    "{}: the cluster refuses {}: {}",
                    item.place(),
                    item.key,
                    status.message
                ),
                hint: status.is_conflict().then(|| TAKE_OVER.to_owned()),
            }
            .into())
        }
        Err(error) => Err(error).with_context(|| could_not(item)),
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
