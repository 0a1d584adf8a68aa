//! Many apps in one environment: created, touched, changed, and found again after a restart.

mod floor;
mod foreign;
mod kafka;
mod objects;
mod operator;
pub(crate) mod stall;

use std::path::Path;

use mainstay_testkit::Namespace;

use crate::{
    cost::{Cost, middle},
    lanes::LANES,
    plane::Plane,
    report::{Figure, Section},
    statistics::{number, percentile},
    workload::{self, Phase},
};
use operator::{Changes, Course, Floors};

/// How often a number of apps is measured, and how long the original took for it: its figures are from two cores and
/// the same control plane.
struct Scale {
    apps: usize,
    rounds: usize,
    original_seconds: f64,
}

const SCALES: [Scale; 3] = [
    Scale {
        apps: 10,
        rounds: 3,
        original_seconds: 2.1,
    },
    Scale {
        apps: 100,
        rounds: 3,
        original_seconds: 24.0,
    },
    Scale {
        apps: 1000,
        rounds: 1,
        original_seconds: 324.0,
    },
];
/// The number of apps with which reaction and memory are measured.
const MANY: usize = 1000;
/// Changes to react to.
const CHANGES: usize = 100;
/// Foreign Secrets.
const FOREIGN: usize = 10_000;
/// Processor time that the original takes for [`MANY`] apps.
const ORIGINAL_PROCESSOR_SECONDS: f64 = 198.0;

type Rounds = workload::Rounds<Floors, Changes>;

/// Measures at every scale.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Vec<Section>> {
    let namespace = Namespace::create(&plane.client, "apps").await;
    let mut sections = vec![preamble()];
    let mut each = Vec::new();
    for scale in &SCALES {
        let is_many = scale.apps == MANY;
        let course = Course {
            changes: if is_many { CHANGES } else { 0 },
            foreign: if is_many { FOREIGN } else { 0 },
        };
        let bench = floor::Bench::new(plane, &namespace, scale.apps, course)?;
        let rounds = workload::measure(&bench, binary, scale.rounds).await?;
        each.push(create_seconds(&rounds) / number(scale.apps));
        sections.push(section(scale, bench.objects_per_app(), &rounds));
    }
    sections.push(growth(&each));
    sections.extend(kafka::measure(plane, binary).await?);
    Ok(sections)
}

/// What the figures of all scales have in common.
fn preamble() -> Section {
    let notes = format!(
        "\
Every app: one web deployment without replicas; four of five depend on another app. One environment, one namespace.
Both sides: one client thread; the bench keeps {LANES} requests in flight and creates the apps that others depend on
first. The clock runs from before the first create to the watch event that shows the last app reconciled.
Controller-manager, scheduler and kwok are paused.
Product: the bench creates the apps, the operator (`--systems clowder`, no election) does the rest.
Floor A: the bench sends all requests itself: create, finalizer patch, one apply per object, status patch, event, one
after the other for each app. Floor D: image patch, apply of the configuration and of the Deployment.
Times are medians of the rounds; requests, writes and memory are the worst of them. Watches do not count."
    );
    Section {
        title: "clowder".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures: Vec::new(),
    }
}

fn section(scale: &Scale, objects: usize, rounds: &Rounds) -> Section {
    let mut figures = create_figures(scale, objects, rounds);
    figures.extend(touch_figures(scale.apps, rounds));
    figures.extend(restart_figures(rounds));
    figures.extend(reaction_figures(rounds));
    figures.extend(memory_figures(scale.apps, rounds));
    Section {
        title: format!("clowder, {} apps", scale.apps),
        notes: Vec::new(),
        figures,
    }
}

fn create_seconds(rounds: &Rounds) -> f64 {
    middle(&rounds.costs(|life| life.create), |cost| cost.wall)
}

