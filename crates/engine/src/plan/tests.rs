use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::*;
use crate::{
    change_set::{Change, Failure},
    commit::{Commit, Input, Limits},
    definition::{Definition, Schemas},
    kind::{DeclaredKind, Role},
    live::{LiveObject, Owner},
    options::Options,
    owned::Owned,
};

mod inventory;

const fn row(kind: Kind, plural: &'static str) -> DeclaredKind {
    DeclaredKind::new(kind, plural, Role::Child)
}

static ROWS: &[DeclaredKind] = &[
    row(Kind::new("", "v1", "Service"), "services"),
    row(Kind::new("", "v1", "Secret"), "secrets"),
    row(Kind::new("apps", "v1", "Deployment"), "deployments"),
];
const DECLARED: KindTable = KindTable::closed(ROWS);

const LIFECYCLE: Lifecycle = Lifecycle {
    finalizer: Some("example.io/finalizer"),
    ..Lifecycle::PLAIN
};

/// A set that is complete, and in which Deployments come last.
fn complete_set() -> ObjectSet {
    let mut set = ObjectSet::with_options(DECLARED, |kind| Options {
        phase: u16::from(kind.kind == "Deployment"),
        stops: Stops::LaterUnlessRefused,
        ..Options::DEFAULT
    });
    for row in ROWS {
        set.prune.kind(row.kind.clone());
    }
    set
}

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
                group: String::new(),
                kind: "Thing".to_owned(),
                name: "thing".to_owned(),
                uid: uid.to_owned(),
                controller: true,
            })
            .into_iter()
            .collect(),
        owned,
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
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
        Action::Fixup { .. } => "mend",
        Action::Delete { .. } | Action::DeleteIfPresent => "delete",
        Action::DeleteIfOurs => "look at",
        Action::Deleting => "await",
        Action::PatchFinalizers { .. } => "finalizer",
        Action::PatchStatus { .. } => "record",
        Action::Unchanged(_) => "unchanged",
        Action::Foreign { .. } => "foreign",
        Action::Refused { .. } => "refused",
    };
    plan.steps
        .iter()
        .map(|step| format!("{} {}: {}", word(&step.action), step.key, step.because))
        .collect()
}

#[test]
fn plans_in_order_with_a_reason_for_each_object() {
    let mut set = complete_set();
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
    let plan = plan(&root(&[]), &set, &live, &LIFECYCLE);
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
    let mut set = complete_set();
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
        &LIFECYCLE,
    );
    assert!(plan.is_noop(), "{:?}", words(&plan));
}

#[test]
fn values_of_secrets_do_not_reach_the_plan() {
    let mut set = complete_set();
    set.add("config", &body("Secret", "s")).unwrap();
    let plan = plan(
        &root(&[]),
        &set,
        &world([live("Secret", "s", Some("owner"), "c2VjcmV0")]),
        &LIFECYCLE,
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
        &DECLARED,
        &live,
        &LIFECYCLE,
        &Cleanup::default(),
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
        plan.steps[2].desired,
        DesiredState::Finalizers(vec!["other".to_owned()])
    );
    assert!(plan.steps.iter().all(|step| step.stops == Stops::Later));
}

/// A world with a definition that declares `spec.known` only.
struct Installed(World);

impl LiveView for Installed {
    fn get(&self, key: &ObjectKey) -> Option<Arc<LiveObject>> {
        self.0.get(key)
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        self.0.owned_by(owner_uid)
    }

    fn definition(&self, _kind: &Kind) -> Option<Arc<Definition>> {
        let document = json!({"Scaler": {"type": "object", "properties": {"data": {"type": "object", "properties": {
            "known": {"type": "string"},
        }}}}});
        let schemas = Schemas::new(document.as_object().unwrap(), Some("Scaler"));
        let mut definition = Definition::new("1".to_owned());
        definition.look_up(&json!({"data": {"known": "", "unknown": ""}}), &schemas);
        Some(Arc::new(definition))
    }
}

static ROWS_OF_OTHERS: &[DeclaredKind] =
    &[row(Kind::new("example.io", "v1", "Scaler"), "scalers").optional()];
const OF_OTHERS: KindTable = KindTable::closed(ROWS_OF_OTHERS);

fn scaler(data: &Value) -> ObjectSet {
    let mut set = ObjectSet::new(OF_OTHERS);
    let body = json!({"apiVersion": "example.io/v1", "kind": "Scaler", "metadata": {"name": "a", "namespace": "n"}, "data": data});
    set.add("unit", &body).unwrap();
    set
}

#[test]
fn what_the_installed_definition_does_not_declare_is_neither_compared_nor_sent() {
    let mut cluster = World(BTreeMap::new());
    let set = scaler(&json!({"known": "1", "unknown": "2"}));
    let before = plan(&root(&[]), &set, &cluster, &Lifecycle::PLAIN);
    assert_eq!(
        before.unchecked().count(),
        1,
        "nobody has looked at the definition"
    );
    let object = live("Scaler", "a", Some("owner"), "1");
    let mut object = LiveObject::clone(&object);
    object.owned = Owned::Fields(BTreeMap::from([(
        "data".to_owned(),
        Owned::Fields(BTreeMap::from([(
            "known".to_owned(),
            Owned::Whole(json!("1")),
        )])),
    )]));
    let key = set.iter().next().unwrap().key.clone();
    object.key = key.clone();
    cluster.0.insert(key.clone(), Arc::new(object));
    let plan = plan(&root(&[]), &set, &Installed(cluster), &Lifecycle::PLAIN);
    assert!(plan.is_noop(), "{plan:?}");
    assert_eq!(plan.unchecked().count(), 0);
    let left_out = BTreeMap::from([(&key.kind, BTreeSet::from(["data.unknown"]))]);
    assert_eq!(plan.left_out(), left_out);
}

