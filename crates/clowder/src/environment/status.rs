//! What a reconcile has to say about an environment.

use std::collections::BTreeSet;

use mainstay_api::clowder::{
    ClowdEnvironment, ClowdEnvironmentStatus,
    environment::status::{AppSummary, DeploymentSummary, EnvironmentCounts, PrometheusStatus},
};
use mainstay_engine::{
    ObjectKey,
    change_set::Verb,
    outcome::Outcome,
    reconciler::{Event, ReconcileEnd, Report, ReportInput, Waiting},
};
use serde_json::Value;

use super::EnvironmentReconciler;
use crate::{
    gates, names,
    providers::{
        images::first, kafka::topics, metrics::prometheus::server_address, provider::Context,
    },
    settings::Settings,
    status::{
        conditions::{self, DEPLOYMENTS_READY, Findings, SUCCESSFUL},
        counts::{EnvironmentCounts as Counts, Namespaces},
        failures,
    },
    views::{lookup::Lookup, summary::AppSummary as App, undecodable},
};

/// Longest list of apps in a status, in bytes of JSON. The API server takes objects of a megabyte and a half.
const LONGEST_LIST: usize = 768 * 1024;

/// Status, outcome and events of a reconcile over an environment.
pub(super) fn report(
    settings: &Settings,
    input: &ReportInput<'_, EnvironmentReconciler>,
) -> Report {
    let said_before = input.root.get("status").cloned().unwrap_or(Value::Null);
    let silent = |outcome: Outcome| Report {
        status: said_before.clone(),
        outcome,
        events: Vec::new(),
    };
    let Some(environment) = input.object else {
        let empty = ClowdEnvironmentStatus::default();
        return undecodable::report(input, DEPLOYMENTS_READY, empty);
    };
    let (error, outcome, events) = match input.end {
        ReconcileEnd::Waiting(hold) => match (gates::chosen_field(hold), held(environment, hold)) {
            (Some(field), _) => return chosen(environment, field, &hold.message),
            (None, Some(said)) => said,
            (None, None) => {
                return silent(Outcome::Waiting {
                    reason: hold.reason,
                });
            }
        },
        ReconcileEnd::Rejected(rejection) => failed(rejection.to_string()),
        ReconcileEnd::NotRendered(failure) => failed(failure.source.to_string()),
        ReconcileEnd::Committed(changes) => match failures::text("runprov", changes) {
            Some(text) => failed(text),
            None => match failures::contested(changes) {
                Some(text) => (Some(text), Outcome::Success, Vec::new()),
                None => (None, Outcome::Success, vec![reconciled(environment)]),
            },
        },
    };
    Report {
        status: status(
            settings,
            input,
            environment,
            error,
            outcome == Outcome::Success,
        ),
        outcome,
        events,
    }
}

/// Stores a name that was chosen, before anything is made under it: a crash in between leaves nothing behind.
fn chosen(environment: &ClowdEnvironment, field: &str, name: &str) -> Report {
    let status = environment.status.clone().unwrap_or_default();
    let mut status = serde_json::to_value(status).unwrap_or_default();
    status[field] = Value::from(name);
    Report {
        status,
        outcome: Outcome::Again,
        events: Vec::new(),
    }
}

type Said = (Option<String>, Outcome, Vec<Event>);

fn failed(error: String) -> Said {
    let outcome = Outcome::Transient {
        reason: "FailedReconciliation",
    };
    (Some(error), outcome, Vec::new())
}

/// What there is to say while an environment waits; `None` if nothing.
fn held(environment: &ClowdEnvironment, hold: &Waiting) -> Option<Said> {
    let asked = &environment.spec.target_namespace;
    let events = match hold.reason {
        gates::NAMESPACE_MISSING => vec![Event {
            warning: true,
            reason: gates::NAMESPACE_MISSING,
            message: format!("Requested Target Namespace [{asked}] is missing"),
        }],
        gates::NO_TARGET_NAMESPACE | gates::NAMESPACE_TERMINATING => Vec::new(),
        _ => return None,
    };
    let outcome = Outcome::Waiting {
        reason: hold.reason,
    };
    Some((Some(hold.message.clone()), outcome, events))
}

fn reconciled(environment: &ClowdEnvironment) -> Event {
    let name = names::name(&environment.metadata);
    Event {
        warning: false,
        reason: "SuccessfulReconciliation",
        message: format!("Environment reconciled [{name}]"),
    }
}

/// The status. What somebody else keeps changing back is an error to tell of, and everything else succeeded.
fn status(
    settings: &Settings,
    input: &ReportInput<'_, EnvironmentReconciler>,
    environment: &ClowdEnvironment,
    error: Option<String>,
    succeeded: bool,
) -> Value {
    let mut status = environment.status.clone().unwrap_or_default();
    let generation = environment.metadata.generation;
    // The namespace was found before anything else was tried, and it is the environment's from then on.
    let found = matches!(
        input.end,
        ReconcileEnd::NotRendered(_) | ReconcileEnd::Committed(_)
    );
    if found && status.target_namespace.is_empty() {
        status
            .target_namespace
            .clone_from(&environment.spec.target_namespace);
    }
    let counts = counts(settings, input, environment, &status.target_namespace);
    let broken = counts.broken();
    // With its namespace everything goes that the counts still find there.
    let ready = broken.is_none() && !is_leaving(&input.end);
    let cut = if succeeded {
        succeed(&mut status, settings, input, environment, &counts)
    } else {
        None
    };
    let findings = Findings {
        error,
        ready,
        not_ready: format!(
            "Deployments are not yet ready: {}",
            broken.unwrap_or_default()
        ),
    };
    status.conditions = conditions::merge(&status.conditions, &findings, generation, input.now);
    if let Some(cut) = cut {
        let mut conditions = status.conditions.iter_mut();
        if let Some(success) = conditions.find(|condition| condition.type_ == SUCCESSFUL) {
            success.message = cut;
        }
    }
    status.ready = ready;
    serde_json::to_value(status).unwrap_or_default()
}

