//! Every exit of a reconcile.

use std::sync::Arc;

use mainstay_engine::{
    Kind, ObjectKey, ObjectSet,
    change_set::{Change, Failure, ObjectChange, Verb},
    kind::{DeclaredKind, KindTable, Role},
    live::{LiveObject, LiveView},
    options::Options,
    plan::{self, Lifecycle, Root},
    reconciler::{Rejection, Waiting},
    unit::{RenderError, UnitFailure},
};
use serde_json::json;

use super::*;

const CONFIG_MAP: Kind = Kind::new("", "v1", "ConfigMap");
static ROWS: &[DeclaredKind] = &[DeclaredKind::new(CONFIG_MAP, "configmaps", Role::Child)];
const DECLARED: KindTable = KindTable::closed(ROWS);

/// A cluster without objects.
struct Nothing;

impl LiveView for Nothing {
    fn get(&self, _key: &ObjectKey) -> Option<Arc<LiveObject>> {
        None
    }

    fn owned_by(&self, _owner_uid: &str) -> Vec<Arc<LiveObject>> {
        Vec::new()
    }
}

fn root() -> Root {
    Root {
        key: ObjectKey::new(Kind::new("example.io", "v1", "Thing"), "shop", "thing"),
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        finalizers: Vec::new(),
    }
}

/// A plan that creates `a` by apply, and `b` in a way of its own.
fn plan_with(change: fn(Options) -> Options) -> Plan {
    let mut set = ObjectSet::new(DECLARED);
    let body = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}});
    set.add("unit", &body("a")).unwrap();
    set.add_with("unit", &body("b"), change).unwrap();
    plan::plan(&root(), &set, &Nothing, &Lifecycle::PLAIN)
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.steps
        .iter()
        .map(|step| step.key.name.as_str())
        .collect()
}

fn changes(all: impl IntoIterator<Item = Change>) -> ChangeSet {
    let rows = all.into_iter().map(|change| ObjectChange {
        key: ObjectKey::new(CONFIG_MAP, "shop", "a"),
        unit: "unit",
        planned: Verb::Update,
        change,
    });
    ChangeSet {
        rows: rows.collect(),
    }
}

#[test]
fn what_nobody_was_asked_for_is_rendered_again() {
    assert!(matches!(next(&RenderResult::Unknown), Next::Render));
}

#[test]
fn a_plan_is_carried_out_as_a_whole() {
    let result = RenderResult::Planned(plan_with(|options| options));
    let Next::Commit(plan) = next(&result) else {
        panic!("no commit");
    };
    assert_eq!(names(&plan), ["a", "b"]);
}

#[test]
fn values_that_were_made_up_are_stored_before_anything_else() {
    let result = RenderResult::Planned(plan_with(Options::generated));
    let Next::CommitFirst(plan) = next(&result) else {
        panic!("no first commit");
    };
    assert_eq!(names(&plan), ["b"]);
}

#[test]
fn a_rejection_a_wait_and_a_failed_unit_stop_with_their_reason() {
    let rejection = Rejection {
        path: "spec.image".to_owned(),
        message: "is empty".to_owned(),
        hint: None,
    };
    let waiting = Waiting {
        reason: "NotThere",
        message: "the environment is missing".to_owned(),
    };
    let failure = UnitFailure {
        unit: "web",
        source: RenderError::Input("no port".to_owned()),
        early: None,
    };
    let nothing = || plan::plan_nothing(&root(), &Lifecycle::PLAIN);
    let said = |result: &RenderResult| match next(result) {
        Next::Stop(end, reason) => (format!("{end:?}"), reason.to_string()),
        _ => panic!("no stop"),
    };
    let (end, reason) = said(&RenderResult::Rejected(rejection));
    assert!(end.starts_with("Rejected") && reason == "spec.image: is empty");
    let (end, reason) = said(&RenderResult::Waiting(waiting, nothing()));
    assert!(end.starts_with("Waiting") && reason == "the environment is missing");
    let (end, reason) = said(&RenderResult::NotRendered(failure, nothing()));
    assert!(end.starts_with("NotRendered") && reason == "web: no port");
}

#[test]
fn the_whole_plan_ends_a_reconcile_and_its_first_part_does_not() {
    let mut done = changes([Change::Deleted, Change::Unchanged(None)]);
    assert!(is_over(&mut done, true));
    assert!(!is_over(&mut done, false), "the rest is rendered now");
    assert_eq!(done.rows.len(), 2);
}

#[test]
fn a_failure_ends_a_reconcile_whatever_part_it_was_in() {
    let failed = || {
        Change::Failed(Failure::Refused {
            message: "quota".to_owned(),
        })
    };
    assert!(is_over(&mut changes([failed()]), true));
    assert!(is_over(&mut changes([Change::Deleted, failed()]), false));
}

#[test]
fn what_was_rendered_from_an_old_state_is_rendered_anew_and_only_achievements_count() {
    let outdated = Change::Failed(Failure::Outdated);
    let mut changes = changes([Change::Deleted, outdated, Change::Skipped]);
    assert!(!is_over(&mut changes, true));
    assert_eq!(changes.rows.len(), 1);
    assert_eq!(changes.rows[0].change, Change::Deleted);
}
