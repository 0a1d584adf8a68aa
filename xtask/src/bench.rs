//! `cargo xtask bench`: measurements of the release build on a control plane of its own.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Context;
use lexopt::prelude::*;

use crate::{
    Answer, planes,
    printer::{print, say},
    product,
    workspace::cargo,
};

const HELP: &str = "\
Measures the release build on a control plane of its own. Results on standard output.

Usage: cargo xtask bench [NAME] [--json FILE]

  NAME         only this measurement
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
    let assets = planes::assets()?;
    let directory = planes::directory("bench");
    let mut plane = planes::start(&directory, &assets)?;
    plane.wait_until_ready()?;
    say("measuring");
    let mut command = cargo([
        "run",
        "--quiet",
        "--release",
        "--locked",
        "--package",
        "mainstay-bench",
        "--",
    ]);
    command.args(name);
    command.arg("--plane").arg(&directory);
    command.arg("--binary").arg(&binary);
    if let Some(file) = json {
        command.arg("--json").arg(file);
    }
    let status = command.status().context("could not run cargo")?;
    Ok(status.success())
}
