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
};

/// Numbers of Kaotos.
const SCALES: [usize; 2] = [50, 500];
/// Each time is the median of so many rounds, in which floors and product take turns.
const ROUNDS: usize = 3;
/// Service, Ingress, Deployment.
const CHILDREN: usize = 3;

/// All rounds at one scale.
#[derive(Debug, Default)]
struct Rounds {
    whole: Vec<Cost>,
    applied: Vec<Cost>,
    posted: Vec<Cost>,
    changed: Vec<Cost>,
    lists: Vec<Cost>,
    product: Vec<operator::Life>,
}

/// Measures at every scale, then the reaction to single objects.
pub(crate) async fn measure(plane: &Plane, binary: &Path) -> anyhow::Result<Vec<Section>> {
    let namespace = Namespace::create(&plane.client, "bench").await;
    say("kaoto: a sample of what the operator writes");
    let sample = operator::sample(plane, binary, &namespace).await?;
    let mut sections = vec![preamble()];
    for count in SCALES {
        let bench = floor::Bench::new(plane, &namespace, &sample, count)?;
        let mut rounds = Rounds::default();
        for round in 1..=ROUNDS {
            say(&format!(
                "kaoto: {count} objects, round {round} of {ROUNDS}"
            ));
            run_round(&bench, binary, &mut rounds).await?;
        }
        sections.push(section(count, &rounds));
    }
    say("kaoto: reaction to single objects");
    sections.push(reaction::measure(plane, binary, &namespace, &sample).await?);
    Ok(sections)
}

async fn run_round(
    bench: &floor::Bench<'_>,
    binary: &Path,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let (whole, written) = bench.write_all().await?;
    rounds.whole.push(whole);
    rounds.changed.push(bench.change_all(written).await?);
    rounds.lists.push(bench.list_all().await?);
    bench.clear().await?;
    rounds.applied.push(bench.apply_children().await?);
    bench.clear().await?;
    rounds.posted.push(bench.post_children().await?);
    bench.clear().await?;
    rounds.product.push(operator::live(bench, binary).await?);
    bench.clear().await
}

fn section(count: usize, rounds: &Rounds) -> Section {
    let product = |part: fn(&operator::Life) -> Cost| -> Vec<Cost> {
        rounds.product.iter().map(part).collect()
    };
    let create = product(|life| life.create);
    let mut figures = create_figures(count, rounds, &create);
    figures.extend(touch_figures(count, &product(|life| life.touch)));
    figures.extend(change_figures(count, rounds, &product(|life| life.change)));
    figures.extend(restart_figures(rounds, &product(|life| life.restart)));
    figures.extend(memory_figures(rounds));
    Section {
        title: format!("kaoto, {count} objects"),
        notes: Vec::new(),
        figures,
    }
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
    let whole = middle(&rounds.whole, |cost| cost.wall);
    let applied = middle(&rounds.applied, |cost| cost.wall);
    let posted = middle(&rounds.posted, |cost| cost.wall);
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
        .against("A", per_object(middle(&rounds.whole, |cost| cost.server))),
        Figure::milliseconds(
            "operator time per Kaoto",
            per_object(middle(create, |cost| cost.operator)),
        ),
    ]
}

fn touch_figures(count: usize, touch: &[Cost]) -> Vec<Figure> {
    vec![
        Figure::count("no-op touch, requests", most(touch, |cost| cost.requests)).at_most(0.0),
        Figure::milliseconds(
            "no-op touch, operator time per Kaoto",
            middle(touch, |cost| cost.operator) / number(count),
        ),
    ]
}

fn change_figures(count: usize, rounds: &Rounds, change: &[Cost]) -> Vec<Figure> {
    vec![
        Figure::seconds("image change to Ready", middle(change, |cost| cost.wall))
            .against("C", middle(&rounds.changed, |cost| cost.wall)),
        Figure::count(
            "image change, requests per Kaoto",
            worst(change, count, |cost| cost.requests),
        )
        .against("least", 2.0)
        .at_most(2.0),
    ]
}

fn restart_figures(rounds: &Rounds, restart: &[Cost]) -> Vec<Figure> {
    vec![
        Figure::milliseconds("restart to ready", middle(restart, |cost| cost.wall))
            .against("L", middle(&rounds.lists, |cost| cost.wall)),
        Figure::milliseconds(
            "restart, operator time",
            middle(restart, |cost| cost.operator),
        ),
        Figure::count("restart, requests", most(restart, |cost| cost.requests))
            .against("L", most(&rounds.lists, |cost| cost.requests)),
        Figure::count("restart, writes", most(restart, |cost| cost.writes)).at_most(0.0),
    ]
}

fn memory_figures(rounds: &Rounds) -> Vec<Figure> {
    let largest = |part: fn(&operator::Life) -> u64| {
        let amounts = rounds.product.iter().map(part);
        amounts.max().unwrap_or_default()
    };
    vec![
        Figure::bytes("memory, idle before", largest(|life| life.before.resident)).at_most(16.0),
        Figure::bytes("memory, peak", largest(|life| life.after.peak)),
        Figure::bytes("memory, after", largest(|life| life.after.resident)),
        Figure::bytes(
            "memory, idle after restart",
            largest(|life| life.restarted.resident),
        ),
    ]
}
