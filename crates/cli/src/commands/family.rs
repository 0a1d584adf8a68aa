//! The objects that belong to a custom resource, down to its pods.

use anyhow::Context;
use kube::{Client, api::ListParams};
use mainstay_cluster::{
    error::is_missing,
    resource::{api, to_value},
};
use mainstay_engine::{
    Kind,
    health::{self, Health, State},
    kind::{DeclaredKind, Role},
};
use mainstay_kaoto::kinds;
use serde_json::Value;

use crate::{
    args::ObjectArgs,
    commands::{connect, user_object::not_served},
    exit::Rejected,
};

/// An object with what belongs to it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) value: Value,
    pub(crate) health: Health,
    pub(crate) children: Vec<Self>,
}

impl Member {
    /// `Kind name`.
    pub(crate) fn title(&self) -> String {
        let text = |pointer: &str| {
            self.value
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        format!("{} {}", text("/kind"), text("/metadata/name"))
    }

    pub(crate) fn uid(&self) -> &str {
        self.value
            .pointer("/metadata/uid")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// What the cluster itself makes of our objects.
static DESCENDANTS: &[DeclaredKind] = &[
    DeclaredKind::new(
        Kind::new("apps", "v1", "ReplicaSet"),
        "replicasets",
        Role::Child,
    ),
    DeclaredKind::new(Kind::new("", "v1", "Pod"), "pods", Role::Child),
];

/// Finds a custom resource by `KIND/NAME` and collects its family. The client is for further questions.
pub(crate) async fn find(arguments: &ObjectArgs) -> anyhow::Result<(Client, Member)> {
    let rejected = |message: String, hint: &str| Rejected {
        message,
        hint: Some(hint.to_owned()),
    };
    let (kind, name) = arguments.object.split_once('/').ok_or_else(|| {
        rejected(
            format!("`{}` does not name an object", arguments.object),
            "write KIND/NAME, for example kaoto/designer",
        )
    })?;
    let row = root_row(kind).ok_or_else(|| {
        rejected(
            format!("`{kind}` is no kind of Mainstay"),
            "known kinds: kaoto",
        )
    })?;
    let client = connect(&arguments.cluster).await?;
    let namespace = arguments
        .namespace
        .as_deref()
        .unwrap_or_else(|| client.default_namespace());
    let member = collect(&client, row, namespace, name).await?;
    Ok((client, member))
}

/// Collects the family of one custom resource.
pub(crate) async fn collect(
    client: &Client,
    row: &DeclaredKind,
    namespace: &str,
    name: &str,
) -> anyhow::Result<Member> {
    let found = api(client.clone(), row, namespace).get_opt(name).await;
    if found.as_ref().is_err_and(is_missing) {
        return Err(not_served(&row.kind).into());
    }
    let found = found.with_context(|| format!("could not read {} {namespace}/{name}", row.kind))?;
    let root = found.ok_or_else(|| Rejected {
        message: format!("there is no {} {namespace}/{name}", row.kind),
        hint: Some("is the namespace right? (-n NAMESPACE)".to_owned()),
    })?;
    let mut pool = Vec::new();
    for row in kinds::KINDS
        .iter()
        .filter(|row| row.role == Role::Child)
        .chain(DESCENDANTS)
    {
        let objects = match api(client.clone(), row, namespace)
            .list(&ListParams::default())
            .await
        {
            Ok(list) => list.items,
            Err(error) if row.optional && is_missing(&error) => Vec::new(),
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("could not list {} in {namespace}", row.plural));
            }
        };
        pool.extend(objects.into_iter().map(|object| to_value(row, object)));
    }
    let root = member(to_value(row, root), &pool);
    let health = root_health(&root.value);
    Ok(Member { health, ..root })
}

/// Health of a custom resource. Its status is the word of an operator: without one nobody has looked yet.
fn root_health(root: &Value) -> Health {
    if root.get("status").is_none() && root.pointer("/metadata/deletionTimestamp").is_none() {
        return Health {
            state: State::InProgress,
            message: "no operator has looked at it yet".to_owned(),
        };
    }
    // Parity: a failure leaves observedGeneration at the last success; the conditions say what was seen.
    let conditions = root.pointer("/status/conditions").and_then(Value::as_array);
    let seen = conditions
        .into_iter()
        .flatten()
        .filter_map(|condition| condition.get("observedGeneration")?.as_i64())
        .max();
    let mut judged = root.clone();
    if let (Some(seen), Some(status)) = (seen, judged.get_mut("status")) {
        status["observedGeneration"] = Value::from(seen);
    }
    health::assess(&judged)
}

/// The row of a root kind by its kind, plural or short name.
fn root_row(word: &str) -> Option<&'static DeclaredKind> {
    let word = word.to_lowercase();
    kinds::KINDS.iter().find(|row| {
        row.role == Role::Root
            && (row.kind.kind.to_lowercase() == word || row.plural == word || word == "kd")
    })
}

fn member(value: Value, pool: &[Value]) -> Member {
    let uid = value
        .pointer("/metadata/uid")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let belongs = |object: &&Value| {
        let owners = object
            .pointer("/metadata/ownerReferences")
            .and_then(Value::as_array);
        owners
            .into_iter()
            .flatten()
            .any(|owner| owner.get("uid").and_then(Value::as_str) == Some(uid))
    };
    // A replica set without replicas is history.
    let is_history = |object: &Value| {
        object.get("kind").and_then(Value::as_str) == Some("ReplicaSet")
            && object.pointer("/spec/replicas").and_then(Value::as_i64) == Some(0)
    };
    let children = pool
        .iter()
        .filter(belongs)
        .filter(|object| !is_history(object));
    let children = children
        .map(|object| member(object.clone(), pool))
        .collect();
    Member {
        health: health::assess(&value),
        children,
        value,
    }
}
