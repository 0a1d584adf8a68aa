//! `cargo xtask bench`: measurements of the release build on a control plane of its own.

use std::{ffi::OsString, path::PathBuf, process::Command};

use anyhow::{Context, bail, ensure};
use lexopt::prelude::*;

use crate::{
    Answer, planes,
    printer::{print, say},
    product,
    workspace::cargo,
};

const HELP: &str = "\
Measures the release build on a control plane of its own. Results on standard output: each figure beside its floor,
taken in the same run, and its target. Exit code 0 if every target is met, 1 if one is missed, 2 if it could not be
measured.

Usage: cargo xtask bench [NAME] [--json FILE]

  NAME         only this measurement: clowder, kaoto, lists, opencenter, size, stall, webhooks
  --json FILE  also write the results to FILE
";

pub(crate) fn run(arguments: Vec<OsString>) -> Answer {
    let mut name = None;
    let mut json: Option<PathBuf> = None;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("json") => json = Some(std::path::absolute(parser.value()?)?),
            Long("help") | Short('h') => return print(HELP).map(|()| true),
            Value(value) if name.is_none() => name = Some(value),
            other => return Err(other.unexpected().into()),
        }
    }
    let binary = product::build_release()?;
    build_bench()?;
    let assets = planes::assets()?;
    let directory = planes::directory("bench");
    let mut plane = planes::start(&directory, &assets)?;
    plane.wait_until_ready()?;
    let mut command = bench("run");
    command.args(["--quiet", "--"]).args(name);
    command.arg("--plane").arg(&directory);
    command.arg("--binary").arg(&binary);
    if let Some(file) = json {
        command.arg("--json").arg(file);
    }
    let status = command.status().context("could not run cargo")?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("could not measure"),
    }
}

/// Builds the program that measures. Not together with the product: what the two have in common would be compiled with
/// the features of both, and the product measured would not be the one that users get.
fn build_bench() -> anyhow::Result<()> {
    say("building the measurements");
    let status = bench("build").status().context("could not run cargo")?;
    ensure!(status.success(), "could not build the measurements");
    Ok(())
}

fn bench(word: &str) -> Command {
    cargo([word, "--release", "--locked", "--package", "mainstay-bench"])
}
