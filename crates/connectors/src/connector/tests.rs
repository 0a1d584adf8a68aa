use mainstay_engine::{
    change_set::ChangeSet,
    object_set::Desired,
    plan::{self, Action as Planned, Root},
    reconciler::{ReconcileEnd, ReportInput},
    snapshot::FileSnapshot,
};
use serde_json::json;

use super::*;
use crate::fixture::{connector, now, settings, shelf, snapshot};

const BUNDLE: &str = r"
apiVersion: v1
kind: ConfigMap
metadata: {name: prices}
data: {apple: '1'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: till}
spec:
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec: {containers: [{name: till, image: quay.io/shop/till:1}]}
";

fn reconciler() -> ConnectorReconciler {
    ConnectorReconciler {
        settings: settings(),
        catalog: shelf(BUNDLE),
    }
}

fn input(spec: Value, snapshot: &FileSnapshot) -> (Connector, ConnectorInput) {
    let reconciler = reconciler();
    let connector = reconciler.decode(&connector(spec)).unwrap();
    let input = reconciler.validate(&connector, snapshot).unwrap();
    (connector, input)
}

/// A set as the controller would write it, with a status.
fn written(spec: Value, install_type: InstallType, handled: bool) -> Value {
    let (connector, input) = input(spec, &snapshot());
    let mut set = wanted_set(&connector, &input.rendering, install_type);
    set["metadata"]["generation"] = json!(1);
    set["metadata"]["uid"] = json!("set-uid");
    if handled {
        let hash = set["metadata"]["annotations"]["cpaas.io/last-applied-hash"].clone();
        set["status"] = json!({"observedHash": hash, "observedGeneration": 1, "conditions": []});
    }
    set
}

fn with(sets: Vec<Value>) -> FileSnapshot {
    let mut snapshot = snapshot();
    for set in sets {
        snapshot.add(set);
    }
    snapshot
}

fn state(spec: Value, sets: Vec<Value>) -> (Option<&'static str>, Vec<Action>) {
    let state = input(spec, &with(sets)).1.state;
    (state.reason, state.actions)
}

const STATIC: InstallType = InstallType::Static;
const DEPLOYMENT: InstallType = InstallType::Deployment;

#[test]
fn sets_are_created_one_after_the_other_and_recorded_by_identity() {
    let write = |one| vec![Action::Write(one)];
    assert_eq!(
        state(json!({}), Vec::new()),
        (Some("Installing"), write(STATIC))
    );
    let waiting = written(json!({}), STATIC, false);
    assert_eq!(
        state(json!({}), vec![waiting]),
        (Some("Installing"), Vec::new())
    );
    let handled = written(json!({}), STATIC, true);
    assert_eq!(
        state(json!({}), vec![handled]),
        (Some("Installing"), write(DEPLOYMENT))
    );
    let set = written(json!({}), DEPLOYMENT, false);
    assert_eq!(
        set["spec"],
        json!({"manifestType": "Metadata", "manifests": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "till", "namespace": "team"}},
        ]})
    );
    assert_eq!(
        set["metadata"]["labels"],
        json!({
            "cpaas.io/release-version": "v0.0.1-1.0.0", "cpaas.io/connector-name": "till",
            "cpaas.io/connector-namespace": "team", "cpaas.io/install-type": "deployment",
            "cpaas.io/managed-by": "connectors-operator",
        })
    );
}

#[test]
fn a_changed_rendering_updates_the_sets_that_it_changes() {
    let both = || {
        vec![
            written(json!({}), STATIC, true),
            written(json!({}), DEPLOYMENT, true),
        ]
    };
    assert_eq!(state(json!({}), both()), (None, Vec::new()));
    let registry = json!({"registry": "registry.example.com"});
    let deployment = vec![Action::Write(DEPLOYMENT)];
    assert_eq!(state(registry, both()), (Some("Updating"), deployment));
    let all = json!({"manifestType": "All"});
    let writes = vec![Action::Write(STATIC), Action::Write(DEPLOYMENT)];
    assert_eq!(state(all, both()), (Some("Updating"), writes));
}

