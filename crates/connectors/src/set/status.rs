//! What a set has to say: one condition for each phase, and where its objects are.

use std::collections::BTreeSet;

use mainstay_api::connectors::{
    InstallManifest, InstallManifestStatus, install_manifest::InventoryEntry,
};
use mainstay_engine::{
    ObjectKey,
    change_set::{Change, ChangeSet, Failure, ObjectChange, Verb},
    conditions::Wanted,
    decode::decode,
    live::{LiveObject, LiveView},
    outcome::Outcome,
    plan::ENGINE_UNIT,
    reconciler::{DeletionInput, Event, ReconcileEnd, Report, ReportInput, Waiting},
};
use mainstay_manifest::Identity;

use super::{Set, SetReconciler, bodies, places};
use crate::{
    inventory,
    phases::Phase,
    said::{FALSE, READY, TRUE, UNKNOWN, list, merged, normal, ready, status, wanted, warning},
    views, workload,
};

const PENDING: &str = "Pending";
const INSTALL_FAILED: &str = "InstallFailed";
const OWNERSHIP_CONFLICT: &str = "OwnershipConflict";

/// A deletion that takes longer than this is worth a warning.
const STUCK_AFTER_SECONDS: i64 = 300;

type Input<'reconcile> = ReportInput<'reconcile, SetReconciler>;

pub(super) fn report(input: &Input<'_>) -> Report {
    let Some(set) = input.object else {
        return silent(input, terminal("Rejected"));
    };
    match input.end {
        ReconcileEnd::Committed(changes) => committed(input, set, changes),
        ReconcileEnd::Waiting(waiting) => stopped(input, set, waiting),
        // What a set records was rendered before, so this is a defect of ours or of whoever edited the set.
        ReconcileEnd::Rejected(_) => silent(input, terminal("Rejected")),
        ReconcileEnd::NotRendered(failure) => {
            let message = failure.to_string();
            let reason = bodies::RENDER_FAILED;
            stopped(input, set, &Waiting { reason, message })
        }
    }
}

const fn terminal(reason: &'static str) -> Outcome {
    Outcome::Terminal {
        reason,
        recheck: None,
    }
}

fn silent(input: &Input<'_>, outcome: Outcome) -> Report {
    Report {
        status: input.root.get("status").cloned().unwrap_or_default(),
        outcome,
        events: Vec::new(),
    }
}

/// It is not known what is to be installed: nothing but `Ready` says so, and nothing counts as handled.
fn stopped(input: &Input<'_>, set: &Set, waiting: &Waiting) -> Report {
    let is_unknown = waiting.reason == bodies::OUT_OF_DATE;
    let word = if is_unknown { UNKNOWN } else { FALSE };
    let ready = wanted(READY, word, waiting.reason, waiting.message.clone());
    let mut said = set.manifest.status.clone().unwrap_or_default();
    said.conditions = merged(&said.conditions, &[ready], set.generation(), input.now);
    let reason = waiting.reason;
    let outcome = if waiting.reason == bodies::RENDER_FAILED {
        Outcome::Transient { reason }
    } else {
        Outcome::Waiting { reason }
    };
    Report {
        status: status(&said),
        outcome,
        events: Vec::new(),
    }
}

fn committed(input: &Input<'_>, set: &Set, changes: &ChangeSet) -> Report {
    let mut said: InstallManifestStatus = set.manifest.status.clone().unwrap_or_default();
    // What was recorded before the first write is in the root that the reconcile ended with.
    if let Ok(root) = decode::<InstallManifest>(input.root) {
        said.inventory = root.status.unwrap_or_default().inventory;
    }
    let phases: Vec<Wanted> = Phase::ALL
        .map(|phase| condition(phase, input, set, changes))
        .into();
    let pruned = || {
        changes
            .of_unit(ENGINE_UNIT)
            .filter(|row| row.planned == Verb::Delete)
    };
    let not_pruned = pruned().filter_map(|row| failure_of(row).map(|failure| text(row, failure)));
    let not_pruned: Vec<String> = not_pruned.collect();
    let mut ready = ready(&phases);
    if ready.status == TRUE && !not_pruned.is_empty() {
        ready = wanted(READY, FALSE, "PruneFailed", list(not_pruned));
    }
    if is_installed(changes) {
        said.connector_version = Some(set.release.clone());
    }
    said.observed_generation = set.generation();
    said.observed_hash = Some(set.hash.clone());
    let gone = pruned().filter(|row| is_gone(&row.change));
    let mut dropped: BTreeSet<Identity> = gone.map(|row| inventory::identity(&row.key)).collect();
    dropped.extend(moved(input, set, changes));
    let is_there = |entry: &InventoryEntry| {
        let key = inventory::key(entry);
        !dropped.contains(&inventory::identity(&key))
    };
    said.inventory.retain(is_there);
    let conditions: Vec<Wanted> = phases.iter().cloned().chain([ready.clone()]).collect();
    said.conditions = merged(&said.conditions, &conditions, set.generation(), input.now);
    Report {
        status: status(&said),
        outcome: outcome(&ready, changes),
        events: events(set, changes),
    }
}

