//! What a Connector has to say: how far its sets have come.

use std::sync::Arc;

use mainstay_api::connectors::Connector;
use mainstay_engine::{
    change_set::{Change, ChangeSet, Failure},
    conditions::Wanted,
    decode::decode,
    outcome::Outcome,
    plan::ENGINE_UNIT,
    reconciler::{DeletionInput, Event, ReconcileEnd, Report, ReportInput, Waiting},
};
use mainstay_manifest::identity::InstallType;

use super::{ConnectorInput, ConnectorReconciler, SETS, place, sets};
use crate::{
    names,
    phases::Phase,
    said::{FALSE, READY, TRUE, UNKNOWN, list, merged, normal, ready, status, wanted, warning},
    views::SetView,
};

const TRANSFORMED: &str = "TransformersSucceeded";
const INSTALLED: &str = "InstallSucceeded";
const AVAILABLE: &str = "WorkloadAvailable";
const INSTALL_FAILED: &str = "InstallFailed";

type Input<'reconcile> = ReportInput<'reconcile, ConnectorReconciler>;

pub(super) fn report(input: &Input<'_>) -> Report {
    let Some(connector) = input.object else {
        return Report {
            status: input.root.get("status").cloned().unwrap_or_default(),
            outcome: Outcome::Terminal {
                reason: "Rejected",
                recheck: None,
            },
            events: Vec::new(),
        };
    };
    match (input.end, input.input) {
        (ReconcileEnd::Waiting(waiting), _) => not_rendered(input, connector, waiting),
        (ReconcileEnd::Committed(changes), Some(rendered)) => {
            committed(input, connector, rendered, changes)
        }
        (ReconcileEnd::NotRendered(failure), _) => {
            let (reason, message) = ("TransformFailed", failure.to_string());
            not_rendered(input, connector, &Waiting { reason, message })
        }
        (ReconcileEnd::Rejected(rejection), _) => {
            let (reason, message) = ("InvalidResource", rejection.to_string());
            not_rendered(input, connector, &Waiting { reason, message })
        }
        (ReconcileEnd::Committed(_), None) => unreachable_input(input),
    }
}

/// Nothing is committed for what was not rendered.
fn unreachable_input(input: &Input<'_>) -> Report {
    Report {
        status: input.root.get("status").cloned().unwrap_or_default(),
        outcome: Outcome::Again,
        events: Vec::new(),
    }
}

/// What is installed stays as it is, and the other conditions say what they said.
fn not_rendered(input: &Input<'_>, connector: &Connector, waiting: &Waiting) -> Report {
    let message = waiting.message.as_str();
    let transformed = wanted(TRANSFORMED, FALSE, waiting.reason, message);
    let ready = wanted(READY, FALSE, waiting.reason, message);
    let mut said = connector.status.clone().unwrap_or_default();
    let generation = connector.metadata.generation;
    said.conditions = merged(
        &said.conditions,
        &[transformed, ready],
        generation,
        input.now,
    );
    said.observed_generation = generation;
    let event = if waiting.reason == "AdditionalManifestsFailed" {
        waiting.reason
    } else {
        "TransformFailed"
    };
    Report {
        status: status(&said),
        outcome: Outcome::Transient {
            reason: waiting.reason,
        },
        events: vec![warning(event, message)],
    }
}

