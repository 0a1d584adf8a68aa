use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::*;
use crate::{kind::Role, live::Owner, owned::Owned};

const fn row(kind: Kind, plural: &'static str) -> DeclaredKind {
    DeclaredKind::new(kind, plural, Role::Child)
}

static DECLARED: &[DeclaredKind] = &[
    row(Kind::new("", "v1", "Service"), "services"),
    row(Kind::new("", "v1", "Secret"), "secrets"),
    row(Kind::new("apps", "v1", "Deployment"), "deployments"),
];

const STRATEGY: Strategy<'static> = Strategy {
    finalizer: Some("example.io/finalizer"),
    stage: |kind| u16::from(kind.kind == "Deployment"),
    prune: Some(|_| true),
    ..Strategy::PLAIN
};

struct World(BTreeMap<ObjectKey, Arc<LiveObject>>);

impl LiveView for World {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.0.get(key).cloned()
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.0
            .values()
            .filter(|object| object.belongs_to(owner_uid))
            .cloned()
            .collect()
    }
}

fn root(finalizers: &[&str]) -> Root {
    Root {
        key: ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "n", "thing"),
        uid: "owner".to_owned(),
        resource_version: "7".to_owned(),
        finalizers: finalizers.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn body(kind: &str, name: &str) -> Value {
    let api_version = if kind == "Deployment" {
        "apps/v1"
    } else {
        "v1"
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "n"}, "data": {"a": "1"}})
}

fn live(kind: &str, name: &str, owner: Option<&str>, value: &str) -> Arc<LiveObject> {
    let owned = Owned::Fields(BTreeMap::from([(
        "data".to_owned(),
        Owned::Fields(BTreeMap::from([(
            "a".to_owned(),
            Owned::Whole(json!(value)),
        )])),
    )]));
    Arc::new(LiveObject {
        key: ObjectKey::of(&body(kind, name)).unwrap(),
        uid: format!("uid-{name}"),
        resource_version: "3".to_owned(),
        deleting: false,
        owners: owner
            .map(|uid| Owner {
                kind: "Thing".to_owned(),
                name: "thing".to_owned(),
                uid: uid.to_owned(),
                controller: true,
            })
            .into_iter()
            .collect(),
        owned,
        intruders: Vec::new(),
        inheritance: None,
        facts: Value::Null,
    })
}

fn world(objects: impl IntoIterator<Item = Arc<LiveObject>>) -> World {
    World(
        objects
            .into_iter()
            .map(|object| (object.key.clone(), object))
            .collect(),
    )
}

fn words(plan: &Plan) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Create => "create",
        Action::Update { .. } => "update",
        Action::Mend { .. } => "mend",
        Action::Delete { .. } | Action::DeleteIfPresent => "delete",
        Action::PatchFinalizers { .. } => "finalizer",
        Action::Unchanged(_) => "unchanged",
        Action::Foreign { .. } => "foreign",
    };
    plan.steps
        .iter()
        .map(|step| format!("{} {}: {}", word(&step.action), step.key, step.because))
        .collect()
}

#[test]
fn plans_in_order_with_a_reason_for_each_object() {
    let mut set = ObjectSet::new(DECLARED);
    set.add("workload", &body("Deployment", "web")).unwrap();
    set.add("network", &body("Service", "same")).unwrap();
    set.add("network", &body("Service", "drifted")).unwrap();
    set.add("network", &body("Service", "foreign")).unwrap();
    set.absent(
        "network",
        ObjectKey::of(&body("Service", "unwanted")).unwrap(),
        "it is switched off",
    )
    .unwrap();
    let live = world([
        live("Service", "same", Some("owner"), "1"),
        live("Service", "drifted", Some("owner"), "2"),
        live("Service", "foreign", None, "1"),
        live("Service", "unwanted", Some("owner"), "1"),
        live("Service", "leftover", Some("owner"), "1"),
        live("Service", "unrelated", Some("somebody"), "1"),
    ]);
    let plan = plan(&root(&[]), &set, &live, &STRATEGY);
    assert_eq!(
        words(&plan),
        [
            "finalizer Thing n/thing: adds finalizer example.io/finalizer",
            "unchanged Service n/same: up to date",
            "update Service n/drifted: 1 field differs",
            "foreign Service n/foreign: exists and was not created by this operator",
            "delete Service n/unwanted: it is switched off",
            "create Deployment n/web: does not exist",
            "delete Service n/leftover: no longer rendered",
        ]
    );
    assert!(!plan.is_noop());
}

#[test]
fn a_foreign_object_is_never_removed_even_if_it_is_not_wanted() {
    let mut set = ObjectSet::new(DECLARED);
    set.absent(
        "network",
        ObjectKey::of(&body("Service", "a")).unwrap(),
        "off",
    )
    .unwrap();
    let plan = plan(
        &root(&["example.io/finalizer"]),
        &set,
        &world([live("Service", "a", None, "1")]),
        &STRATEGY,
    );
    assert!(plan.is_noop(), "{:?}", words(&plan));
}

#[test]
fn values_of_secrets_do_not_reach_the_plan() {
    let mut set = ObjectSet::new(DECLARED);
    set.add("config", &body("Secret", "s")).unwrap();
    let plan = plan(
        &root(&[]),
        &set,
        &world([live("Secret", "s", Some("owner"), "c2VjcmV0")]),
        &STRATEGY,
    );
    let shown: String = plan
        .steps
        .iter()
        .flat_map(|step| &step.changes)
        .map(ToString::to_string)
        .collect();
    assert!(
        shown.contains("data.a") && !shown.contains("c2VjcmV0"),
        "{shown}"
    );
}

#[test]
fn deletion_goes_backwards_through_the_table_and_releases_the_root_last() {
    let live = world([
        live("Service", "a", Some("owner"), "1"),
        live("Deployment", "a", Some("owner"), "1"),
        live("Service", "foreign", None, "1"),
    ]);
    let plan = plan_deletion(
        &root(&["other", "example.io/finalizer"]),
        DECLARED,
        &live,
        &STRATEGY,
        &[],
    );
    assert_eq!(
        words(&plan),
        [
            "delete Deployment n/a: its owner is being deleted",
            "delete Service n/a: its owner is being deleted",
            "finalizer Thing n/thing: removes finalizer example.io/finalizer",
        ]
    );
    assert_eq!(
        plan.steps[2].goal,
        Goal::Finalizers(vec!["other".to_owned()])
    );
    assert!(plan.steps.iter().all(|step| step.essential));
}
