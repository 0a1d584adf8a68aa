//! `cargo xtask test`: every check and every test, with the count on the last line.

use std::{
    ffi::OsString,
    path::Path,
    thread::{self, JoinHandle},
    time::Instant,
};

use anyhow::{Context, anyhow};
use lexopt::prelude::*;
use mainstay_control_plane::{
    Assets, BoundPlane,
    assets::Release,
    debian::{DebianProgram, find_or_fetch},
    definitions,
    tools::Tools,
};

use crate::{
    Answer, check, debian, planes,
    printer::{print, say},
    step::{self, Ended, Tally},
    workspace::cargo,
};

mod results;
mod slow;

use results::Results;
use slow::Slow;

const HELP: &str = "\
Every check (see `cargo xtask check`) and every test. Starts the control planes that the tests need, and stops them at
the end. The last line is the count: N passed, M failed. Exit code 1 if anything failed.

Usage: cargo xtask test [FILTER] [--unrest] [--WORD]...

With a FILTER, only tests whose name contains it, and no checks. With --unrest, whatever passes between the API servers
and the rest is held up at random: a test that builds on somebody's speed fails sooner or later.

With one of these words, only tests that take too long for every run, and no checks:
";

/// A control plane that tests share.
#[derive(Clone, Copy)]
struct TestPlane {
    /// The variable in which tests find its directory.
    variable: &'static str,
    /// The name of the directory.
    name: &'static str,
    release: Release,
    start: fn(&Path, &Assets) -> anyhow::Result<BoundPlane>,
}

const VANILLA: TestPlane = TestPlane {
    variable: "MAINSTAY_TEST_PLANE",
    name: "test",
    release: Release::Current,
    start: planes::start,
};
const OPENSHIFT: TestPlane = TestPlane {
    variable: "MAINSTAY_TEST_PLANE_OPENSHIFT",
    name: "test-openshift",
    release: Release::Current,
    start: planes::start_openshift,
};
const CLOWDER: TestPlane = TestPlane {
    variable: "MAINSTAY_TEST_PLANE_CLOWDER",
    name: "test-clowder",
    release: Release::Current,
    start: planes::start_clowder,
};
/// Tests find these in the place of the others.
const VANILLA_OLDEST: TestPlane = TestPlane {
    name: "test-oldest",
    release: Release::Oldest,
    ..VANILLA
};
const CLOWDER_OLDEST: TestPlane = TestPlane {
    name: "test-clowder-oldest",
    release: Release::Oldest,
    ..CLOWDER
};

/// The variable by which tests are asked to hold up what passes to and from the planes.
const UNREST: &str = "MAINSTAY_TEST_UNREST";

/// Tests at the same time in one test program.
const TEST_THREADS: &str = "5";

/// Which tests run, and how.
#[derive(Default)]
struct Choice {
    filter: Option<String>,
    unrest: bool,
    slow: Vec<&'static Slow>,
}

impl Choice {
    /// What cargo is to test.
    fn targets(&self) -> Vec<&'static str> {
        if self.slow.is_empty() {
            return vec!["--workspace"];
        }
        programs(self.slow.iter().copied())
    }

    /// Whether everything runs that runs without a word.
    fn is_whole(&self) -> bool {
        self.filter.is_none() && self.slow.is_empty()
    }

    /// The planes that its tests share.
    fn planes(&self) -> Vec<TestPlane> {
        if self.slow.is_empty() {
            return vec![VANILLA, OPENSHIFT, CLOWDER];
        }
        let mut planes: Vec<TestPlane> = Vec::new();
        for plane in self.slow.iter().flat_map(|slow| slow.planes) {
            if !planes.iter().any(|known| known.name == plane.name) {
                planes.push(*plane);
            }
        }
        planes
    }
}

/// What makes cargo take all test programs that are part of no other run.
pub(crate) fn slow_targets() -> Vec<&'static str> {
    programs(slow::SLOW.iter())
}

fn programs(slow: impl Iterator<Item = &'static Slow>) -> Vec<&'static str> {
    let programs = slow.flat_map(|slow| ["--test", slow.word]);
    ["-p", "mainstay-cli"].into_iter().chain(programs).collect()
}

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let Some(choice) = parse(arguments)? else {
        return print(&format!("{HELP}\n{}", slow::help())).map(|()| true);
    };
    // On a fresh machine the control plane's programs are built for minutes, mostly on one core; meanwhile the checks
    // and the tests compile.
    let planes = choice.planes();
    let planes = thread::spawn(move || start_planes(&planes));
    let mut tally = Tally::default();
    if choice.is_whole() {
        tally.add(check::all()?);
    }
    tally.add(run_tests(&choice, planes)?);
    tally.close()
}

