use mainstay_engine::{
    change_set::{Change, ChangeSet, Failure, ObjectChange, Verb},
    object_set::Desired,
    options::{ImmutableChange, Stops, Update},
    plan::{self, Plan, Root},
    reconciler::ReconcileEnd,
    snapshot::FileSnapshot,
};
use serde_json::json;

use super::*;
use crate::{
    connector::{ConnectorReconciler, state::wanted_set},
    fixture::{connector, installed, live, now, settings, shelf, snapshot},
};

const BUNDLE: &str = r"
apiVersion: shop.example.com/v1
kind: Till
metadata: {name: first}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tills.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Till, plural: tills}
  scope: Namespaced
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prices}
data: {apple: '1'}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: till}
spec:
  replicas: 2
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec: {containers: [{name: till, image: quay.io/shop/till:1}]}
---
apiVersion: batch/v1
kind: Job
metadata: {generateName: migrate-}
";

fn reconciler() -> SetReconciler {
    SetReconciler {
        settings: settings(),
        catalog: shelf(BUNDLE),
    }
}

/// A set as its Connector wrote it.
fn set(install_type: InstallType, spec: &Value) -> Value {
    let controller = ConnectorReconciler {
        settings: settings(),
        catalog: shelf(BUNDLE),
    };
    let connector = controller.decode(&connector(spec.clone())).unwrap();
    let input = controller.validate(&connector, &snapshot()).unwrap();
    let mut set = wanted_set(&connector, &input.rendering, install_type);
    set["metadata"]["uid"] = json!("set-uid");
    set["metadata"]["generation"] = json!(1);
    set
}

fn with_connector() -> FileSnapshot {
    let mut snapshot = snapshot();
    snapshot.add(connector(json!({})));
    snapshot
}

fn with_definition() -> FileSnapshot {
    let mut snapshot = with_connector();
    let conditions = ["Established", "NamesAccepted"];
    let conditions = conditions.map(|name| json!({"type": name, "status": "True"}));
    snapshot.add(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tills.shop.example.com"}, "status": {"conditions": conditions},
    }));
    snapshot
}

fn rendered(root: &Value, snapshot: &FileSnapshot) -> ObjectSet {
    let reconciler = reconciler();
    let set = reconciler.decode(root).unwrap();
    let bodies = reconciler.validate(&set, snapshot).unwrap();
    reconciler.render(&set, &bodies, snapshot).unwrap()
}

fn plan_of(root: &Value, snapshot: &FileSnapshot) -> Plan {
    let key = ObjectKey::of(root).unwrap();
    let identity = Root {
        key,
        uid: "set-uid".to_owned(),
        resource_version: "1".to_owned(),
        finalizers: vec![names::FINALIZER.to_owned()],
    };
    let set = rendered(root, snapshot);
    plan::plan(&identity, &set, snapshot, &reconciler().lifecycle())
}

fn entry<'set>(set: &'set ObjectSet, kind: &str) -> (&'set Value, Options) {
    let found = set
        .iter()
        .find(|entry| entry.key.kind.kind == kind)
        .unwrap();
    match &found.desired {
        Desired::Present { body, options } => (body, *options),
        Desired::Absent { .. } => panic!("{kind} is wanted"),
    }
}

