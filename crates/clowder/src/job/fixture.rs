//! Passes over small invocations, for tests.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use mainstay_engine::{
    ObjectKey,
    change_set::{Change, ChangeSet, Failure, ObjectChange, Verb},
    live::{LiveObject, LiveView, Owner},
    owned::Owned,
    reconciler::{Event, ReconcileEnd},
};
use serde_json::json;

use super::*;
use crate::views;

/// The environment `stage`, its app `shop` in the namespace `market`, and an invocation `run` of it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) environment: Value,
    pub(super) app: Value,
    pub(super) invocation: Value,
    pub(super) others: Vec<Value>,
    /// Jobs of the invocation and how they ended; empty if they did not.
    pub(super) jobs: Vec<(String, &'static str)>,
    /// What the API server refuses.
    pub(super) refused: Option<&'static str>,
}

/// An app that is ready, with this spec, and an invocation with this one.
pub(super) fn case(app: Value, invocation: Value) -> Case {
    let mut case = Case {
        environment: json!({
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdEnvironment",
            "metadata": {"name": "stage", "uid": "environment-uid"},
            "spec": {
                "providers": {"metrics": {"mode": "none", "port": 9000}, "web": {"mode": "operator"}},
                "resourceDefaults": {"limits": {"cpu": "400m", "memory": "512Mi"},
                    "requests": {"cpu": "40m", "memory": "64Mi"}},
            },
        }),
        app: json!({
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
            "metadata": {"name": "shop", "namespace": "market", "uid": "app-uid", "generation": 2},
            "status": {"ready": true, "generation": 2, "conditions": [{
                "type": "ReconciliationSuccessful", "status": "True", "reason": "ReconciliationSucceeded",
                "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }]},
        }),
        invocation: json!({
            "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdJobInvocation",
            "metadata": {"name": "run", "namespace": "market", "uid": "run-uid", "generation": 1, "resourceVersion": "5"},
        }),
        others: Vec::new(),
        jobs: Vec::new(),
        refused: None,
    };
    case.app["spec"] = app;
    case.app["spec"]["envName"] = json!("stage");
    case.invocation["spec"] = invocation;
    if case.invocation["spec"]["appName"].is_null() {
        case.invocation["spec"]["appName"] = json!("shop");
    }
    case
}

/// What a reconcile came to.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) objects: Vec<Value>,
    pub(super) report: Report,
    pub(super) related_events: Option<RelatedEvents>,
}

impl Walked {
    /// The object of this kind.
    pub(super) fn one(&self, kind: &str) -> &Value {
        let mut found = self.objects.iter().filter(|object| object["kind"] == kind);
        let one = found.next().unwrap_or_else(|| panic!("no {kind}"));
        assert!(found.next().is_none(), "more than one {kind}");
        one
    }

    /// Message of the failure.
    pub(super) fn failure(&self) -> &str {
        let conditions = self.report.status["conditions"].as_array().unwrap();
        let failed = conditions.iter().find(|condition| {
            condition["type"] == "ReconciliationFailed" && condition["status"] == "True"
        });
        failed.unwrap()["message"].as_str().unwrap()
    }

    /// Events on the invocation.
    pub(super) fn events(&self) -> Vec<String> {
        self.report.events.iter().map(words).collect()
    }

    /// Events on the app.
    pub(super) fn events_aside(&self) -> Vec<String> {
        let related_events = self.related_events.as_ref().unwrap();
        assert_eq!(
            (
                related_events.about.to_string(),
                related_events.uid.as_str()
            ),
            ("ClowdApp market/shop".to_owned(), "app-uid")
        );
        related_events.events.iter().map(words).collect()
    }
}

fn words(event: &Event) -> String {
    let kind = if event.warning { "Warning" } else { "Normal" };
    format!("{kind} {}: {}", event.reason, event.message)
}

impl LiveView for Case {
    fn get(&self, _key: &ObjectKey) -> Option<Arc<LiveObject>> {
        None
    }

    fn owned_by(&self, owner_uid: &str) -> Vec<Arc<LiveObject>> {
        assert_eq!(owner_uid, "run-uid");
        let jobs = self.jobs.iter().map(|(name, end)| {
            let facts = if end.is_empty() {
                Value::Null
            } else {
                json!({"end": end})
            };
            Arc::new(LiveObject {
                key: ObjectKey::new(kinds::JOB, "market", name.as_str()),
                uid: format!("{name}-uid"),
                resource_version: "1".to_owned(),
                deleting: false,
                owners: vec![Owner {
                    group: crate::names::GROUP.to_owned(),
                    kind: "ClowdJobInvocation".to_owned(),
                    name: "run".to_owned(),
                    uid: owner_uid.to_owned(),
                    controller: true,
                }],
                owned: Owned::default(),
                marked: None,
                foreign_items: Vec::new(),
                migrated_managed_fields: None,
                facts,
            })
        });
        jobs.collect()
    }
}

impl Case {
    /// One reconcile, all of whose writes succeed unless one is refused.
    pub(super) fn reconcile(&self) -> Walked {
        let reconciler = JobReconciler {
            settings: Arc::default(),
        };
        let objects = [&self.environment, &self.app, &self.invocation].into_iter();
        let snapshot = views::files(objects.chain(&self.others).cloned());
        let object = reconciler.decode(&self.invocation).ok();
        let mut input = None;
        let walked = |objects: Vec<Value>, input: Option<&JobInput>, end: ReconcileEnd<'_>| {
            let input = ReportInput {
                root: &self.invocation,
                object: object.as_ref(),
                input,
                snapshot: &snapshot,
                live: self,
                end,
                now: &Time(Timestamp::UNIX_EPOCH),
            };
            Walked {
                objects,
                related_events: reconciler.related_events(&input),
                report: reconciler.report(&input),
            }
        };
        let Some(object) = &object else {
            let rejection = reconciler.decode(&self.invocation).unwrap_err();
            return walked(Vec::new(), None, ReconcileEnd::Rejected(&rejection));
        };
        let input: &JobInput = match reconciler.validate(object, &snapshot) {
            Ok(validated) => input.insert(validated),
            Err(ValidateError::Waiting(waiting)) => {
                return walked(Vec::new(), None, ReconcileEnd::Waiting(&waiting));
            }
            Err(ValidateError::Rejected(rejection)) => {
                return walked(Vec::new(), None, ReconcileEnd::Rejected(&rejection));
            }
            Err(ValidateError::Unknown) => panic!("files know everything"),
        };
        match reconciler.render(object, input, &snapshot) {
            Ok(set) => walked(
                set.bodies().cloned().collect(),
                Some(input),
                ReconcileEnd::Committed(&self.changes(&set)),
            ),
            Err(failure) => walked(Vec::new(), Some(input), ReconcileEnd::NotRendered(&failure)),
        }
    }

    fn changes(&self, set: &ObjectSet) -> ChangeSet {
        let rows = set.iter().map(|entry| ObjectChange {
            key: entry.key.clone(),
            unit: entry.unit,
            planned: Verb::Create,
            change: match self.refused {
                Some(message) => Change::Failed(Failure::Refused {
                    message: message.to_owned(),
                }),
                None => Change::Unchanged(None),
            },
        });
        ChangeSet {
            rows: rows.collect(),
        }
    }
}
