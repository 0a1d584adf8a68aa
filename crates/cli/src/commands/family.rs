//! The objects that belong to a custom resource, down to its pods.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use kube::{Client, api::ListParams};
use mainstay_cluster::{
    error::{causes, is_forbidden, is_missing},
    resource::{api, metadata_api, to_value},
};
use mainstay_engine::{
    Kind,
    health::{self, Health, State},
    key::ObjectKey,
    kind::{DeclaredKind, Following, Role, Scope},
};
use serde_json::{Value, json};

use crate::{
    args::ObjectArgs,
    commands::{connect, user_object::not_served},
    exit::{ASK_FOR_RIGHTS, Rejected},
    printer,
    systems::OwnKind,
};

/// An object with what belongs to it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) value: Value,
    pub(crate) health: Health,
    pub(crate) children: Vec<Self>,
    /// What it waits for, though that belongs to nobody here.
    pub(crate) waits_for: Option<Box<Self>>,
}

impl Member {
    /// `Kind name`.
    pub(crate) fn title(&self) -> String {
        let text = |pointer: &str| self.text(pointer);
        format!("{} {}", text("/kind"), text("/metadata/name"))
    }

    pub(crate) fn uid(&self) -> &str {
        self.text("/metadata/uid")
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        let value = self.value.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    }
}

/// The kinds that could not be looked at, and why.
#[derive(Debug, Default)]
pub(crate) struct Gaps(BTreeMap<String, String>);

impl Gaps {
    /// Says what is missing from the family, and what to do about it.
    fn tell(&self) {
        let gaps = self.0.iter();
        gaps.for_each(|(plural, why)| printer::gap(plural, why, "its objects are left out"));
        if !self.0.is_empty() {
            printer::to_stderr(&format!("hint: {ASK_FOR_RIGHTS}\n"));
        }
    }
}

/// What the cluster itself makes of our objects.
static DESCENDANTS: &[DeclaredKind] = &[
    DeclaredKind::new(
        Kind::new("apps", "v1", "ReplicaSet"),
        "replicasets",
        Role::Child,
    ),
    DeclaredKind::new(Kind::new("batch", "v1", "Job"), "jobs", Role::Child),
    DeclaredKind::new(Kind::new("", "v1", "Pod"), "pods", Role::Child),
];

/// Finds a custom resource by `KIND/NAME` and collects its family. The client is for further questions.
pub(crate) async fn find(arguments: &ObjectArgs) -> anyhow::Result<(Client, Member)> {
    let rejected = |message: String, hint: String| Rejected {
        message,
        hint: Some(hint),
    };
    let (kind, name) = arguments.object.split_once('/').ok_or_else(|| {
        rejected(
            format!("`{}` does not name an object", arguments.object),
            "write KIND/NAME, for example kaoto/designer".to_owned(),
        )
    })?;
    let own = OwnKind::named(kind).ok_or_else(|| {
        let known = OwnKind::all().map(|own| own.row.kind.kind.to_lowercase());
        rejected(
            format!("`{kind}` is no kind of Mainstay"),
            format!("known kinds: {}", known.collect::<Vec<_>>().join(", ")),
        )
    })?;
    let client = connect(&arguments.cluster).await?;
    let namespace = match own.row.scope {
        Scope::Cluster => "",
        Scope::Namespaced => arguments
            .namespace
            .as_deref()
            .unwrap_or_else(|| client.default_namespace()),
    };
    let mut gaps = Gaps::default();
    let member = collect(&client, own, namespace, name, &mut gaps).await?;
    gaps.tell();
    Ok((client, member))
}

/// Collects the family of one custom resource, and those of the app or environment that it waits for.
pub(crate) async fn collect(
    client: &Client,
    own: OwnKind,
    namespace: &str,
    name: &str,
    gaps: &mut Gaps,
) -> anyhow::Result<Member> {
    let mut member = relatives(client, own, namespace, name, gaps).await?;
    wait_for(client, &mut member, gaps).await?;
    Ok(member)
}

/// Finds out what an object waits for, and what that waits for.
async fn wait_for(client: &Client, member: &mut Member, gaps: &mut Gaps) -> anyhow::Result<()> {
    let mut waiting = member;
    while waiting.health.state != State::Current {
        let Some(own) = ObjectKey::of(&waiting.value).and_then(|key| OwnKind::find(&key.kind))
        else {
            break;
        };
        let waits_for = own.system.explain.waits_for;
        let Some(key) = waits_for(&waiting.value, &waiting.health) else {
            break;
        };
        let Some(own) = OwnKind::find(&key.kind) else {
            break;
        };
        let Some(root) = read(client, own, &key.namespace, &key.name).await? else {
            break;
        };
        let found = with_relatives(client, own, root, gaps).await?;
        waiting = waiting.waits_for.insert(Box::new(found));
    }
    Ok(())
}

