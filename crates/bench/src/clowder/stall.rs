//! One app that is nearly as big as an app may be, and what another tenant notices of it.

use std::{path::Path, time::Duration};

use anyhow::Context;
use kube::api::{Patch, PatchParams, PostParams};
use mainstay_testkit::{
    Namespace,
    namespace::object_when,
    operator::{free_port, http_get_text},
};
use serde_json::{Value, json};

use super::{
    floor::Bench,
    objects::{deployments, image_number},
    operator::{Course, create_environment},
};
use crate::{
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::percentile,
    usage,
    watch::{Observer, until_seen},
    workload::REST,
};

/// Environment variables of the big app; 10,000 items in one list are the documented limit.
const VARIABLES: usize = 9_900;
/// Changes of the other tenant, alone and beside the big app.
const CHANGES: usize = 100;
/// Pause between two changes of the big app.
const PAUSE: Duration = Duration::from_secs(1);
/// What tells how long tasks keep others from running.
const LONGEST_POLL: &str = "mainstay_longest_poll_seconds ";

/// Measures a small app alone, and then beside the big one.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Section> {
    say(&format!("stall: an app with {VARIABLES} variables"));
    let small = Namespace::create(&plane.client, "stall-small").await;
    let small = Bench::new(plane, &small, 2 * CHANGES, Course::default())?;
    let big = Namespace::create(&plane.client, "stall-big").await;
    let big = Bench::new(plane, &big, 0, Course::default())?;
    let address = format!("127.0.0.1:{}", free_port());
    let flags = ["--systems", "clowder", "--metrics-bind-address", &address];
    let mut operator = plane.start_operator(binary, &flags).await;
    for bench in [&small, &big] {
        create_environment(bench).await?;
    }
    small.create_apps().await?;
    tokio::time::sleep(REST).await;
    let alone = react(&small, 0).await?;
    let poll_alone = longest_poll(&address).await?;
    let idle = usage::memory(operator.id())?.resident;

    create_big(&big).await?;
    let beside = tokio::select! {
        beside = react(&small, CHANGES) => beside?,
        stopped = keep_changing(&big) => stopped?,
    };
    let poll = longest_poll(&address).await?;
    let peak = usage::memory(operator.id())?.peak;
    operator.terminate().await;
    for bench in [&small, &big] {
        bench.remove_all().await?;
    }
    Ok(section(&Stall {
        alone,
        beside,
        poll_alone,
        poll,
        idle,
        peak,
    }))
}

/// What was found out.
struct Stall {
    alone: Vec<f64>,
    beside: Vec<f64>,
    poll_alone: f64,
    poll: f64,
    idle: u64,
    peak: u64,
}

fn section(stall: &Stall) -> Section {
    let notes = format!(
        "\
One tenant has an app with {VARIABLES} environment variables, of which one changes every second. Another one changes the
images of {CHANGES} small apps, one after the other; the clock runs from the change to the watch event of the Deployment.
Floor S: the same without the big app, in the same run. A poll is the time for which a task keeps others from running."
    );
    let reaction = |name, percent| {
        Figure::milliseconds(name, percentile(&stall.beside, percent))
            .against("S", percentile(&stall.alone, percent))
    };
    Section {
        title: "stall".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures: vec![
            reaction("image to Deployment of another tenant, median", 50),
            reaction("image to Deployment of another tenant, 99 of 100", 99).at_most_times(2.0),
            Figure::milliseconds("longest poll", stall.poll)
                .against("S", stall.poll_alone)
                .at_most(100.0),
            Figure::bytes("memory before the big app", stall.idle),
            Figure::bytes("memory, peak", stall.peak),
        ],
    }
}

/// Changes the images of some apps, one after the other, from this one on.
async fn react(bench: &Bench<'_>, first: usize) -> anyhow::Result<Vec<f64>> {
    let mut observer = Observer::start(bench.namespace.deployments(), image_number).await?;
    let apps = bench.apps();
    let mut seconds = Vec::new();
    let some = bench.prepared.iter().enumerate().skip(first).take(CHANGES);
    for (index, app) in some {
        let number = index + 2;
        let patch = json!({"spec": {"deployments": deployments(number)}});
        let change = async {
            let params = PatchParams::default();
            apps.patch(&app.name, &params, &Patch::Merge(&patch))
                .await?;
            Ok(())
        };
        seconds.push(until_seen(&mut observer, 1, i64::try_from(number)?, change).await?);
    }
    Ok(seconds)
}

/// The deployments of the big app; one of its variables has this value.
fn big_deployments(number: usize) -> Value {
    let mut deployments = deployments(1);
    let variables = (0..VARIABLES).map(|index| {
        let value = if index == 0 { number } else { index };
        json!({"name": format!("VARIABLE_{index:05}"), "value": value.to_string()})
    });
    deployments[0]["podSpec"]["env"] = variables.collect();
    deployments
}

async fn create_big(bench: &Bench<'_>) -> anyhow::Result<()> {
    let app = json!({
        "apiVersion": "cloud.redhat.com/v1alpha1", "kind": "ClowdApp",
        "metadata": {"name": "big", "namespace": bench.namespace.name},
        "spec": {"envName": bench.environment, "deployments": big_deployments(0)},
    });
    let apps = bench.apps();
    let params = PostParams::default();
    apps.create(&params, &serde_json::from_value(app)?).await?;
    object_when(&bench.namespace.deployments(), "big-web", "exists", |_| {
        true
    })
    .await;
    Ok(())
}

/// Changes the big app for ever.
async fn keep_changing<T>(bench: &Bench<'_>) -> anyhow::Result<T> {
    let apps = bench.apps();
    for number in 1.. {
        tokio::time::sleep(PAUSE).await;
        let patch = json!({"spec": {"deployments": big_deployments(number)}});
        let params = PatchParams::default();
        apps.patch("big", &params, &Patch::Merge(&patch)).await?;
    }
    anyhow::bail!("the big app changed more often than there are numbers")
}

async fn longest_poll(address: &str) -> anyhow::Result<f64> {
    let page = http_get_text(address, "/metrics").await;
    let page = page.context("nobody answers for the metrics")?;
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(LONGEST_POLL));
    line.context("the longest poll is not among the metrics")?
        .parse()
        .context("the longest poll is no number")
}
