//! Golden cases: `tests/golden/openvox/<case>` holds `input.yaml` and what becomes of its Configs and of what they use:
//! objects, and the status of each root. `UPDATE_GOLDEN=1` rewrites the expectations.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read fixtures and fail by panicking; only the library is pure"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::{
    change_set::ChangeSet,
    reconciler::{ReconcileEnd, Reconciler, ReportInput},
    snapshot::FileSnapshot,
};
use mainstay_openvox::{
    config::ConfigReconciler,
    passive::{NodeClassifiers, ReportProcessors, SigningPolicies, UsedReconciler},
    views,
};
use mainstay_yaml::{Limits, SourceName, parse_documents, print_documents};
use serde_json::Value;

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/openvox");
    let entries = fs::read_dir(root).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// The objects of all roots of a kind, each root with its status behind them. Everything is accepted by the cluster.
fn walk<R: Reconciler>(reconciler: &R, objects: &[Value], snapshot: &FileSnapshot) -> Vec<Value> {
    let kind = reconciler.root_kind();
    let now = Time(Timestamp::UNIX_EPOCH);
    let mut walked = Vec::new();
    for root in objects.iter().filter(|object| object["kind"] == *kind.kind) {
        let object = reconciler.decode(root).unwrap();
        let input = reconciler.validate(&object, snapshot).unwrap();
        let report = |end: ReconcileEnd<'_>| {
            reconciler.report(&ReportInput {
                root,
                object: Some(&object),
                input: Some(&input),
                snapshot,
                live: snapshot,
                end,
                now: &now,
            })
        };
        let report = match reconciler.render(&object, &input, snapshot) {
            Ok(set) => {
                walked.extend(set.bodies().cloned());
                report(ReconcileEnd::Committed(&ChangeSet::default()))
            }
            Err(failure) => {
                let early = failure.early.iter().flat_map(|set| set.bodies());
                walked.extend(early.cloned());
                report(ReconcileEnd::NotRendered(&failure))
            }
        };
        let mut told = root.clone();
        told["status"] = report.status;
        walked.push(told);
    }
    walked
}

/// A Secret with its values as people can read them.
fn readable(mut object: Value) -> Value {
    let data = object.as_object_mut().unwrap();
    if data["kind"] == "Secret"
        && let Some(Value::Object(values)) = data.remove("data")
    {
        let text = |value: &Value| {
            let bytes = STANDARD.decode(value.as_str().unwrap()).unwrap();
            Value::String(String::from_utf8(bytes).unwrap())
        };
        let texts = values.iter().map(|(key, value)| (key.clone(), text(value)));
        data.insert("stringData".to_owned(), Value::Object(texts.collect()));
    }
    object
}

fn render(input: &str) -> String {
    let source = SourceName::new("input.yaml");
    let documents = parse_documents(input, &source, &Limits::default()).unwrap();
    let objects: Vec<Value> = documents
        .into_iter()
        .map(|document| document.value)
        .collect();
    let snapshot = views::files(objects.iter().cloned());
    let classifiers = UsedReconciler::<NodeClassifiers>::default();
    let processors = UsedReconciler::<ReportProcessors>::default();
    let policies = UsedReconciler::<SigningPolicies>::default();
    let walked = [
        walk(&ConfigReconciler, &objects, &snapshot),
        walk(&classifiers, &objects, &snapshot),
        walk(&processors, &objects, &snapshot),
        walk(&policies, &objects, &snapshot),
    ]
    .concat();
    let readable: Vec<Value> = walked.into_iter().map(readable).collect();
    print_documents(&readable)
}

#[test]
fn every_case_renders_as_expected_and_twice_the_same() {
    let mut complaints = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 3, "the cases are there: {cases:?}");
    for case in cases {
        let input = fs::read_to_string(case.join("input.yaml")).unwrap();
        let rendered = render(&input);
        assert_eq!(rendered, render(&input), "{}", case.display());
        let expected = case.join("expected.yaml");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &rendered).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != rendered {
            complaints.push(format!("{}:\n{rendered}", expected.display()));
        }
    }
    assert!(
        complaints.is_empty(),
        "UPDATE_GOLDEN=1 rewrites these:\n{}",
        complaints.join("\n")
    );
}