#[test]
fn objects_are_written_in_phases_and_the_record_comes_first() {
    let plan = plan_of(&set(InstallType::Static, &json!({})), &with_definition());
    let steps: Vec<(u16, String)> = plan
        .steps
        .iter()
        .map(|step| (step.stage, step.key.kind.to_string()))
        .collect();
    let expected = [
        (1, "InstallManifest"),
        (2, "CustomResourceDefinition"),
        (5, "ConfigMap"),
        (5, "PersistentVolumeClaim"),
        (7, "Till"),
    ];
    assert_eq!(
        steps,
        expected.map(|(stage, kind)| (stage, kind.to_owned()))
    );
    let plan::DesiredState::Status(status) = &plan.steps[0].desired else {
        panic!("the inventory comes first");
    };
    let kinds: Vec<&str> = status["inventory"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ConfigMap", "Till"], "what stays is not listed");
}

#[test]
fn everything_but_what_cannot_be_got_back_has_an_owner() {
    let set = rendered(&set(InstallType::Static, &json!({})), &with_definition());
    let (map, options) = entry(&set, "ConfigMap");
    let owners = map["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(owners.len(), 1);
    assert_eq!(owners[0]["uid"], "set-uid");
    assert_eq!(owners[0]["controller"], true);
    assert_eq!(
        map["metadata"]["labels"]["cpaas.io/managed-by"],
        "connectors-operator"
    );
    assert_eq!(options.update, Update::IfHashDiffers);
    for kind in ["CustomResourceDefinition", "PersistentVolumeClaim"] {
        let (body, _) = entry(&set, kind);
        assert_eq!(body["metadata"].get("ownerReferences"), None);
        assert!(body["metadata"]["annotations"]["cpaas.io/install-manifest"].is_string());
    }
}

#[test]
fn later_phases_wait_until_a_definition_is_established() {
    let root = set(InstallType::Static, &json!({}));
    let closed = rendered(&root, &with_connector());
    assert_eq!(
        entry(&closed, "CustomResourceDefinition").1.stops,
        Stops::Always
    );
    let open = rendered(&root, &with_definition());
    assert_eq!(
        entry(&open, "CustomResourceDefinition").1.stops,
        Stops::After(0)
    );
}

#[test]
fn a_definition_that_another_set_keeps_is_left_to_it() {
    let root = set(InstallType::Static, &json!({}));
    let mut snapshot = with_definition();
    let mut shared = live(&kinds::DEFINITION, "", "tills.shop.example.com");
    shared.marked = Some(mainstay_engine::mark::Marked {
        root: "other-set".to_owned(),
        hash: "1".to_owned(),
    });
    snapshot.add_live(shared);
    let update = |snapshot: &FileSnapshot| {
        entry(&rendered(&root, snapshot), "CustomResourceDefinition")
            .1
            .update
    };
    assert_eq!(update(&snapshot), Update::IfHashDiffers, "nobody keeps it");
    let mut other = set(InstallType::Static, &json!({}));
    other["metadata"]["name"] = json!("other-set");
    other["metadata"]["labels"]["cpaas.io/connector-name"] = json!("other");
    snapshot.add(other);
    assert_eq!(update(&snapshot), Update::Once);
}

#[test]
fn a_workload_is_compared_field_by_field_and_made_anew_if_need_be() {
    let set = rendered(&set(InstallType::Deployment, &json!({})), &with_connector());
    let (body, options) = entry(&set, "Deployment");
    assert_eq!(options.update, Update::Apply);
    assert_eq!(options.immutable, ImmutableChange::Recreate);
    assert_eq!(body["spec"]["replicas"], 2);
    let (job, _) = entry(&set, "Job");
    let name = job["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("migrate-") && name.len() == "migrate-12345".len());
}

#[test]
fn what_an_autoscaler_scales_keeps_its_replicas_and_its_hash() {
    let root = set(InstallType::Deployment, &json!({}));
    let plain = rendered(&root, &with_connector());
    let mut snapshot = with_connector();
    let mut till = live(&kinds::DEPLOYMENT, "team", "till");
    till.facts = json!({"replicas": 7, "ready": true});
    snapshot.add_live(till);
    assert_eq!(
        entry(&rendered(&root, &snapshot), "Deployment").0["spec"]["replicas"],
        2
    );
    snapshot.add(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "till", "namespace": "team"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "till"}},
    }));
    let scaled = rendered(&root, &snapshot);
    let scaled = entry(&scaled, "Deployment").0;
    assert_eq!(scaled["spec"]["replicas"], 7);
    let hash = |body: &Value| body["metadata"]["annotations"]["cpaas.io/last-applied-hash"].clone();
    assert_eq!(hash(scaled), hash(entry(&plain, "Deployment").0));
}