#[test]
fn a_set_that_was_edited_by_hand_is_restored() {
    let mut edited = written(json!({}), STATIC, true);
    edited["spec"]["manifests"] = json!([]);
    let sets = vec![edited, written(json!({}), DEPLOYMENT, true)];
    let expected = (Some("Updating"), vec![Action::Write(STATIC)]);
    assert_eq!(state(json!({}), sets), expected);
}

#[test]
fn another_release_deletes_the_static_set_first_and_then_the_other() {
    let old = |one| {
        let mut set = written(json!({}), one, true);
        set["metadata"]["labels"]["cpaas.io/release-version"] = json!("v0.0.0");
        set
    };
    let name = |one| names::set("team", "till", one);
    let sets = vec![old(STATIC), old(DEPLOYMENT)];
    let first = vec![Action::Delete(name(STATIC))];
    assert_eq!(state(json!({}), sets), (Some("Upgrading"), first));
    let second = vec![Action::Delete(name(DEPLOYMENT))];
    assert_eq!(
        state(json!({}), vec![old(DEPLOYMENT)]),
        (Some("Upgrading"), second)
    );
    let mut going = old(DEPLOYMENT);
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let waits = (Some("WaitingForDeletion"), Vec::new());
    assert_eq!(state(json!({}), vec![going]), waits);
}

#[test]
fn a_set_that_does_not_say_what_it_is_is_made_anew() {
    let mut odd = written(json!({}), STATIC, true);
    odd["metadata"]["annotations"] = json!({"cpaas.io/manifestsHash": "1"});
    let name = names::set("team", "till", STATIC);
    assert_eq!(
        state(json!({}), vec![odd]),
        (Some("Reinstalling"), vec![Action::Delete(name)])
    );
}

#[test]
fn what_does_not_fit_into_an_object_is_told_before_it_is_tried() {
    let big = "x".repeat((1 << 20) + 1000);
    let yaml = BUNDLE.replace("'1'", &format!("'{big}'"));
    let reconciler = ConnectorReconciler {
        settings: settings(),
        catalog: shelf(&yaml),
    };
    let state = |spec| {
        let connector = reconciler.decode(&connector(spec)).unwrap();
        reconciler.validate(&connector, &snapshot()).unwrap().state
    };
    assert_eq!(state(json!({})).reason, Some("Installing"));
    let all = state(json!({"manifestType": "All"}));
    assert_eq!(
        (all.reason, all.actions),
        (Some("ManifestTooLarge"), Vec::new())
    );
    assert!(all.failure.unwrap().contains("Metadata"));
}

#[test]
fn a_set_of_another_connector_is_not_touched() {
    let (connector, rendered) = input(json!({}), &snapshot());
    let reconciler = reconciler();
    let set = reconciler
        .render(&connector, &rendered, &snapshot())
        .unwrap();
    let entry = set.iter().next().unwrap();
    let Desired::Present { options, .. } = &entry.desired else {
        panic!("it is wanted");
    };
    assert_eq!(options.mark, Some(&marks::SET));
    let mut foreign = crate::fixture::live(&kinds::INSTALL_MANIFEST, "", &entry.key.name);
    foreign.marked = Some(mainstay_engine::mark::Marked {
        root: "other/till".to_owned(),
        hash: String::new(),
    });
    let mut snapshot = snapshot();
    snapshot.add_live(foreign);
    let root = Root {
        key: ObjectKey::new(kinds::CONNECTOR, "team", "till"),
        uid: "connector-uid".to_owned(),
        resource_version: "1".to_owned(),
        finalizers: vec![names::FINALIZER.to_owned()],
    };
    let plan = plan::plan(&root, &set, &snapshot, &reconciler.lifecycle());
    assert!(matches!(plan.steps[0].action, Planned::Foreign { .. }));
}

fn said(spec: Value, sets: Vec<Value>) -> Report {
    let root = connector(spec.clone());
    let snapshot = with(sets);
    let (object, input) = input(spec, &snapshot);
    reconciler().report(&ReportInput {
        root: &root,
        object: Some(&object),
        input: Some(&input),
        snapshot: &snapshot,
        live: &snapshot,
        end: ReconcileEnd::Committed(&ChangeSet::default()),
        now: &now(),
    })
}

