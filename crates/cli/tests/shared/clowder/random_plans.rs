//! Random cases: what a plan announces is what `apply` and the operator then write, object by object.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use futures::{StreamExt, stream};
use kube::api::DeleteParams;
use mainstay_clowder::kinds::KINDS;
use mainstay_testkit::{
    Namespace, Plane,
    audit::{Entry, Mark},
    plane::dynamic,
    program::Ended,
};
use serde_json::Value;

use super::{random_cases::Case, stage::Stage};
use crate::shared::program::run;

/// Cases that are planned and applied as one file.
const BATCH: u64 = 10;
/// Looks at a cluster until it is at rest.
const MOST_LOOKS: usize = 30;

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: u64,
    pub(crate) plans: u64,
    pub(crate) objects: usize,
    pub(crate) differences: Vec<String>,
}

/// Plays the cases with these numbers, some batches at the same time.
pub(crate) async fn play(seed: u64, numbers: Range<u64>, at_once: usize) -> Tally {
    let stage = Stage::alone("random").await;
    let operator = stage.operator(&[]).await;
    let config = operator.config_path();
    let starts: Vec<u64> = numbers
        .clone()
        .step_by(usize::try_from(BATCH).unwrap())
        .collect();
    let batches = starts.into_iter().map(|start| {
        let end = (start + BATCH).min(numbers.end);
        play_batch(&stage.plane, &config, seed, start..end)
    });
    let tallies: Vec<Tally> = stream::iter(batches)
        .buffer_unordered(at_once)
        .collect()
        .await;
    let mut all = Tally::default();
    for tally in tallies {
        all.cases += tally.cases;
        all.plans += tally.plans;
        all.objects += tally.objects;
        all.differences.extend(tally.differences);
    }
    all
}

async fn play_batch(plane: &Plane, config: &str, seed: u64, numbers: Range<u64>) -> Tally {
    let client = plane.client().await;
    let prefix = format!("rc{}", numbers.start);
    let mut cases = Vec::new();
    for number in numbers {
        let namespace = Namespace::create(&client, &prefix).await;
        cases.push((number, Case::new(seed, number, &namespace.name), namespace));
    }
    let batch = Batch {
        plane,
        config,
        marker: format!("{prefix}-{}-", std::process::id()),
        homes: cases
            .iter()
            .map(|(number, _, namespace)| (namespace.name.clone(), *number))
            .collect(),
    };
    let mut tally = Tally {
        cases: u64::try_from(cases.len()).unwrap(),
        ..Tally::default()
    };
    let all = |cases: &[(u64, Case, Namespace)]| -> Vec<Value> {
        cases
            .iter()
            .flat_map(|(_, case, _)| case.documents())
            .collect()
    };
    let everything = all(&cases);
    batch
        .compare("creation", &everything, &everything, &mut tally)
        .await;
    let changed: Vec<Value> = cases
        .iter_mut()
        .flat_map(|(_, case, _)| case.change())
        .collect();
    let everything = all(&cases);
    batch
        .compare("change", &changed, &everything, &mut tally)
        .await;
    // Plans look at everything there is, so it goes when it is done with.
    for (_, _, namespace) in cases {
        let environments = dynamic(
            &client,
            "",
            "cloud.redhat.com/v1alpha1",
            "ClowdEnvironment",
            "clowdenvironments",
        );
        let namespaces = dynamic(&client, "", "v1", "Namespace", "namespaces");
        let params = DeleteParams::default();
        let _ = namespaces.delete(&namespace.name, &params).await;
        let _ = environments.delete(&namespace.name, &params).await;
    }
    tally
}

struct Batch<'plane> {
    plane: &'plane Plane,
    config: &'plane str,
    /// What the names of all namespaces and environments of the batch begin with.
    marker: String,
    /// The cases by their namespaces.
    homes: BTreeMap<String, u64>,
}