#[test]
fn what_is_recorded_as_a_whole_needs_no_connector() {
    let root = set(InstallType::Static, &json!({"manifestType": "All"}));
    let set = rendered(&root, &snapshot());
    assert_eq!(entry(&set, "ConfigMap").0["data"]["apple"], "1");
}

#[test]
fn a_set_that_is_not_what_its_connector_renders_waits() {
    let reconciler = reconciler();
    let reason = |root: &Value, snapshot: &FileSnapshot| {
        let set = reconciler.decode(root).unwrap();
        match reconciler.validate(&set, snapshot).unwrap_err() {
            ValidateError::Waiting(waiting) => waiting.reason,
            other => panic!("{other:?}"),
        }
    };
    let mut root = set(InstallType::Static, &json!({}));
    assert_eq!(reason(&root, &snapshot()), "ConnectorNotFound");
    root["metadata"]["annotations"]["cpaas.io/last-applied-hash"] = json!("older");
    assert_eq!(reason(&root, &with_connector()), "RenderOutOfDate");
    let mut broken = snapshot();
    broken.add(connector(json!({"application": "cart"})));
    assert_eq!(reason(&root, &broken), "RenderFailed");
}

#[test]
fn what_is_no_longer_rendered_goes_unless_the_sibling_has_it() {
    let mut root = set(InstallType::Static, &json!({}));
    let name = root["metadata"]["name"].as_str().unwrap().to_owned();
    let entry = |kind: &str, name: &str| json!({"group": "", "version": "v1", "kind": kind, "namespace": "team", "name": name});
    root["status"] = json!({"inventory": [entry("ConfigMap", "old"), entry("Service", "moved")]});
    let mut snapshot = with_definition();
    let old = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old", "namespace": "team"}});
    snapshot.add_live(installed(&old, &name, "set-uid"));
    let mut sibling = set(InstallType::Deployment, &json!({}));
    sibling["spec"]["manifests"] = json!([
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "moved", "namespace": "team"}},
    ]);
    snapshot.add(sibling);
    let plan = plan_of(&root, &snapshot);
    let removed = plan
        .steps
        .iter()
        .filter(|step| step.action.planned() == Verb::Delete);
    let removed: Vec<String> = removed.map(|step| step.key.to_string()).collect();
    assert_eq!(removed, ["ConfigMap team/old"]);
}

#[test]
fn a_set_that_goes_empties_its_places_in_groups() {
    let mut root = set(InstallType::Static, &json!({}));
    root["status"] = json!({"inventory": [
        {"group": "", "version": "v1", "kind": "Secret", "namespace": "team", "name": "old"},
    ]});
    let places = places(&root);
    let places: Vec<String> = places
        .iter()
        .map(|(key, options)| format!("{} {}", options.phase, key.kind))
        .collect();
    assert_eq!(places, ["0 Till", "3 ConfigMap", "3 Secret"]);
}

fn row(unit: &'static str, kind: Kind, change: Change) -> ObjectChange {
    ObjectChange {
        key: ObjectKey::new(kind, "team", "till"),
        unit,
        planned: Verb::Create,
        change,
    }
}