/// `None` means that help was asked for.
fn parse(arguments: Vec<OsString>) -> anyhow::Result<Option<Choice>> {
    let mut choice = Choice::default();
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(None),
            Long("unrest") => choice.unrest = true,
            Long(word) if let Some(slow) = slow::find(word) => choice.slow.push(slow),
            Value(value) if choice.filter.is_none() => choice.filter = Some(value.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let planes = choice.planes();
    let in_one_place = |plane: &TestPlane| {
        let mut others = planes.iter();
        others.any(|other| other.variable == plane.variable && other.name != plane.name)
    };
    if planes.iter().any(in_one_place) {
        anyhow::bail!("these words want different releases of Kubernetes: run one after the other");
    }
    Ok(Some(choice))
}

/// Starts the planes side by side and waits until they are ready.
fn start_planes(planes: &[TestPlane]) -> anyhow::Result<Vec<BoundPlane>> {
    // Not part of a plane, but built the same way, and tests should not be the ones to wait for it.
    Tools::find_or_build(&say).context("could not provide the tools that tests use")?;
    for program in DebianProgram::ALL {
        find_or_fetch(program, &say).context("could not provide the programs that tests use")?;
    }
    definitions::fetch_all().context("could not provide the definitions of other operators")?;
    debian::ensure_postgres().context("could not provide the database that tests use")?;
    let mut started = Vec::new();
    for plane in planes {
        let assets = planes::assets_of(plane.release)?;
        started.push((plane.start)(&planes::directory(plane.name), &assets)?);
    }
    for plane in &mut started {
        plane.wait_until_ready()?;
    }
    Ok(started)
}

fn run_tests(
    choice: &Choice,
    planes: JoinHandle<anyhow::Result<Vec<BoundPlane>>>,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut compile = cargo(["test", "--locked", "--no-run"]);
    let compiled = step::program("compile tests", compile.args(choice.targets()))?;
    tally.count(compiled);
    let mut started = Vec::new();
    tally.count(step::function("control planes", || {
        started = planes
            .join()
            .map_err(|_| anyhow!("the thread that starts the control planes panicked"))??;
        Ok(String::new())
    })?);
    // Without planes the tests that need one fail and say so; the others still count.
    if compiled {
        tally.add(run_compiled_tests(choice, &choice.targets())?);
        if choice.is_whole() {
            // With the features of the whole workspace, so that nothing is compiled anew.
            tally.add(run_compiled_tests(
                choice,
                &["--workspace", "--test", slow::RIGHTS],
            )?);
        }
    }
    let begun = Instant::now();
    for plane in &started {
        if let Some(state) = plane.ended()? {
            let output = format!("a control plane did not last: {}", state.phase);
            step::report("control planes", begun.elapsed(), false, &output)?;
            tally.count(false);
        }
    }
    Ok(tally)
}

fn run_compiled_tests(choice: &Choice, targets: &[&str]) -> anyhow::Result<Tally> {
    let mut command = cargo(["test", "--locked", "--no-fail-fast"]);
    // The lines are read below. Tests of the program wait for the cluster most of the time, so more of them run at
    // once than there are processors.
    command
        .args(targets)
        .args(&choice.filter)
        .env("CARGO_TERM_COLOR", "never")
        .env("RUST_TEST_THREADS", TEST_THREADS);
    if choice.unrest {
        command.env(UNREST, "1");
    }
    // Logs of the last run can be read without the planes.
    let planes = match choice.slow.as_slice() {
        [Slow { word, .. }] if *word == slow::RIGHTS => Choice::default().planes(),
        _ => choice.planes(),
    };
    for plane in planes {
        command.env(plane.variable, planes::directory(plane.name));
    }
    let Ended {
        success,
        output,
        elapsed,
    } = step::run_quietly("tests", &mut command)?;
    let Results {
        mut tally,
        mut failures,
    } = results::read(&output);
    if !success && tally.failed == 0 {
        // Cargo itself failed: no test program is to blame, so all of the output is shown.
        tally.failed = 1;
        failures = output;
    }
    step::report("tests", elapsed, success, &failures)?;
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(line: &str) -> Choice {
        let words = line.split_whitespace().map(OsString::from).collect();
        parse(words).unwrap().unwrap()
    }

    #[test]
    fn a_word_runs_its_own_program_and_planes_only() {
        let outage = choice("--outage survives");
        assert_eq!(outage.targets(), ["-p", "mainstay-cli", "--test", "outage"]);
        assert_eq!(outage.filter.as_deref(), Some("survives"));
        assert!(outage.planes().is_empty());
        assert_eq!(choice("").targets(), ["--workspace"]);
        assert_eq!(choice("").planes().len(), 3);
    }

    #[test]
    fn a_word_without_a_program_is_refused() {
        assert!(parse(vec![OsString::from("--sunshine")]).is_err());
    }

    #[test]
    fn words_that_want_different_releases_are_refused_together() {
        assert_eq!(choice("--old-kubernetes").planes().len(), 2);
        let both = ["--old-kubernetes", "--campaign"].map(OsString::from);
        assert!(parse(both.to_vec()).is_err());
    }
}
