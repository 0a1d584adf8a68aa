use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use mainstay_engine::{Kind, ObjectKey, change_set::Verb, owned::Owned};
use serde_json::json;

use super::*;
use crate::{
    fixture::{kaoto, settings},
    kinds,
    settings::ClusterType,
    validate::validate,
};

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn live(kind: Kind, facts: Value) -> Arc<LiveObject> {
    Arc::new(LiveObject {
        key: ObjectKey::new(kind, "studio", "canvas"),
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        deleting: false,
        owners: Vec::new(),
        owned: Owned::default(),
        marked: None,
        foreign_items: Vec::new(),
        migrated_managed_fields: None,
        facts,
    })
}

fn row(unit: &'static str, kind: Kind, change: Change) -> ObjectChange {
    ObjectChange {
        key: ObjectKey::new(kind, "studio", "canvas"),
        unit,
        planned: Verb::Update,
        change,
    }
}

/// Rows of a reconcile over a plain cluster.
fn changes(service: Change, ingress: Change, deployment: Change) -> ChangeSet {
    ChangeSet {
        rows: vec![
            row("service", kinds::SERVICE, service),
            row("ingress", kinds::INGRESS, ingress),
            row("deployment", kinds::DEPLOYMENT, deployment),
        ],
    }
}

fn created(kind: Kind) -> Change {
    Change::Created(live(kind, Value::Null))
}

fn refused(message: &str) -> Change {
    Change::Failed(Failure::Refused {
        message: message.to_owned(),
    })
}

fn foreign() -> Change {
    Change::Failed(Failure::Foreign {
        holder: "belongs to ConfigMap other".to_owned(),
    })
}

fn say_at(root: &Value, end: ReconcileEnd<'_>, seconds: i64) -> Report {
    let input = validate(root, &settings(ClusterType::Vanilla)).ok();
    report(root, input.as_ref(), end, &at(seconds))
}

fn say(root: &Value, end: ReconcileEnd<'_>) -> Report {
    say_at(root, end, 100)
}

/// `type status reason message` of every condition.
fn conditions_of(report: &Report) -> Vec<String> {
    let word = |condition: &Value, field: &str| condition[field].as_str().unwrap().to_owned();
    let conditions = report.status["conditions"].as_array().unwrap();
    let line = |condition| {
        ["type", "status", "reason", "message"]
            .map(|field| word(condition, field))
            .join(" ")
    };
    conditions.iter().map(line).collect()
}

#[test]
fn a_new_object_without_exposure_is_ready() {
    let changes = changes(
        created(kinds::SERVICE),
        Change::Unchanged(None),
        created(kinds::DEPLOYMENT),
    );
    let report = say(&kaoto(json!({})), ReconcileEnd::Committed(&changes));
    let condition = |r#type: &str, status: &str, reason: &str| {
        json!({
            "type": r#type, "status": status, "reason": reason, "message": reason,
            "observedGeneration": 3, "lastTransitionTime": "1970-01-01T00:01:40Z",
        })
    };
    assert_eq!(
        report.status,
        json!({
            "phase": "Ready",
            "observedGeneration": 3,
            "endpoint": "http://canvas.studio.svc.cluster.local:8080/",
            "conditions": [
                condition("Deployment", "True", "Deployed"),
                condition("Ingress", "False", "NotRequires"),
                condition("Reconcile", "True", "Reconciled"),
                condition("Service", "True", "Deployed"),
            ],
        })
    );
    assert_eq!(report.outcome, Outcome::Success);
    assert_eq!(report.events, []);
}

#[test]
fn an_address_of_the_ingress_moves_the_endpoint_outside() {
    let root = kaoto(json!({"ingress": {}}));
    let ingress = live(kinds::INGRESS, json!({"ip": "192.0.2.8"}));
    let changes = changes(
        Change::Unchanged(Some(live(kinds::SERVICE, Value::Null))),
        Change::Unchanged(Some(ingress)),
        created(kinds::DEPLOYMENT),
    );
    let report = say(&root, ReconcileEnd::Committed(&changes));
    assert_eq!(report.status["endpoint"], "http://192.0.2.8/canvas/");
    assert_eq!(conditions_of(&report)[1], "Ingress True Deployed Deployed");
}