/// Whether the target namespace is on its way out.
fn is_leaving(end: &ReconcileEnd<'_>) -> bool {
    matches!(end, ReconcileEnd::Waiting(hold) if hold.reason == gates::NAMESPACE_TERMINATING)
}

fn counts(
    settings: &Settings,
    input: &ReportInput<'_, EnvironmentReconciler>,
    environment: &ClowdEnvironment,
    target_namespace: &str,
) -> Counts {
    let name = names::name(&environment.metadata);
    let kafka = &environment.spec.providers.kafka;
    let lookup = Lookup::new(input.snapshot, settings);
    let usual = lookup.namespaces(name, target_namespace);
    let namespaces = Namespaces {
        usual: usual.into_iter().collect(),
        kafka: first(&[&kafka.namespace, &kafka.cluster.namespace]).to_owned(),
    };
    let uid = environment.metadata.uid.as_deref().unwrap_or_default();
    let with_strimzi = settings.config.features.watch_strimzi_resources;
    let ReconcileEnd::Committed(changes) = input.end else {
        // Without a whole plan nobody knows what is missing in it.
        return Counts::of(input.live, uid, &namespaces, with_strimzi, |_| true);
    };
    let planned = changes.rows.iter();
    let planned = planned.filter(|row| row.planned != Verb::Delete);
    let mut known: BTreeSet<ObjectKey> = planned.map(|row| row.key.clone()).collect();
    known.extend(topics::of_apps(&Context {
        environment,
        target_namespace,
        settings,
        lookup,
    }));
    Counts::of(input.live, uid, &namespaces, with_strimzi, |key| {
        known.contains(key)
    })
}

/// What only a reconcile without an error says. Returns what has to be said of the list of apps.
fn succeed(
    status: &mut ClowdEnvironmentStatus,
    settings: &Settings,
    input: &ReportInput<'_, EnvironmentReconciler>,
    environment: &ClowdEnvironment,
    counts: &Counts,
) -> Option<String> {
    let name = names::name(&environment.metadata);
    let apps = Lookup::new(input.snapshot, settings).apps(name);
    let port = environment.spec.providers.web.port;
    let apps = apps.iter().filter(|app| !app.deleting);
    status.apps = apps.map(|app| summarized(app, port)).collect();
    let cut = cut(&mut status.apps, LONGEST_LIST);
    status.deployments = EnvironmentCounts {
        managed_deployments: counts.managed(),
        ready_deployments: counts.ready(),
        managed_topics: counts.topics.managed,
        ready_topics: counts.topics.ready,
    };
    status.prometheus = PrometheusStatus {
        server_address: server_address(environment, &status.target_namespace),
    };
    status.generation = environment.metadata.generation.unwrap_or_default();
    cut
}

/// Shortens the list of apps to so many bytes of JSON, and says so if there were more: an object that is too large for
/// the API server could not say anything any more.
fn cut(apps: &mut Vec<AppSummary>, bytes: usize) -> Option<String> {
    let all = apps.len();
    let mut used = 0;
    let kept = apps.iter().take_while(|app| {
        let text = serde_json::to_string(app).unwrap_or_default();
        used += text.len() + 1;
        used <= bytes
    });
    let kept = kept.count();
    apps.truncate(kept);
    (kept < all).then(|| format!("status.apps lists the first {kept} of {all} apps"))
}

fn summarized(app: &App, port: i32) -> AppSummary {
    let deployments = app.deployments.iter().map(|deployment| {
        let name = names::part(&app.name, &deployment.name);
        if !deployment.is_web() {
            return DeploymentSummary {
                name,
                ..DeploymentSummary::default()
            };
        }
        DeploymentSummary {
            hostname: names::host(&name, &app.namespace),
            port,
            name,
        }
    });
    let mut deployments: Vec<DeploymentSummary> = deployments.collect();
    deployments.sort_by(|one, other| one.name.cmp(&other.name));
    AppSummary {
        name: app.name.clone(),
        deployments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_apps_that_is_too_long_is_cut_with_a_count() {
        let app = |number: usize| AppSummary {
            name: format!("app-{number:04}"),
            deployments: vec![DeploymentSummary {
                name: "web".to_owned(),
                ..DeploymentSummary::default()
            }],
        };
        let all: Vec<AppSummary> = (0..5000).map(app).collect();
        let each = serde_json::to_string(&app(0)).unwrap().len() + 1;
        let mut short = all.clone();
        assert_eq!(cut(&mut short, each * 5000), None);
        assert_eq!(short, all, "below the limit nothing changes");
        assert_eq!(
            cut(&mut short, each * 4000 + 1).as_deref(),
            Some("status.apps lists the first 4000 of 5000 apps")
        );
        assert_eq!(short, all[..4000]);
        assert!(each * 4000 < LONGEST_LIST, "room for thousands");
    }
}