fn report_on(root: &Value, rows: Vec<ObjectChange>) -> Report {
    let reconciler = reconciler();
    let object = reconciler.decode(root).unwrap();
    let snapshot = with_definition();
    let changes = ChangeSet { rows };
    reconciler.report(&ReportInput {
        root,
        object: Some(&object),
        input: None,
        snapshot: &snapshot,
        live: &snapshot,
        end: ReconcileEnd::Committed(&changes),
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

#[test]
fn an_empty_set_is_ready_at_once() {
    let report = report_on(&set(InstallType::Static, &json!({})), Vec::new());
    assert_eq!(
        conditions(&report),
        [
            "ClustersScoped=True/NoResources",
            "CrdInstalled=True/NoResources",
            "DeploymentsAvailable=True/NoResources",
            "NamespaceScoped=True/NoResources",
            "Ready=True/Ready",
            "StatefulSetReady=True/NoResources",
        ]
    );
    assert_eq!(report.status["connectorVersion"], "v0.0.1-1.0.0");
    assert_eq!(report.status["observedGeneration"], 1);
}

#[test]
fn a_workload_that_is_not_ready_says_why_and_the_next_phase_is_written_all_the_same() {
    let workload = |kind: &Kind, ready: bool| {
        let mut live = live(kind, "team", "till");
        live.facts = json!({"ready": ready, "detail": "0/2 ready"});
        Change::Created(Arc::new(live))
    };
    let rows = vec![
        row(
            "DeploymentsAvailable",
            kinds::DEPLOYMENT,
            workload(&kinds::DEPLOYMENT, false),
        ),
        row(
            "StatefulSetReady",
            kinds::STATEFUL_SET,
            workload(&kinds::STATEFUL_SET, true),
        ),
    ];
    let report = report_on(&set(InstallType::Deployment, &json!({})), rows);
    let said = conditions(&report);
    assert_eq!(said[2], "DeploymentsAvailable=False/DeploymentsNotReady");
    assert_eq!(said[4], "Ready=False/DeploymentsNotReady");
    assert_eq!(said[5], "StatefulSetReady=True/StatefulSetReady");
    assert_eq!(
        report.status["conditions"][2]["message"],
        "team/till: 0/2 ready"
    );
    assert_eq!(report.status["connectorVersion"], "v0.0.1-1.0.0");
}

#[test]
fn a_failure_is_told_with_its_object_and_later_phases_are_pending() {
    let holder = "belongs to InstallManifest other".to_owned();
    let role = Kind::from_parts("rbac.authorization.k8s.io/v1", "ClusterRole");
    let map = Kind::from_parts("v1", "ConfigMap");
    let rows = vec![
        row(
            "ClustersScoped",
            role,
            Change::Failed(Failure::Foreign { holder }),
        ),
        row("NamespaceScoped", map, Change::Skipped),
    ];
    let mut root = set(InstallType::Static, &json!({}));
    let report = report_on(&root, rows.clone());
    let said = conditions(&report);
    assert_eq!(said[0], "ClustersScoped=False/OwnershipConflict");
    assert_eq!(said[3], "NamespaceScoped=Unknown/Pending");
    assert_eq!(said[4], "Ready=False/OwnershipConflict");
    assert!(report.status.get("connectorVersion").is_none());
    let message = report.status["conditions"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("ClusterRole team/till: exists and belongs to"));
    // What was said about the same objects before stands.
    root["status"] = report.status.clone();
    root["status"]["conditions"][3]["status"] = json!("True");
    root["status"]["conditions"][3]["reason"] = json!("Installed");
    assert_eq!(
        conditions(&report_on(&root, rows))[3],
        "NamespaceScoped=True/Installed"
    );
}

#[test]
fn a_set_that_is_being_deleted_says_how_much_is_left() {
    let mut root = set(InstallType::Static, &json!({}));
    root["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:10:00Z");
    let till = Kind::from_parts("shop.example.com/v1", "Till");
    let mut left = row("engine", till, Change::Deleting);
    left.planned = Verb::Delete;
    let changes = ChangeSet { rows: vec![left] };
    let snapshot = snapshot();
    let report = reconciler().report_deletion(&DeletionInput {
        root: &root,
        snapshot: &snapshot,
        changes: &changes,
        now: &now(),
    });
    assert_eq!(conditions(&report), ["Ready=False/Uninstalling"]);
    assert_eq!(
        report.status["conditions"][0]["message"],
        "1 of 2 objects are left"
    );
    assert_eq!(report.events[0].reason, "DeletionStuck");
}