/// What the sibling lists and this set does not: it keeps living, and is the sibling's to remember.
fn moved(input: &Input<'_>, set: &Set, changes: &ChangeSet) -> BTreeSet<Identity> {
    let own = changes.rows.iter().filter(|row| row.unit != ENGINE_UNIT);
    let own: BTreeSet<Identity> = own.map(|row| inventory::identity(&row.key)).collect();
    let sets = input
        .snapshot
        .indexed(&views::BY_CONNECTOR, &set.connector());
    let siblings = sets.iter().filter(|other| other.name != set.name);
    let listed = siblings.flat_map(|sibling| sibling.identities());
    listed.filter(|identity| !own.contains(identity)).collect()
}

fn outcome(ready: &Wanted, changes: &ChangeSet) -> Outcome {
    let reason = ready.reason;
    match ready.status {
        TRUE => Outcome::Success,
        _ if changes.failures().next().is_some() => Outcome::Transient { reason },
        _ => Outcome::Waiting { reason },
    }
}

const fn is_gone(change: &Change) -> bool {
    matches!(change, Change::Deleted | Change::Unchanged(None))
}

const fn failure_of(row: &ObjectChange) -> Option<&Failure> {
    match &row.change {
        Change::Failed(failure) => Some(failure),
        _ => None,
    }
}

fn text(row: &ObjectChange, failure: &Failure) -> String {
    format!("{} {}: {failure}", row.key.kind.kind, row.key.path())
}

/// Whether all objects were written.
fn is_installed(changes: &ChangeSet) -> bool {
    let mut rows = changes.rows.iter().filter(|row| row.unit != ENGINE_UNIT);
    rows.all(|row| !matches!(row.change, Change::Failed(_) | Change::Skipped))
}

/// The condition of a phase.
fn condition(phase: Phase, input: &Input<'_>, set: &Set, changes: &ChangeSet) -> Wanted {
    let name = phase.condition();
    let rows: Vec<&ObjectChange> = changes.of_unit(name).collect();
    if rows.is_empty() {
        return wanted(name, TRUE, "NoResources", "");
    }
    let failures: Vec<(&ObjectChange, &Failure)> = rows
        .iter()
        .filter_map(|row| Some((*row, failure_of(row)?)))
        .collect();
    if let Some((row, failure)) = failures.first() {
        let reason = reason(row, failure, input.live);
        let texts = failures.iter().map(|(row, failure)| text(row, failure));
        return wanted(name, FALSE, reason, list(texts));
    }
    if rows.iter().any(|row| row.change == Change::Skipped) {
        return unreached(name, set);
    }
    match phase {
        Phase::Definitions => definitions(name, &rows, input),
        Phase::Deployments => workloads(name, &rows, "DeploymentsAvailable", "DeploymentsNotReady"),
        Phase::StatefulSets => workloads(name, &rows, "StatefulSetReady", "StatefulSetNotReady"),
        Phase::ClusterScoped | Phase::NamespaceScoped => wanted(name, TRUE, "Installed", ""),
    }
}

fn reason(row: &ObjectChange, failure: &Failure, live: &dyn LiveView) -> &'static str {
    match failure {
        Failure::Foreign { .. } => OWNERSHIP_CONFLICT,
        _ if live.get(&row.key).is_some_and(|live| live.deleting) => "WaitingForDeletion",
        _ => INSTALL_FAILED,
    }
}

/// A phase whose turn did not come says what it said, if that was about the same objects.
fn unreached(name: &'static str, set: &Set) -> Wanted {
    let before = set.manifest.status.as_ref().filter(|_| set.is_handled());
    let before = before.and_then(|status| status.conditions.iter().find(|one| one.type_ == name));
    let pending = wanted(name, UNKNOWN, PENDING, "an earlier phase has not ended");
    let Some(before) = before else { return pending };
    let status = [TRUE, FALSE, UNKNOWN];
    let status = status.into_iter().find(|status| *status == before.status);
    let reason = REASONS.into_iter().find(|reason| *reason == before.reason);
    match status.zip(reason) {
        Some((status, reason)) => wanted(name, status, reason, before.message.clone()),
        None => pending,
    }
}

