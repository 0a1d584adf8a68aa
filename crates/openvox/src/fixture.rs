//! Objects and times for tests.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::{
    ObjectSet,
    change_set::{Change, ChangeSet, ObjectChange, Verb},
    reconciler::{ReconcileEnd, Reconciler, Report, ReportInput, ValidateError},
    snapshot::{FileSnapshot, Snapshot},
    unit::UnitFailure,
};
use serde_json::{Value, json};

use crate::views;

/// Uid of every root.
pub(crate) const UID: &str = "5f0c1d7e";

/// A root in the namespace `estate`.
#[expect(clippy::needless_pass_by_value, reason = "calls are easier to read")]
pub(crate) fn root(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "openvox.voxpupuli.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "estate", "uid": UID},
        "spec": spec,
    })
}

/// A Secret in the namespace `estate`.
#[expect(clippy::needless_pass_by_value, reason = "calls are easier to read")]
pub(crate) fn secret(name: &str, values: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "estate"},
        "stringData": values,
    })
}

/// A time, in seconds since 1970.
pub(crate) fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

/// What came of a reconcile.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) objects: Vec<Value>,
    pub(crate) error: Option<String>,
    pub(crate) report: Report,
}

impl Walked {
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |object: &Value| {
            let name = object["metadata"]["name"].as_str().unwrap();
            format!("{} {name}", object["kind"].as_str().unwrap())
        };
        self.objects.iter().map(name).collect()
    }

    pub(crate) fn object(&self, kind: &str, name: &str) -> &Value {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        self.objects.iter().find(is_it).unwrap()
    }
}

/// Reconciles a root over a list of objects, which has it too; everything is accepted by the cluster.
pub(crate) fn walk<R: Reconciler>(reconciler: &R, root: &Value, others: &[Value]) -> Walked {
    let snapshot = views::files(others.iter().cloned().chain([root.clone()]));
    walk_over(reconciler, root, &snapshot)
}

/// The same over a snapshot.
pub(crate) fn walk_over<R: Reconciler>(
    reconciler: &R,
    root: &Value,
    snapshot: &FileSnapshot,
) -> Walked {
    let object = reconciler.decode(root).unwrap();
    let validated = reconciler.validate(&object, snapshot);
    let now = at(1_700_000_000);
    let told = |input: Option<&R::Input>, end: ReconcileEnd<'_>| {
        reconciler.report(&ReportInput {
            root,
            object: Some(&object),
            input,
            snapshot: snapshot as &dyn Snapshot,
            live: snapshot,
            end,
            now: &now,
        })
    };
    let input = match validated {
        Ok(input) => input,
        Err(ValidateError::Waiting(waiting)) => {
            return Walked {
                objects: Vec::new(),
                error: Some(waiting.to_string()),
                report: told(None, ReconcileEnd::Waiting(&waiting)),
            };
        }
        Err(other) => panic!("{other:?}"),
    };
    match reconciler.render(&object, &input, snapshot) {
        Ok(set) => Walked {
            objects: set.bodies().cloned().collect(),
            error: None,
            report: told(Some(&input), ReconcileEnd::Committed(&accepted(&set))),
        },
        Err(failure) => Walked {
            objects: early(&failure),
            error: Some(failure.source.to_string()),
            report: told(Some(&input), ReconcileEnd::NotRendered(&failure)),
        },
    }
}

fn early(failure: &UnitFailure) -> Vec<Value> {
    let early = failure.early.iter().flat_map(|set| set.bodies());
    early.cloned().collect()
}

fn accepted(set: &ObjectSet) -> ChangeSet {
    let rows = set.iter().map(|entry| ObjectChange {
        key: entry.key.clone(),
        unit: entry.unit,
        planned: Verb::Create,
        change: Change::Unchanged(None),
    });
    ChangeSet {
        rows: rows.collect(),
    }
}