#[test]
fn a_refused_service_is_named_and_the_rest_is_told_as_it_is() {
    let mut root = kaoto(json!({}));
    root["status"] = json!({"phase": "Ready", "observedGeneration": 2, "endpoint": "http://old/"});
    let changes = changes(
        refused("services is forbidden"),
        Change::Deleted,
        created(kinds::DEPLOYMENT),
    );
    let report = say(&root, ReconcileEnd::Committed(&changes));
    assert_eq!(
        conditions_of(&report),
        [
            "Deployment True Deployed Deployed",
            "Ingress False NotRequires NotRequires",
            "Reconcile False Failure Service studio/canvas: services is forbidden",
            "Service False Failure Service studio/canvas: services is forbidden",
        ]
    );
    assert_eq!(
        (
            &report.status["phase"],
            &report.status["observedGeneration"]
        ),
        (&json!("Error"), &json!(2))
    );
    assert_eq!(
        report.status["endpoint"],
        "http://canvas.studio.svc.cluster.local:8080/"
    );
    assert_eq!(report.outcome.label(), "transient");
}

#[test]
fn an_object_that_somebody_keeps_changing_back_does_not_count_as_achieved() {
    let contested = Change::Contested(Contest {
        live: live(kinds::SERVICE, Value::Null),
        rival: Some("meddler".to_owned()),
        pause: Duration::from_secs(40),
    });
    let changes = changes(contested, Change::Deleted, created(kinds::DEPLOYMENT));
    let report = say(&kaoto(json!({})), ReconcileEnd::Committed(&changes));
    let text = "Service studio/canvas: is changed back again and again, last by the field manager `meddler`";
    assert_eq!(
        conditions_of(&report),
        [
            "Deployment True Deployed Deployed".to_owned(),
            "Ingress False NotRequires NotRequires".to_owned(),
            format!("Reconcile False Failure {text}"),
            format!("Service False Failure {text}"),
        ]
    );
    assert_eq!(report.status["phase"], "Error");
    assert_eq!(
        report.outcome,
        Outcome::Success,
        "another try would not help"
    );
}

#[test]
fn a_failed_exposure_leaves_the_endpoint_as_it_was() {
    let mut root = kaoto(json!({"ingress": {"host": "Not A Host"}}));
    let changes = changes(
        created(kinds::SERVICE),
        refused("host is invalid"),
        created(kinds::DEPLOYMENT),
    );
    let first = say(&root, ReconcileEnd::Committed(&changes));
    assert_eq!(first.status.get("endpoint"), None);
    assert_eq!(first.status.get("observedGeneration"), None);
    assert_eq!(
        conditions_of(&first)[1],
        "Ingress False Failure Ingress studio/canvas: host is invalid"
    );
    root["status"] = json!({"phase": "Ready", "endpoint": "http://before/"});
    assert_eq!(
        say(&root, ReconcileEnd::Committed(&changes)).status["endpoint"],
        "http://before/"
    );
}

#[test]
fn all_failures_are_joined_in_the_order_of_the_objects() {
    let changes = changes(
        refused("first"),
        refused("second"),
        created(kinds::DEPLOYMENT),
    );
    let report = say(
        &kaoto(json!({"ingress": {}})),
        ReconcileEnd::Committed(&changes),
    );
    assert_eq!(
        conditions_of(&report)[2],
        "Reconcile False Failure Service studio/canvas: first; Ingress studio/canvas: second"
    );
}

#[test]
fn a_text_of_any_length_fits_into_a_condition() {
    let changes = changes(
        refused(&"x".repeat(40_000)),
        Change::Unchanged(None),
        created(kinds::DEPLOYMENT),
    );
    let report = say(&kaoto(json!({})), ReconcileEnd::Committed(&changes));
    assert_eq!(
        report.status["conditions"][2]["message"]
            .as_str()
            .unwrap()
            .len(),
        32_768
    );
}

#[test]
fn a_foreign_object_is_named_and_looked_at_again_later() {
    let all_else_well = changes(
        foreign(),
        Change::Unchanged(None),
        created(kinds::DEPLOYMENT),
    );
    let report = say(&kaoto(json!({})), ReconcileEnd::Committed(&all_else_well));
    assert_eq!(
        conditions_of(&report)[3],
        "Service False Failure Service studio/canvas: exists and belongs to ConfigMap other; rename or remove one of the two"
    );
    let Outcome::Terminal { recheck, .. } = report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert_eq!(recheck, Some(Duration::from_mins(5)));
    let more_is_wrong = changes(foreign(), Change::Unchanged(None), refused("no"));
    assert_eq!(
        say(&kaoto(json!({})), ReconcileEnd::Committed(&more_is_wrong))
            .outcome
            .label(),
        "transient"
    );
}