async fn relatives(
    client: &Client,
    own: OwnKind,
    namespace: &str,
    name: &str,
    gaps: &mut Gaps,
) -> anyhow::Result<Member> {
    let Some(root) = read(client, own, namespace, name).await? else {
        let (place, hint) = match own.row.scope {
            Scope::Cluster => (name.to_owned(), None),
            Scope::Namespaced => (
                format!("{namespace}/{name}"),
                Some("is the namespace right? (-n NAMESPACE)".to_owned()),
            ),
        };
        return Err(Rejected {
            message: format!("there is no {} {place}", own.row.kind),
            hint,
        }
        .into());
    };
    with_relatives(client, own, root, gaps).await
}

/// Reads a custom resource; `None` if there is none.
async fn read(
    client: &Client,
    own: OwnKind,
    namespace: &str,
    name: &str,
) -> anyhow::Result<Option<Value>> {
    let row = own.row;
    let found = api(client.clone(), row, namespace).get_opt(name).await;
    if found.as_ref().is_err_and(is_missing) {
        return Err(not_served(&row.kind).into());
    }
    let found = found.with_context(|| format!("could not read {} {namespace}/{name}", row.kind))?;
    Ok(found.map(|object| to_value(row, object)))
}

async fn with_relatives(
    client: &Client,
    own: OwnKind,
    root: Value,
    gaps: &mut Gaps,
) -> anyhow::Result<Member> {
    // The children of an object without a namespace are anywhere.
    let namespace = root.pointer("/metadata/namespace").and_then(Value::as_str);
    let namespace = namespace.unwrap_or_default().to_owned();
    let mut pool = Vec::new();
    for row in own
        .system
        .kinds
        .iter()
        .filter(|row| row.role == Role::Child)
    {
        pool.extend(list(client, row, &namespace, gaps).await?);
    }
    let uid = root.pointer("/metadata/uid").and_then(Value::as_str);
    let uid = uid.unwrap_or_default().to_owned();
    let children = pool.iter().filter(|object| belongs(object, &uid));
    let namespaces: BTreeSet<String> = children
        .filter_map(|child| child.pointer("/metadata/namespace")?.as_str())
        .map(str::to_owned)
        .collect();
    for namespace in &namespaces {
        for row in DESCENDANTS {
            pool.extend(list(client, row, namespace, gaps).await?);
        }
    }
    // Jobs are children of some and descendants of others.
    let mut seen = BTreeSet::new();
    pool.retain(|object| {
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        seen.insert(uid.unwrap_or_default().to_owned())
    });
    Ok(Member {
        health: (own.system.explain.health)(&root),
        ..member(root, &pool)
    })
}

/// The objects of a kind; of kinds that are followed by metadata no more than that.
async fn list(
    client: &Client,
    row: &DeclaredKind,
    namespace: &str,
    gaps: &mut Gaps,
) -> anyhow::Result<Vec<Value>> {
    let listed = match row.following {
        Following::Objects { selector } => {
            let parameters = ListParams::default();
            let parameters = match selector {
                // Whoever owns an object sees it whatever its labels are; a whole cluster is too much to look at.
                Some(selector) if namespace.is_empty() => parameters.labels(selector),
                _ => parameters,
            };
            let objects = api(client.clone(), row, namespace).list(&parameters).await;
            objects.map(|list| {
                let objects = list.items.into_iter();
                objects.map(|object| to_value(row, object)).collect()
            })
        }
        Following::Metadata => {
            let metadata = metadata_api(client.clone(), row, namespace);
            let objects = metadata.list_metadata(&ListParams::default()).await;
            objects.map(|list| {
                let objects = list.items.into_iter();
                let with_kind = |metadata| {
                    let (kind, version) = (&row.kind.kind, row.kind.api_version());
                    json!({"apiVersion": version, "kind": kind, "metadata": metadata})
                };
                objects.map(|object| with_kind(object.metadata)).collect()
            })
        }
    };
    match listed {
        Ok(objects) => Ok(objects),
        Err(error) if row.optional && is_missing(&error) => Ok(Vec::new()),
        // What can be seen is worth showing.
        Err(error) if is_forbidden(&error) => {
            let why = causes(&error).join(": ");
            gaps.0.insert(row.plural.to_string(), why);
            Ok(Vec::new())
        }
        Err(error) => {
            let place = match namespace {
                "" => String::new(),
                namespace => format!(" in {namespace}"),
            };
            Err(error).with_context(|| format!("could not list {}{place}", row.plural))
        }
    }
}

fn belongs(object: &Value, uid: &str) -> bool {
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    owners
        .into_iter()
        .flatten()
        .any(|owner| owner.get("uid").and_then(Value::as_str) == Some(uid))
}

fn member(value: Value, pool: &[Value]) -> Member {
    let uid = value
        .pointer("/metadata/uid")
        .and_then(Value::as_str)
        .unwrap_or_default();
    // A replica set without replicas is history.
    let is_history = |object: &Value| {
        object.get("kind").and_then(Value::as_str) == Some("ReplicaSet")
            && object.pointer("/spec/replicas").and_then(Value::as_i64) == Some(0)
    };
    let children = pool
        .iter()
        .filter(|object| belongs(object, uid))
        .filter(|object| !is_history(object));
    let children = children
        .map(|object| member(object.clone(), pool))
        .collect();
    Member {
        health: health::assess(&value),
        children,
        waits_for: None,
        value,
    }
}