fn committed(
    input: &Input<'_>,
    connector: &Connector,
    rendered: &ConnectorInput,
    changes: &ChangeSet,
) -> Report {
    let rendering = &rendered.rendering;
    let sets = sets(connector, input.snapshot);
    let transformed = wanted(
        TRANSFORMED,
        TRUE,
        TRANSFORMED,
        if rendering.not_found.is_empty() {
            String::new()
        } else {
            format!("no workload is named {}", rendering.not_found.join(", "))
        },
    );
    let conditions = [
        transformed,
        installed(rendered, &sets, changes),
        available(rendered, &sets),
    ];
    let ready = ready(&conditions);
    let mut said = connector.status.clone().unwrap_or_default();
    let (namespace, name) = place(connector);
    said.install_manifests = [InstallType::Static, InstallType::Deployment]
        .map(|one| names::set(namespace, name, one))
        .into();
    said.additional_pages.clone_from(&rendering.pages);
    if conditions
        .iter()
        .any(|one| one.r#type == INSTALLED && one.status == TRUE)
    {
        said.version = Some(rendering.release.clone());
        said.manifests_hash = Some(rendering.hash());
    }
    let generation = connector.metadata.generation;
    said.observed_generation = generation;
    let events = events(connector, rendered, &conditions);
    let conditions: Vec<Wanted> = conditions.into_iter().chain([ready.clone()]).collect();
    said.conditions = merged(&said.conditions, &conditions, generation, input.now);
    let reason = ready.reason;
    let outcome = match ready.status {
        TRUE => Outcome::Success,
        _ if changes.failures().next().is_some() => Outcome::Transient { reason },
        _ => Outcome::Waiting { reason },
    };
    Report {
        status: status(&said),
        outcome,
        events,
    }
}

/// The sets that speak about what is rendered now; none if one of them does not.
fn speaking<'sets>(
    rendered: &ConnectorInput,
    sets: &'sets [Arc<SetView>],
) -> Option<[&'sets SetView; 2]> {
    let of = |one: InstallType| {
        let hash = &rendered.rendering.part(one).hash;
        sets.iter().map(|set| &**set).find(|set| {
            let is_it = set.install_type.as_deref() == Some(one.as_str());
            is_it && set.hash.as_ref() == Some(hash) && set.is_handled() && !set.deleting
        })
    };
    Some([of(InstallType::Static)?, of(InstallType::Deployment)?])
}

fn installed(rendered: &ConnectorInput, sets: &[Arc<SetView>], changes: &ChangeSet) -> Wanted {
    if let (Some(reason), Some(failure)) = (rendered.state.reason, &rendered.state.failure) {
        return wanted(INSTALLED, FALSE, reason, failure.clone());
    }
    let failures = changes
        .failures()
        .filter(|(row, _)| row.unit == SETS || row.unit == ENGINE_UNIT);
    let failures: Vec<String> = failures
        .map(|(row, failure)| format!("{}: {}", row.key, failure_text(failure)))
        .collect();
    if !failures.is_empty() {
        return wanted(INSTALLED, FALSE, INSTALL_FAILED, list(failures));
    }
    if let Some(reason) = rendered.state.reason {
        return wanted(INSTALLED, UNKNOWN, reason, "");
    }
    let Some(sets) = speaking(rendered, sets) else {
        return wanted(
            INSTALLED,
            UNKNOWN,
            "Installing",
            "the sets are being installed",
        );
    };
    let mut pending = None;
    for set in sets {
        for phase in Phase::ALL {
            let Some(found) = set.condition(phase.condition()) else {
                pending = Some(wanted(INSTALLED, UNKNOWN, "Installing", ""));
                continue;
            };
            let is_workload = matches!(phase, Phase::Deployments | Phase::StatefulSets);
            let failed = ["InstallFailed", "OwnershipConflict", "ImmutableField"];
            match found.status.as_str() {
                FALSE if !is_workload || failed.contains(&found.reason.as_str()) => {
                    let message = format!("{}: {}: {}", set.name, found.reason, found.message);
                    return wanted(INSTALLED, FALSE, INSTALL_FAILED, message);
                }
                UNKNOWN => pending = Some(wanted(INSTALLED, UNKNOWN, "Installing", "")),
                _ => {}
            }
        }
    }
    pending.unwrap_or_else(|| wanted(INSTALLED, TRUE, INSTALLED, ""))
}

fn failure_text(failure: &Failure) -> String {
    failure.to_string()
}