#[test]
fn a_rejected_path_is_told_on_the_ingress_and_the_others_keep_their_word() {
    let mut root = kaoto(json!({"ingress": {}}));
    let well = changes(
        created(kinds::SERVICE),
        created(kinds::INGRESS),
        created(kinds::DEPLOYMENT),
    );
    root["status"] = say(&root, ReconcileEnd::Committed(&well)).status;
    root["spec"]["ingress"]["path"] = json!("/a;b");
    root["metadata"]["generation"] = json!(4);
    let rejection = validate(&root, &settings(ClusterType::Vanilla)).unwrap_err();
    let report = say(&root, ReconcileEnd::Rejected(&rejection));
    let text = "spec.ingress.path: contains ';', which is not allowed in a path; use a plain path such as `/designer`; \
                the rest of the expression is added to it";
    assert_eq!(
        conditions_of(&report),
        [
            "Deployment True Deployed Deployed".to_owned(),
            format!("Ingress False Failure {text}"),
            format!("Reconcile False Failure {text}"),
            "Service True Deployed Deployed".to_owned(),
        ]
    );
    assert_eq!(
        (
            &report.status["phase"],
            &report.status["observedGeneration"]
        ),
        (&json!("Error"), &json!(3))
    );
    assert_eq!(report.status["endpoint"], root["status"]["endpoint"]);
    assert_eq!(
        report.outcome,
        Outcome::Terminal {
            reason: "Rejected",
            recheck: None
        }
    );
}

#[test]
fn a_rejection_elsewhere_does_not_speak_of_the_ingress() {
    let root = kaoto(json!({"image": 7}));
    let rejection = validate(&root, &settings(ClusterType::Vanilla)).unwrap_err();
    let types: Vec<_> = conditions_of(&say(&root, ReconcileEnd::Rejected(&rejection)));
    assert_eq!(types.len(), 1);
    assert!(types[0].starts_with("Reconcile False Failure spec.image: is a number"));
}

#[test]
fn a_contended_finalizer_changes_nothing_and_a_refused_one_is_told() {
    let skipped = |finalizer: Change| {
        let mut changes = changes(Change::Skipped, Change::Skipped, Change::Skipped);
        changes
            .rows
            .insert(0, row(ENGINE_UNIT, kinds::KAOTO, finalizer));
        changes
    };
    let mut root = kaoto(json!({}));
    let contended = skipped(Change::Failed(Failure::Transient {
        message: "was changed meanwhile".to_owned(),
    }));
    let report = say(&root, ReconcileEnd::Committed(&contended));
    assert_eq!(
        (report.status, report.outcome.label()),
        (Value::Null, "transient")
    );
    root["status"] = json!({"phase": "Ready"});
    assert_eq!(
        say(&root, ReconcileEnd::Committed(&contended)).status,
        root["status"]
    );
    let report = say(
        &root,
        ReconcileEnd::Committed(&skipped(refused("forbidden"))),
    );
    assert_eq!(
        conditions_of(&report),
        ["Reconcile False Failure Kaoto studio/canvas: forbidden"]
    );
    assert_eq!(report.status["phase"], "Error");
}

#[test]
fn a_second_pass_over_the_same_state_says_the_same() {
    let mut root = kaoto(json!({}));
    let changes = changes(
        created(kinds::SERVICE),
        Change::Unchanged(None),
        created(kinds::DEPLOYMENT),
    );
    root["status"] = say(&root, ReconcileEnd::Committed(&changes)).status;
    let again = say_at(&root, ReconcileEnd::Committed(&changes), 200);
    assert_eq!(again.status, root["status"]);
}

#[test]
fn conditions_of_others_stay_and_what_is_no_condition_goes() {
    let mut root = kaoto(json!({}));
    let theirs = json!({
        "type": "Audited", "status": "True", "reason": "Seen", "message": "",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    });
    root["status"] =
        json!({"phase": "Ready", "conditions": [theirs, "garbage", {"type": 7}], "invented": 1});
    let changes = changes(
        created(kinds::SERVICE),
        Change::Unchanged(None),
        created(kinds::DEPLOYMENT),
    );
    let report = say(&root, ReconcileEnd::Committed(&changes));
    assert_eq!(report.status["conditions"].as_array().unwrap().len(), 5);
    assert_eq!(report.status["conditions"][0], theirs);
    assert_eq!(report.status.get("invented"), None);
}