fn create_figures(scale: &Scale, objects: usize, rounds: &Rounds) -> Vec<Figure> {
    let create = rounds.costs(|life| life.create);
    let floor: Vec<Cost> = rounds.floors.iter().map(|floors| floors.write).collect();
    let sent = |part: fn(Phase) -> usize| rounds.most(|life| life.create, part);
    let per_app = |value: f64| value / number(scale.apps);
    let wall = create_seconds(rounds);
    let processor = middle(&create, |cost| cost.operator);
    // Its objects, the finalizer and the status, and the account for tests that all apps of a namespace share.
    let least = per_app(number(scale.apps * (objects + 2) + 1));
    let mut figures = vec![
        Figure::seconds("create to reconciled", wall)
            .against("A", middle(&floor, |cost| cost.wall))
            .at_most_times(1.25),
        Figure::seconds("create to reconciled", wall)
            .against("original", scale.original_seconds)
            .at_most_times(0.1),
        Figure::count("writes per app", per_app(sent(|phase| phase.sent.writes)))
            .against("least", least)
            .at_most(least),
        Figure::count("events per app", per_app(sent(|phase| phase.sent.events))),
        Figure::count("reads", sent(|phase| phase.sent.reads)).at_most(0.0),
        Figure::count(
            "writes of the environment",
            sent(|phase| phase.sent.cluster_wide),
        ),
        Figure::milliseconds(
            "kube-apiserver time per app",
            per_app(middle(&create, |cost| cost.server)),
        )
        .against("A", per_app(middle(&floor, |cost| cost.server))),
        Figure::milliseconds("operator time per app", per_app(processor)),
        Figure::count(
            "reconciles per app",
            per_app(sent(|phase| phase.reconciles)),
        ),
    ];
    if scale.apps == MANY {
        let figure = Figure::seconds("operator time", processor);
        figures.push(figure.against("original", ORIGINAL_PROCESSOR_SECONDS));
    }
    figures
}

fn touch_figures(apps: usize, rounds: &Rounds) -> Vec<Figure> {
    let touch = |part: fn(Phase) -> usize| rounds.most(|life| life.touch, part);
    let environment =
        |part: fn(Phase) -> usize| rounds.most(|life| life.change.touch_environment, part);
    let processor = middle(&rounds.costs(|life| life.touch), |cost| cost.operator);
    let per_app = |value: f64| value / number(apps);
    vec![
        // Annotations of an app are copied to its Deployment.
        Figure::count(
            "annotation of every app, requests per app",
            per_app(touch(|phase| phase.sent.all())),
        )
        .against("least", 1.0)
        .at_most(1.0),
        Figure::milliseconds(
            "annotation of every app, operator time per app",
            per_app(processor),
        ),
        Figure::count(
            "annotation of every app, reconciles per app",
            per_app(touch(|phase| phase.reconciles)),
        ),
        Figure::count(
            "annotation of the environment, requests",
            environment(|phase| phase.sent.all()),
        )
        .at_most(0.0),
        Figure::count(
            "annotation of the environment, reconciles",
            environment(|phase| phase.reconciles),
        ),
    ]
}

fn restart_figures(rounds: &Rounds) -> Vec<Figure> {
    let sent = |part: fn(Phase) -> usize| rounds.most(|life| life.restart, part);
    let mut figures = rounds.restart_figures().to_vec();
    figures.extend([
        Figure::count("restart, reads", sent(|phase| phase.sent.reads)),
        Figure::count(
            "restart, writes",
            sent(|phase| phase.sent.writes + phase.sent.cluster_wide),
        )
        .at_most(0.0),
        Figure::count("restart, events", sent(|phase| phase.sent.events)).at_most(0.0),
    ]);
    figures
}

fn reaction_figures(rounds: &Rounds) -> Vec<Figure> {
    let product: Vec<f64> = rounds
        .lives
        .iter()
        .flat_map(|life| life.change.reaction.clone())
        .collect();
    let floor = rounds.floors.iter();
    let floor: Vec<f64> = floor.flat_map(|floors| floors.reaction.clone()).collect();
    if product.is_empty() {
        return Vec::new();
    }
    let figure = |name, percent| {
        Figure::milliseconds(name, percentile(&product, percent))
            .against("D", percentile(&floor, percent))
    };
    vec![
        figure("image to Deployment, median", 50),
        figure("image to Deployment, 99 of 100", 99).at_most(60.0),
        Figure::count(
            "image, reconciles per change",
            rounds.most(|life| life.change.react, |phase| phase.reconciles) / number(CHANGES),
        ),
    ]
}

fn memory_figures(apps: usize, rounds: &Rounds) -> Vec<Figure> {
    let mut figures = rounds.memory_figures((apps == MANY).then_some(64.0));
    let growth = rounds.lives.iter().filter_map(|life| {
        let crowded = life.crowded?;
        Some(crowded.resident.saturating_sub(life.restarted.resident))
    });
    if let Some(growth) = growth.max() {
        let name = format!("memory, more with {FOREIGN} foreign Secrets");
        figures.push(Figure::bytes(name, growth).at_most(4.0));
    }
    figures
}

/// Whether twice the apps take twice the time.
fn growth(each: &[f64]) -> Section {
    let mut figures = Vec::new();
    if let [.., fewer, more] = each {
        let figure = Figure::milliseconds("create to reconciled per app, most apps", *more);
        figures.push(figure.against("fewer", *fewer).at_most_times(1.25));
    }
    Section {
        title: "clowder, growth".to_owned(),
        notes: Vec::new(),
        figures,
    }
}