/// The reasons that a phase may have given.
const REASONS: [&str; 10] = [
    "Installed",
    INSTALL_FAILED,
    "CrdNotEstablished",
    OWNERSHIP_CONFLICT,
    "WaitingForDeletion",
    PENDING,
    "DeploymentsAvailable",
    "DeploymentsNotReady",
    "StatefulSetReady",
    "StatefulSetNotReady",
];

fn definitions(name: &'static str, rows: &[&ObjectChange], input: &Input<'_>) -> Wanted {
    let is_established = |key: &ObjectKey| {
        let view = input.snapshot.view(key, &views::ESTABLISHED);
        view.is_ok_and(|found| found.is_some_and(|is| *is))
    };
    let pending = rows.iter().filter(|row| !is_established(&row.key));
    let pending: Vec<String> = pending.map(|row| row.key.name.clone()).collect();
    if pending.is_empty() {
        return wanted(name, TRUE, "Installed", "");
    }
    wanted(name, FALSE, "CrdNotEstablished", list(pending))
}

fn workloads(
    name: &'static str,
    rows: &[&ObjectChange],
    yes: &'static str,
    no: &'static str,
) -> Wanted {
    let not_ready = rows.iter().filter_map(|row| {
        let facts = live_of(&row.change)?.facts.clone();
        let detail = || format!("{}: {}", row.key.path(), workload::detail(&facts));
        (!workload::is_ready(&facts)).then(detail)
    });
    let not_ready: Vec<String> = not_ready.collect();
    if not_ready.is_empty() {
        wanted(name, TRUE, yes, "")
    } else {
        wanted(name, FALSE, no, list(not_ready))
    }
}

fn live_of(change: &Change) -> Option<&LiveObject> {
    match change {
        Change::Created(live) | Change::Configured(live) => Some(live),
        Change::Unchanged(live) => live.as_deref(),
        Change::Contested(contest) => Some(&contest.live),
        _ => None,
    }
}

/// What was done, in one event for each kind of change.
fn events(set: &Set, changes: &ChangeSet) -> Vec<Event> {
    let of = |is_it: &dyn Fn(&ObjectChange) -> bool| {
        let rows = changes.rows.iter().filter(|row| is_it(row));
        let texts: Vec<String> = rows.map(|row| row.key.to_string()).collect();
        (!texts.is_empty()).then(|| format!("{} objects: {}", texts.len(), list(texts)))
    };
    let is_own = |row: &ObjectChange| row.unit != ENGINE_UNIT;
    let created = of(&|row| is_own(row) && matches!(row.change, Change::Created(_)));
    let updated = of(&|row| is_own(row) && matches!(row.change, Change::Configured(_)));
    let pruned = of(&|row| row.planned == Verb::Delete && row.change == Change::Deleted);
    let foreign = of(&|row| matches!(failure_of(row), Some(Failure::Foreign { .. })));
    // Nothing else was rendered since, so somebody else had changed it.
    let update = if set.is_handled() {
        updated.map(|text| warning("DriftReverted", text))
    } else {
        updated.map(|text| normal("ResourceUpdated", text))
    };
    let events = [
        created.map(|text| normal("ResourceCreated", text)),
        update,
        pruned.map(|text| normal("ResourcePruned", text)),
        foreign.map(|text| warning(OWNERSHIP_CONFLICT, text)),
    ];
    events.into_iter().flatten().collect()
}

/// While a set is being deleted it says how much is left.
pub(super) fn report_deletion(input: &DeletionInput<'_>) -> Report {
    let mut report = Report::of_deletion(input);
    let Ok(manifest) = decode::<InstallManifest>(input.root) else {
        return report;
    };
    let left = |row: &&ObjectChange| row.planned == Verb::Delete || row.change == Change::Deleting;
    let left = input.changes.rows.iter().filter(left);
    let left: Vec<&ObjectChange> = left.filter(|row| !is_gone(&row.change)).collect();
    let deleted_at = manifest.metadata.deletion_timestamp.as_ref();
    let since = deleted_at.map_or(0, |time| input.now.0.as_second() - time.0.as_second());
    if !left.is_empty() && since >= STUCK_AFTER_SECONDS {
        let names = left.iter().map(|row| row.key.to_string());
        let message = format!("still there after {since} s: {}", list(names));
        report.events.push(warning("DeletionStuck", message));
    }
    let mut said = manifest.status.clone().unwrap_or_default();
    let all = places(input.root).len();
    let message = format!("{} of {all} objects are left", left.len());
    let ready = wanted(READY, FALSE, "Uninstalling", message);
    let generation = manifest.metadata.generation;
    said.conditions = merged(&said.conditions, &[ready], generation, input.now);
    report.status = status(&said);
    if report.outcome == Outcome::Success && !left.is_empty() {
        let reason = "Uninstalling";
        report.outcome = Outcome::Waiting { reason };
    }
    report
}
