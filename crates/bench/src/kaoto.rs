//! Many Kaotos: created, touched, changed, and found again after a restart; and one Kaoto at a time.

mod floor;
mod objects;
mod operator;
mod reaction;
mod ready;

use std::path::Path;

use mainstay_testkit::Namespace;

use crate::{
    cost::{Cost, middle, most, worst},
    lanes::LANES,
    output::say,
    plane::Plane,
    report::{Figure, Section},
    statistics::number,
    workload::{self, Phase},
};

/// Numbers of Kaotos.
const SCALES: [usize; 2] = [50, 500];
/// Each time is the median of so many rounds, in which floors and product take turns.
const ROUNDS: usize = 3;
/// Service, Ingress, Deployment.
const CHILDREN: usize = 3;

/// What the floors of one round cost; see the preamble.
#[derive(Clone, Copy, Debug)]
struct Floors {
    whole: Cost,
    applied: Cost,
    posted: Cost,
    changed: Cost,
    lists: Cost,
}

type Rounds = workload::Rounds<Floors, Phase>;

/// Measures at every scale, then the reaction to single objects.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Vec<Section>> {
    let namespace = Namespace::create(&plane.client, "bench").await;
    say("kaoto: a sample of what the operator writes");
    let sample = operator::sample(plane, binary, &namespace).await?;
    let mut sections = vec![preamble()];
    for count in SCALES {
        let bench = floor::Bench::new(plane, &namespace, &sample, count)?;
        let rounds = workload::measure(&bench, binary, ROUNDS).await?;
        sections.push(section(count, &rounds));
    }
    say("kaoto: reaction to single objects");
    sections.push(reaction::measure(plane, binary, &namespace, &sample).await?);
    Ok(sections)
}

fn section(count: usize, rounds: &Rounds) -> Section {
    let mut figures = create_figures(count, rounds, &rounds.costs(|life| life.create));
    figures.extend(touch_figures(count, rounds));
    figures.extend(change_figures(
        count,
        rounds,
        &rounds.costs(|life| life.change),
    ));
    figures.extend(restart_figures(rounds));
    figures.extend(rounds.memory_figures(None));
    Section {
        title: format!("kaoto, {count} objects"),
        notes: Vec::new(),
        figures,
    }
}

/// The costs of a floor.
fn floor(rounds: &Rounds, part: fn(&Floors) -> Cost) -> Vec<Cost> {
    rounds.floors.iter().map(part).collect()
}

/// What the figures of all scales have in common.
fn preamble() -> Section {
    let notes = format!(
        "\
Both sides: one client thread; the bench keeps {LANES} requests in flight. The clock runs from before the first create
to the watch event that shows the last Ready. Controller-manager, scheduler and kwok are paused.
Product: the bench creates the Kaotos, the operator (default flags, no election) does the rest.
Floor A: the bench sends all requests itself: create, finalizer patch, {CHILDREN} applies, status patch, one after the
other for each Kaoto. Floor A3: only the applies. Floor B: the same objects by POST.
Floor C: image patch, apply of the Deployment, status patch. Floor L: the lists of a starting operator.
Times are medians of {ROUNDS} rounds; requests, writes and memory are the worst of them. Watches do not count."
    );
    Section {
        title: "kaoto".to_owned(),
        notes: notes.lines().map(str::to_owned).collect(),
        figures: Vec::new(),
    }
}

fn create_figures(count: usize, rounds: &Rounds, create: &[Cost]) -> Vec<Figure> {
    let wall = middle(create, |cost| cost.wall);
    let all = floor(rounds, |floors| floors.whole);
    let whole = middle(&all, |cost| cost.wall);
    let applied = middle(&floor(rounds, |floors| floors.applied), |cost| cost.wall);
    let posted = middle(&floor(rounds, |floors| floors.posted), |cost| cost.wall);
    let per_object = |duration: f64| duration / number(count);
    let least = number(CHILDREN + 2);
    vec![
        Figure::seconds("create to Ready", wall)
            .against("A", whole)
            .at_most_times(1.25),
        Figure::seconds("create to Ready", wall).against("A3", applied),
        Figure::seconds("create to Ready", wall).against("B", posted),
        Figure::seconds("children by apply", applied).against("B", posted),
        Figure::count(
            "requests per Kaoto",
            worst(create, count, |cost| cost.requests),
        )
        .against("least", least)
        .at_most(least),
        Figure::count("writes per Kaoto", worst(create, count, |cost| cost.writes))
            .against("least", least)
            .at_most(least),
        Figure::milliseconds(
            "kube-apiserver time per Kaoto",
            per_object(middle(create, |cost| cost.server)),
        )
        .against("A", per_object(middle(&all, |cost| cost.server))),
        Figure::milliseconds(
            "operator time per Kaoto",
            per_object(middle(create, |cost| cost.operator)),
        ),
    ]
}

fn touch_figures(count: usize, rounds: &Rounds) -> Vec<Figure> {
    let touch = rounds.costs(|life| life.touch);
    vec![
        Figure::count("no-op touch, requests", most(&touch, |cost| cost.requests)).at_most(0.0),
        Figure::milliseconds(
            "no-op touch, operator time per Kaoto",
            middle(&touch, |cost| cost.operator) / number(count),
        ),
        Figure::count(
            "no-op touch, reconciles",
            rounds.most(|life| life.touch, |phase| phase.reconciles),
        ),
    ]
}

fn change_figures(count: usize, rounds: &Rounds, change: &[Cost]) -> Vec<Figure> {
    let floor = floor(rounds, |floors| floors.changed);
    vec![
        Figure::seconds("image change to Ready", middle(change, |cost| cost.wall))
            .against("C", middle(&floor, |cost| cost.wall)),
        Figure::count(
            "image change, requests per Kaoto",
            worst(change, count, |cost| cost.requests),
        )
        .against("least", 2.0)
        .at_most(2.0),
        Figure::count(
            "image change, reconciles per Kaoto",
            rounds.most(|life| life.change, |phase| phase.reconciles) / number(count),
        ),
    ]
}

fn restart_figures(rounds: &Rounds) -> Vec<Figure> {
    let restart = rounds.costs(|life| life.restart);
    let lists = floor(rounds, |floors| floors.lists);
    let [ready, processor] = rounds.restart_figures();
    vec![
        ready.against("L", middle(&lists, |cost| cost.wall)),
        processor,
        Figure::count("restart, requests", most(&restart, |cost| cost.requests))
            .against("L", most(&lists, |cost| cost.requests)),
        Figure::count("restart, writes", most(&restart, |cost| cost.writes)).at_most(0.0),
    ]
}