#[test]
fn a_new_path_is_looked_up_before_it_is_sent_and_not_while_nothing_is_sent() {
    let cluster = Installed(World(BTreeMap::new()));
    let known = plan(
        &root(&[]),
        &scaler(&json!({"known": "1"})),
        &cluster,
        &Lifecycle::PLAIN,
    );
    assert_eq!(known.unchecked().count(), 0);
    let new = plan(
        &root(&[]),
        &scaler(&json!({"new": "1"})),
        &cluster,
        &Lifecycle::PLAIN,
    );
    assert_eq!(new.unchecked().count(), 1);
}

#[test]
fn an_object_with_too_many_items_is_refused_and_says_where() {
    let variables: Vec<Value> = (0..=MOST_ITEMS).map(|n| json!({"name": n})).collect();
    let set = scaler(&json!({"env": variables}));
    let cluster = World(BTreeMap::new());
    let plan = plan(&root(&[]), &set, &cluster, &Lifecycle::PLAIN);
    let Action::Refused { message } = &plan.steps[0].action else {
        panic!("{plan:?}");
    };
    assert!(
        message.starts_with("`data.env` has 10001 items, and at most 10000"),
        "{message}"
    );
    let (commit, requests) =
        Commit::new(Arc::new(plan.clone()), Limits::default()).step(Input::Start);
    assert!(commit.is_finished() && requests.is_empty());
    let refused = Failure::Refused {
        message: message.clone(),
    };
    assert_eq!(commit.changes().rows[0].change, Change::Failed(refused));
}

#[test]
fn a_set_that_states_nothing_prunes_nothing() {
    let left = world([live("Service", "left", Some("owner"), "1")]);
    let silent = plan(
        &root(&["example.io/finalizer"]),
        &ObjectSet::new(DECLARED),
        &left,
        &LIFECYCLE,
    );
    assert!(silent.is_noop(), "{:?}", words(&silent));
    let mut set = ObjectSet::new(DECLARED);
    set.prune.kind(Kind::new("", "v1", "Secret"));
    let other = plan(&root(&["example.io/finalizer"]), &set, &left, &LIFECYCLE);
    assert!(other.is_noop(), "{:?}", words(&other));
    set.prune.kind(Kind::new("", "v1", "Service"));
    let complete = plan(&root(&["example.io/finalizer"]), &set, &left, &LIFECYCLE);
    assert_eq!(
        words(&complete),
        ["delete Service n/left: no longer rendered"]
    );
}

/// A Deployment that mounts the Secret `config`.
fn workload(name: &str) -> Value {
    let mut workload = body("Deployment", name);
    workload["spec"] =
        json!({"template": {"spec": {"volumes": [{"secret": {"secretName": "config"}}]}}});
    workload
}

/// What becomes of each object when the commit has come as far as it can without an answer.
fn begun(plan: &Plan) -> Vec<String> {
    let commit = Commit::new(Arc::new(plan.clone()), Limits::default());
    let (commit, requests) = commit.step(Input::Start);
    let is_sent = |position: usize| requests.iter().any(|request| request.step == position);
    let rows = commit.changes().rows.into_iter().enumerate();
    let word = |(position, row): (usize, crate::change_set::ObjectChange)| {
        let word = if is_sent(position) {
            "sent"
        } else {
            row.change.word()
        };
        format!("{} {word}", row.key)
    };
    rows.map(word).collect()
}

#[test]
fn a_refused_object_stops_only_what_refers_to_it() {
    let mut set = complete_set();
    set.add("config", &body("Secret", "config")).unwrap();
    set.add("workload", &workload("reader")).unwrap();
    set.add("workload", &body("Deployment", "other")).unwrap();
    let foreign = [
        live("Secret", "config", Some("somebody"), "1"),
        live("Service", "left", Some("owner"), "1"),
        live("Secret", "old", Some("owner"), "1"),
    ];
    let plan = plan(
        &root(&["example.io/finalizer"]),
        &set,
        &world(foreign),
        &LIFECYCLE,
    );
    assert_eq!(
        begun(&plan),
        [
            "Secret n/config failed",
            "Deployment n/reader skipped",
            "Deployment n/other sent",
            "Secret n/old skipped",
            "Service n/left skipped",
        ],
        "what is left over goes when the Deployment stands"
    );
}

#[test]
fn an_object_that_no_controller_has_is_adopted_if_that_is_allowed() {
    let free = live("Secret", "s", None, "2");
    let taken = live("Secret", "s", Some("somebody"), "2");
    let planned = |adopts: bool, found: &Arc<LiveObject>| {
        let mut set = ObjectSet::new(DECLARED);
        let options = |options: Options| if adopts { options.adopting() } else { options };
        set.add_with("unit", &body("Secret", "s"), options).unwrap();
        let plan = plan(&root(&[]), &set, &world([found.clone()]), &Lifecycle::PLAIN);
        words(&plan).remove(0)
    };
    assert!(planned(false, &free).starts_with("foreign"));
    assert!(planned(true, &free).starts_with("update"));
    assert!(planned(true, &taken).starts_with("foreign"));
}
