//! Measurements of the release build on a control plane of its own; called by `cargo xtask bench`.
//!
//! Every duration stands beside a floor that was taken in the same run, on the same plane: machines differ, the ratio
//! of the product to plain requests does not. What a measurement includes, on both sides, is part of its output.

mod clowder;
mod cost;
mod kaoto;
mod lanes;
mod lists;
mod opencenter;
mod output;
mod plane;
mod report;
mod requests;
mod size;
mod statistics;
mod usage;
mod watch;
mod webhooks;
mod workload;
mod writer;

use std::{ffi::OsString, fs, path::PathBuf, process::ExitCode};

use anyhow::Context;
use lexopt::prelude::*;

use crate::{plane::Plane, report::Report};

const HELP: &str = "\
Measures a release build of mainstay on a control plane. Results on standard output.
Exit code 0 if every target is met, 1 if one is missed, 2 if it could not be measured.

Usage: mainstay-bench [NAME] --plane DIR --binary FILE [--json FILE]

  NAME           only this measurement: clowder, kaoto, lists, opencenter, size, stall, webhooks
  --plane DIR    directory of a running control plane that nobody else uses
  --binary FILE  the program to measure
  --json FILE    also write the results to FILE
";

/// A measurement by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measurement {
    Clowder,
    Kaoto,
    Lists,
    OpenCenter,
    Size,
    Stall,
    Webhooks,
}

#[derive(Debug)]
struct Settings {
    measurements: Vec<Measurement>,
    plane: PathBuf,
    binary: PathBuf,
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            output::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Measures and answers whether every target is met.
fn run(arguments: impl Iterator<Item = OsString>) -> anyhow::Result<bool> {
    let Some(settings) = settings(arguments)? else {
        output::print(HELP)?;
        return Ok(true);
    };
    // One thread, as the operator itself: the writer of the floor has no advantage.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("could not start the async runtime")?;
    let report = runtime.block_on(measure(&settings))?;
    output::print(&report.table())?;
    if let Some(file) = &settings.json {
        let text = format!("{:#}\n", report.json());
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))?;
    }
    Ok(report.is_met())
}

async fn measure(settings: &Settings) -> anyhow::Result<Report> {
    let plane = Plane::connect(&settings.plane).await?;
    let mut report = Report::begin();
    for measurement in &settings.measurements {
        let sections = match measurement {
            Measurement::Clowder => clowder::measure(&plane, &settings.binary).await?,
            Measurement::Kaoto => kaoto::measure(&plane, &settings.binary).await?,
            Measurement::Lists => vec![lists::measure()?],
            Measurement::OpenCenter => opencenter::measure(&settings.binary)?,
            Measurement::Size => vec![size::measure(&plane, &settings.binary).await?],
            Measurement::Stall => vec![clowder::stall::measure(&plane, &settings.binary).await?],
            Measurement::Webhooks => vec![webhooks::measure(&plane, &settings.binary).await?],
        };
        report.sections.extend(sections);
    }
    Ok(report)
}

/// The settings, or nothing if help was asked for.
fn settings(arguments: impl Iterator<Item = OsString>) -> anyhow::Result<Option<Settings>> {
    let mut measurements = vec![
        Measurement::Size,
        Measurement::Kaoto,
        Measurement::Clowder,
        Measurement::Stall,
        Measurement::Lists,
        Measurement::OpenCenter,
        Measurement::Webhooks,
    ];
    let (mut plane, mut binary, mut json) = (None, None, None);
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("plane") => plane = Some(PathBuf::from(parser.value()?)),
            Long("binary") => binary = Some(PathBuf::from(parser.value()?)),
            Long("json") => json = Some(PathBuf::from(parser.value()?)),
            Long("help") | Short('h') => return Ok(None),
            Value(name) if measurements.len() > 1 => measurements = vec![by_name(&name)?],
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Some(Settings {
        measurements,
        plane: plane.context("--plane is missing")?,
        binary: binary.context("--binary is missing")?,
        json,
    }))
}

fn by_name(name: &OsString) -> anyhow::Result<Measurement> {
    match name.to_str() {
        Some("clowder") => Ok(Measurement::Clowder),
        Some("kaoto") => Ok(Measurement::Kaoto),
        Some("lists") => Ok(Measurement::Lists),
        Some("opencenter") => Ok(Measurement::OpenCenter),
        Some("size") => Ok(Measurement::Size),
        Some("stall") => Ok(Measurement::Stall),
        Some("webhooks") => Ok(Measurement::Webhooks),
        _ => anyhow::bail!(
            "unknown measurement `{}`\n\nhint: clowder, kaoto, lists, opencenter, size, stall or webhooks",
            name.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> anyhow::Result<Option<Settings>> {
        settings(arguments.iter().map(OsString::from))
    }

    #[test]
    fn measures_everything_unless_told_otherwise() {
        let flags = ["--plane", "p", "--binary", "b"];
        let all = parsed(&flags).unwrap().unwrap();
        assert_eq!(
            all.measurements,
            [
                Measurement::Size,
                Measurement::Kaoto,
                Measurement::Clowder,
                Measurement::Stall,
                Measurement::Lists,
                Measurement::OpenCenter,
                Measurement::Webhooks
            ]
        );
        let one = parsed(&["kaoto", "--plane", "p", "--binary", "b"]).unwrap();
        assert_eq!(one.unwrap().measurements, [Measurement::Kaoto]);
    }

    #[test]
    fn rejects_unknown_measurements_and_missing_flags() {
        let unknown = parsed(&["speed", "--plane", "p", "--binary", "b"]).unwrap_err();
        assert!(
            unknown
                .to_string()
                .starts_with("unknown measurement `speed`")
        );
        let missing = parsed(&["--plane", "p"]).unwrap_err();
        assert_eq!(missing.to_string(), "--binary is missing");
    }

    #[test]
    fn help_needs_no_other_flag() {
        assert!(parsed(&["--help"]).unwrap().is_none());
    }
}
