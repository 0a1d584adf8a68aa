//! `cargo xtask test`: every check and every test, with the count on the last line.

use std::{
    ffi::OsString,
    thread::{self, JoinHandle},
    time::Instant,
};

use anyhow::{Context, anyhow};
use lexopt::prelude::*;
use mainstay_control_plane::{
    BoundPlane,
    debian::{DebianProgram, find_or_fetch},
    tools::Tools,
};

use crate::{
    Answer, check, debian, planes,
    printer::{print, say},
    step::{self, Ended, Tally},
    workspace::cargo,
};

mod results;

use results::Results;

const HELP: &str = "\
Every check (see `cargo xtask check`) and every test. Starts the control planes that the tests need, and stops them at
the end. The last line is the count: N passed, M failed. Exit code 1 if anything failed.

Usage: cargo xtask test [FILTER] [--unrest]

With a FILTER, only tests whose name contains it, and no checks. With --unrest, whatever passes between the API servers
and the rest is held up at random: a test that builds on somebody's speed fails sooner or later.
";

/// The variables in which tests find the directories of the control planes, and the names of these.
const PLANES: [(&str, &str); 3] = [
    ("MAINSTAY_TEST_PLANE", "test"),
    ("MAINSTAY_TEST_PLANE_OPENSHIFT", "test-openshift"),
    ("MAINSTAY_TEST_PLANE_CLOWDER", "test-clowder"),
];

/// The variable by which tests are asked to hold up what passes to and from the planes.
const UNREST: &str = "MAINSTAY_TEST_UNREST";

/// Tests at the same time in one test program.
const TEST_THREADS: &str = "5";

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let mut filter = None;
    let mut unrest = false;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return print(HELP).map(|()| true),
            Long("unrest") => unrest = true,
            Value(value) if filter.is_none() => filter = Some(value.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    // On a fresh machine the control plane's programs are built for minutes, mostly on one core; meanwhile the checks
    // and the tests compile.
    let planes = thread::spawn(start_planes);
    let mut tally = Tally::default();
    if filter.is_none() {
        tally.add(check::all()?);
    }
    tally.add(run_tests(filter.as_deref(), unrest, planes)?);
    tally.close()
}

/// Starts the planes side by side and waits until they are ready.
fn start_planes() -> anyhow::Result<Vec<BoundPlane>> {
    let assets = planes::assets()?;
    // Not part of a plane, but built the same way, and tests should not be the ones to wait for it.
    Tools::find_or_build(&say).context("could not provide the tools that tests use")?;
    for program in DebianProgram::ALL {
        find_or_fetch(program, &say).context("could not provide the programs that tests use")?;
    }
    debian::ensure_postgres().context("could not provide the database that tests use")?;
    let [(_, vanilla), (_, openshift), (_, clowder)] = PLANES;
    let mut started = vec![
        planes::start(&planes::directory(vanilla), &assets)?,
        planes::start_openshift(&planes::directory(openshift), &assets)?,
        planes::start_clowder(&planes::directory(clowder), &assets)?,
    ];
    for plane in &mut started {
        plane.wait_until_ready()?;
    }
    Ok(started)
}

fn run_tests(
    filter: Option<&str>,
    unrest: bool,
    planes: JoinHandle<anyhow::Result<Vec<BoundPlane>>>,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let compile = ["test", "--workspace", "--locked", "--no-run"];
    let compiled = step::program("compile tests", &mut cargo(compile))?;
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
        tally.add(run_compiled_tests(filter, unrest)?);
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

fn run_compiled_tests(filter: Option<&str>, unrest: bool) -> anyhow::Result<Tally> {
    let mut command = cargo(["test", "--workspace", "--locked", "--no-fail-fast"]);
    // The lines are read below. Tests of the program wait for the cluster most of the time, so more of them run at
    // once than there are processors.
    command
        .args(filter)
        .env("CARGO_TERM_COLOR", "never")
        .env("RUST_TEST_THREADS", TEST_THREADS);
    if unrest {
        command.env(UNREST, "1");
    }
    for (variable, name) in PLANES {
        command.env(variable, planes::directory(name));
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