fn available(rendered: &ConnectorInput, sets: &[Arc<SetView>]) -> Wanted {
    let pending = || wanted(AVAILABLE, UNKNOWN, "Pending", "");
    let Some(sets) = speaking(rendered, sets) else {
        return pending();
    };
    let phases = [Phase::Deployments, Phase::StatefulSets];
    let found = sets.iter().flat_map(|set| {
        let conditions = phases.iter().map(|phase| set.condition(phase.condition()));
        conditions.map(move |condition| (set.name.as_str(), condition))
    });
    let found: Vec<_> = found.collect();
    let not_ready = found.iter().filter_map(|(name, condition)| {
        let condition = condition.filter(|condition| condition.status == FALSE)?;
        Some(format!("{name}: {}", condition.message))
    });
    let not_ready: Vec<String> = not_ready.collect();
    if !not_ready.is_empty() {
        return wanted(AVAILABLE, FALSE, "WorkloadNotReady", list(not_ready));
    }
    let is_true = |condition: &crate::views::ConditionView| condition.status == TRUE;
    if found
        .iter()
        .all(|(_, condition)| condition.is_some_and(is_true))
    {
        wanted(AVAILABLE, TRUE, AVAILABLE, "")
    } else {
        pending()
    }
}

/// News: what begins, what has come to its end, and what the user should know.
fn events(connector: &Connector, rendered: &ConnectorInput, now: &[Wanted]) -> Vec<Event> {
    let before = connector.status.as_ref();
    let before = before.and_then(|status| {
        let mut conditions = status.conditions.iter();
        conditions.find(|one| one.type_ == INSTALLED)
    });
    let now = now.iter().find(|one| one.r#type == INSTALLED);
    let is_news = |now: &&Wanted| {
        before.is_none_or(|before| before.reason != now.reason || before.status != now.status)
    };
    let mut events = Vec::new();
    if let Some(now) = now.filter(is_news) {
        events.extend(match (now.status, now.reason) {
            (TRUE, _) => Some(normal("Installed", rendered.rendering.release.as_str())),
            (FALSE, _) => Some(warning(INSTALL_FAILED, now.message.as_str())),
            (_, reason @ ("Installing" | "Updating" | "Upgrading")) => {
                Some(normal(reason, rendered.rendering.release.as_str()))
            }
            _ => None,
        });
    }
    let is_new = connector.metadata.generation
        != connector
            .status
            .as_ref()
            .and_then(|status| status.observed_generation);
    if is_new {
        let not_found = rendered.rendering.not_found.iter();
        events.extend(not_found.map(|name| {
            let message = format!("no Deployment or StatefulSet of the bundle is named {name}");
            warning("WorkloadNotFound", message)
        }));
    }
    events.extend(rendered.rendering.stale.iter().map(|(url, cause)| {
        let message = format!("{url} could not be fetched and is as it was before: {cause}");
        warning("AdditionalManifestsStale", message)
    }));
    events
}

/// While a Connector is being deleted it waits for its sets.
pub(super) fn report_deletion(input: &DeletionInput<'_>) -> Report {
    let mut report = Report::of_deletion(input);
    let Ok(connector) = decode::<Connector>(input.root) else {
        return report;
    };
    let left = input.changes.rows.iter();
    let left = left.filter(|row| matches!(row.change, Change::Deleting | Change::Skipped));
    let left: Vec<String> = left.map(|row| row.key.name.clone()).collect();
    if left.is_empty() && report.outcome == Outcome::Success {
        report
            .events
            .push(normal("Uninstalled", "all sets are gone"));
        return report;
    }
    let reason = "WaitingForDeletion";
    let message = list(left);
    let installed = wanted(INSTALLED, UNKNOWN, reason, message.clone());
    let ready = wanted(READY, UNKNOWN, reason, message);
    let mut said = connector.status.clone().unwrap_or_default();
    let generation = connector.metadata.generation;
    said.conditions = merged(&said.conditions, &[installed, ready], generation, input.now);
    report.status = status(&said);
    if report.outcome == Outcome::Success {
        report.outcome = Outcome::Waiting { reason };
    }
    report
}