impl Batch<'_> {
    async fn mainstay(&self, arguments: &[&str], documents: &[Value]) -> Ended {
        let texts = documents.iter().map(ToString::to_string);
        let text = texts.collect::<Vec<_>>().join("\n---\n");
        let arguments = [arguments, &["-f", "-", "--clowder-config", self.config]].concat();
        let program = run(&arguments).kubeconfig(&self.plane.kubeconfig());
        program.input(text).run().await
    }

    /// Plans and applies some documents, and compares.
    async fn compare(
        &self,
        step: &str,
        documents: &[Value],
        everything: &[Value],
        tally: &mut Tally,
    ) {
        let mark = Mark::now(self.plane.audit_log());
        let plan = self.mainstay(&["plan", "-o", "json"], documents).await;
        let Ok(rows) = serde_json::from_str::<Vec<Value>>(&plan.stdout) else {
            tally.differences.push(format!("{step}: no plan: {plan}"));
            return;
        };
        let applied = self
            .mainstay(&["apply", "--wait", "--yes"], documents)
            .await;
        if applied.code != Some(0) {
            tally.differences.push(format!("{step}: {applied}"));
        }
        self.come_to_rest(step, everything, tally).await;
        let sent = mark.settled_about(&self.marker).await;
        let written: BTreeSet<String> = sent.iter().filter_map(written).collect();
        let planned: BTreeSet<String> = rows.iter().filter_map(planned).collect();
        let odd = rows.iter().filter(|row| planned_oddly(row));
        for row in odd {
            let difference = format!("{step}: {} in {row}", self.case_of(&row.to_string()));
            tally.differences.push(difference);
        }
        for (what, difference) in [
            ("planned and not written", planned.difference(&written)),
            ("written and not planned", written.difference(&planned)),
        ] {
            let found =
                difference.map(|write| format!("{step}: {}, {what}: {write}", self.case_of(write)));
            tally.differences.extend(found);
        }
        tally.plans += 1;
        tally.objects += planned.len();
    }

    /// Waits until there is nothing left to do for anybody.
    async fn come_to_rest(&self, step: &str, everything: &[Value], tally: &mut Tally) {
        let mut last = None;
        for _ in 0..MOST_LOOKS {
            let plan = self.mainstay(&["plan", "--no-dry-run"], everything).await;
            if plan.code == Some(0) {
                return;
            }
            last = Some(plan);
        }
        let changes = last.map(|plan| {
            let lines = plan
                .stdout
                .lines()
                .filter(|line| !line.contains("unchanged"));
            lines.collect::<Vec<_>>().join("\n")
        });
        let difference = format!("{step}: never at rest: {}", changes.unwrap_or_default());
        tally.differences.push(difference);
    }

    fn case_of(&self, text: &str) -> String {
        let home = self.homes.iter().find(|(name, _)| {
            // One name may begin another.
            text.contains(&format!("{name}/"))
                || text.ends_with(name.as_str())
                || text.contains(&format!("\"{name}\""))
        });
        home.map_or_else(
            || "case ?".to_owned(),
            |(_, number)| format!("case {number}"),
        )
    }
}

/// A write to an object, as the audit log tells it. Statuses and events report, they are not planned.
fn written(entry: &Entry) -> Option<String> {
    let reports = entry.resource.contains('/') || entry.resource == "events";
    let is_done = entry.is_write() && entry.code < 300;
    (is_done && !reports).then(|| {
        let Entry {
            verb,
            resource,
            namespace,
            name,
            ..
        } = entry;
        format!("{verb} {resource} {namespace}/{name}")
    })
}

/// The same, as the plan announces it.
fn planned(row: &Value) -> Option<String> {
    let verb = match row["action"].as_str().unwrap() {
        // Creation is an apply as well.
        "create" | "update" => "patch",
        "delete" => "delete",
        _ => return None,
    };
    let text = |field: &str| row[field].as_str().unwrap();
    let kinds = KINDS;
    let declared = kinds.iter().find(|declared| {
        declared.kind.kind == text("kind") && declared.kind.api_version() == text("apiVersion")
    });
    let resource = &declared
        .unwrap_or_else(|| panic!("unexpected kind in {row}"))
        .plural;
    Some(format!(
        "{verb} {resource} {}/{}",
        text("namespace"),
        text("name")
    ))
}

/// All cases are valid, and everything is ours.
fn planned_oddly(row: &Value) -> bool {
    !matches!(
        row["action"].as_str().unwrap(),
        "create" | "update" | "delete" | "unchanged"
    )
}
