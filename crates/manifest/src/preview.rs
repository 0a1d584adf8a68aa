//! What an apply would change. Nothing is written.

use mainstay_engine::ObjectKey;
use serde_json::{Map, Value, json};
use similar::TextDiff;

use crate::{
    apply::{Body, Strategy},
    client::{Client, ClientError, WriteOptions},
    merge::{self, Shape},
    object::Object,
    set::ManifestSet,
    transform::normalise::SERVER_METADATA,
};

/// The form of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// The object is not there; the patch is the whole object.
    Create,
    /// `kubectl patch --type strategic`.
    Strategic,
    /// `kubectl patch --type merge`.
    Merge,
}

/// What would change about one object.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The object; none if its name is yet to be made up.
    pub key: Option<ObjectKey>,
    /// The object in words.
    pub object: String,
    /// Form of the patch.
    pub kind: PatchKind,
    /// The patch, with apiVersion, kind and name.
    pub patch: Value,
    /// The object as it is, without what the server writes.
    before: Value,
    /// The object as it would be.
    after: Value,
}

impl Difference {
    /// The difference as a text, as `diff -u` writes it. Values of Secrets are hidden; that they differ is not.
    pub fn unified(&self) -> String {
        let (mut before, mut after) = (self.before.clone(), self.after.clone());
        if self.is_secret() {
            hide(&mut before, &self.after, "(hidden)", "(hidden, before)");
            hide(&mut after, &self.before, "(hidden)", "(hidden, after)");
        }
        let print = |value: &Value| match value {
            Value::Null => String::new(),
            value => mainstay_yaml::print(value),
        };
        let (before, after) = (print(&before), print(&after));
        let name = &self.object;
        let difference = TextDiff::from_lines(&before, &after);
        difference
            .unified_diff()
            .header(&format!("live {name}"), &format!("wanted {name}"))
            .to_string()
    }

    /// The patch with the values of a Secret hidden.
    pub fn patch_without_secrets(&self) -> Value {
        let mut patch = self.patch.clone();
        if self.is_secret() {
            hide(&mut patch, &Value::Null, "(hidden)", "(hidden)");
        }
        patch
    }

    fn is_secret(&self) -> bool {
        let field = |name: &str| self.patch.get(name).and_then(Value::as_str);
        field("kind") == Some("Secret") && field("apiVersion") == Some("v1")
    }
}

/// Compares a set with a cluster: one difference for each object that would change, in order.
pub async fn preview<C: Client>(
    client: &C,
    set: &ManifestSet,
    strategy: Strategy,
) -> Result<Vec<Difference>, PreviewError> {
    let mut differences = Vec::new();
    for object in set {
        let found = one(client, set, strategy, object).await;
        differences.extend(found.map_err(|source| PreviewError {
            object: object.to_string(),
            source,
        })?);
    }
    Ok(differences)
}

/// An object that could not be compared.
#[derive(Debug, thiserror::Error)]
#[error("could not compare {object}")]
pub struct PreviewError {
    /// The object.
    pub object: String,
    /// Cause.
    #[source]
    pub source: ClientError,
}

async fn one<C: Client>(
    client: &C,
    set: &ManifestSet,
    strategy: Strategy,
    object: &Object,
) -> Result<Option<Difference>, ClientError> {
    let body = Body::new(object, set.options());
    let key = object.key();
    let live = match &key {
        Some(key) => match client.get(key).await {
            // The set may bring the definition, or the namespace, itself.
            Err(ClientError::NotServed { .. }) => None,
            other => other?,
        },
        None => None,
    };
    let ours = [
        set.options().last_applied_annotation.as_str(),
        set.options().origin_annotation.as_str(),
    ];
    let difference = |kind, patch, before, after| Difference {
        key: key.clone(),
        object: object.to_string(),
        kind,
        patch,
        before,
        after,
    };
    let Some(live) = live else {
        let wanted = body.plain();
        return Ok(Some(difference(
            PatchKind::Create,
            wanted.clone(),
            Value::Null,
            wanted,
        )));
    };
    let before = comparable(&live, &ours);
    let by_server = strategy == Strategy::ServerSide || body.is_too_large_to_remember();
    let (patch, after) = if by_server {
        let options = WriteOptions {
            field_manager: &set.options().field_manager,
            dry_run: true,
            force: true,
        };
        let after = client.apply(&body.like(&live), options).await?;
        let after = comparable(&after, &ours);
        (
            merge::three_way(Some(&before), &after, &before, body.shape()),
            after,
        )
    } else {
        let patch = body.patch(&live);
        let after = merge::patched(&before, &patch, body.shape());
        let after = after.map_err(|error| ClientError::Invalid {
            message: error.to_string(),
        })?;
        (patch, after)
    };
    if patch.as_object().is_none_or(Map::is_empty) {
        return Ok(None);
    }
    let kind = match body.shape() {
        Shape::Unknown => PatchKind::Merge,
        _ => PatchKind::Strategic,
    };
    Ok(Some(difference(
        kind,
        identified(patch, object),
        before,
        after,
    )))
}

/// A patch that says what it is for.
fn identified(mut patch: Value, object: &Object) -> Value {
    let kind = object.kind();
    if let Some(fields) = patch.as_object_mut() {
        fields.insert("apiVersion".to_owned(), json!(kind.api_version()));
        fields.insert("kind".to_owned(), json!(kind.kind));
        let metadata = crate::object::inner(fields, "metadata");
        metadata.insert("name".to_owned(), json!(object.name()));
        if !object.namespace().is_empty() {
            metadata.insert("namespace".to_owned(), json!(object.namespace()));
        }
    }
    patch
}

/// An object without what the server writes and without our own annotations.
fn comparable(value: &Value, ours: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|field, _| !SERVER_METADATA.contains(&field.as_str()));
            if let Some(annotations) = metadata
                .get_mut("annotations")
                .and_then(Value::as_object_mut)
            {
                annotations.retain(|key, _| !ours.contains(&key.as_str()));
                if annotations.is_empty() {
                    metadata.remove("annotations");
                }
            }
        }
    }
    value
}

/// Replaces the values of a Secret by words: one for those that the other one has too, one for the others.
fn hide(value: &mut Value, other: &Value, same: &str, different: &str) {
    for field in ["data", "stringData"] {
        let entries = value.get_mut(field).and_then(Value::as_object_mut);
        for (key, entry) in entries
            .into_iter()
            .flatten()
            .filter(|(_, entry)| !entry.is_null())
        {
            let is_same = other.get(field).and_then(|other| other.get(key)) == Some(&*entry);
            *entry = Value::from(if is_same { same } else { different });
        }
    }
}

#[cfg(test)]
mod tests;