fn conditions(report: &Report) -> Vec<String> {
    let conditions = report.status["conditions"].as_array().unwrap();
    let text = |one: &Value| {
        let part = |field: &str| one[field].as_str().unwrap().to_owned();
        format!("{}={}/{}", part("type"), part("status"), part("reason"))
    };
    conditions.iter().map(text).collect()
}

/// Both sets with the same answer for every phase, but for one.
fn answered(odd: (&str, &str, &str)) -> Vec<Value> {
    let conditions: Vec<Value> = crate::phases::Phase::ALL
        .iter()
        .map(|phase| {
            let name = phase.condition();
            let (status, reason) = if name == odd.0 {
                (odd.1, odd.2)
            } else {
                ("True", "Installed")
            };
            json!({"type": name, "status": status, "reason": reason, "message": "because"})
        })
        .collect();
    let sets = [STATIC, DEPLOYMENT].map(|one| {
        let mut set = written(json!({}), one, true);
        set["status"]["conditions"] = json!(conditions);
        set
    });
    sets.into()
}

#[test]
fn a_connector_says_what_its_sets_say() {
    let well = said(json!({}), answered(("", "", "")));
    assert_eq!(
        conditions(&well),
        [
            "InstallSucceeded=True/InstallSucceeded",
            "Ready=True/Ready",
            "TransformersSucceeded=True/TransformersSucceeded",
            "WorkloadAvailable=True/WorkloadAvailable",
        ]
    );
    assert_eq!(well.status["version"], "v0.0.1-1.0.0");
    assert_eq!(well.events[0].reason, "Installed");
    let not_ready = said(
        json!({}),
        answered(("DeploymentsAvailable", "False", "DeploymentsNotReady")),
    );
    assert_eq!(
        conditions(&not_ready)[..2],
        [
            "InstallSucceeded=True/InstallSucceeded",
            "Ready=False/WorkloadNotReady"
        ]
    );
    let failed = said(
        json!({}),
        answered(("NamespaceScoped", "False", "InstallFailed")),
    );
    assert_eq!(
        conditions(&failed)[0],
        "InstallSucceeded=False/InstallFailed"
    );
    let conflict = said(
        json!({}),
        answered(("StatefulSetReady", "False", "OwnershipConflict")),
    );
    assert_eq!(
        conditions(&conflict)[0],
        "InstallSucceeded=False/InstallFailed"
    );
    assert_eq!(conflict.status.get("version"), None);
}

#[test]
fn sets_that_speak_about_something_else_do_not_count() {
    let mut sets = answered(("", "", ""));
    sets[0]["status"]["observedHash"] = json!("older");
    let report = said(json!({}), sets);
    assert_eq!(
        conditions(&report)[0],
        "InstallSucceeded=Unknown/Installing"
    );
    assert_eq!(conditions(&report)[3], "WorkloadAvailable=Unknown/Pending");
}

#[test]
fn what_cannot_be_rendered_leaves_everything_else_as_it_was() {
    let reconciler = reconciler();
    let root = connector(json!({"application": "cart"}));
    let object = reconciler.decode(&root).unwrap();
    let snapshot = snapshot();
    let ValidateError::Waiting(waiting) = reconciler.validate(&object, &snapshot).unwrap_err()
    else {
        panic!("it is not packaged");
    };
    let report = reconciler.report(&ReportInput {
        root: &root,
        object: Some(&object),
        input: None,
        snapshot: &snapshot,
        live: &snapshot,
        end: ReconcileEnd::Waiting(&waiting),
        now: &now(),
    });
    assert_eq!(
        conditions(&report),
        [
            "Ready=False/ApplicationNotFound",
            "TransformersSucceeded=False/ApplicationNotFound",
        ]
    );
}

#[test]
fn a_connector_that_goes_takes_its_static_set_first() {
    let snapshot = with(vec![
        written(json!({}), DEPLOYMENT, true),
        written(json!({}), STATIC, true),
    ]);
    let cleanup = reconciler().cleanup(&connector(json!({})), &snapshot);
    let names: Vec<&str> = cleanup
        .places
        .iter()
        .map(|(key, _)| key.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            names::set("team", "till", STATIC),
            names::set("team", "till", DEPLOYMENT)
        ]
    );
}
