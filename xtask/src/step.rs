//! Steps of `check` and `test`: quiet when they pass, complete when they fail.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use mainstay_control_plane::assets::human_duration;

use crate::{
    printer::{print, say},
    workspace,
};

/// A step that takes longer than this says so, and says so again at this interval.
const REMINDER: Duration = Duration::from_secs(20);

/// How many steps and tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// Counts one more step.
    pub(crate) const fn count(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }

    /// Counts everything that `other` has counted.
    pub(crate) const fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Prints the closing line, and answers whether nothing failed.
    pub(crate) fn close(self) -> anyhow::Result<bool> {
        print(&format!("{} passed, {} failed\n", self.passed, self.failed))?;
        Ok(self.failed == 0)
    }
}

/// How a program that ran as a step ended.
pub(crate) struct Ended {
    pub(crate) success: bool,
    /// Everything that it wrote, standard output and standard error in the order of writing.
    pub(crate) output: String,
    pub(crate) elapsed: Duration,
}

/// Runs a program to its end, quietly.
pub(crate) fn run_quietly(name: &str, command: &mut Command) -> anyhow::Result<Ended> {
    let log = log_path(name)?;
    let output =
        File::create(&log).with_context(|| format!("could not create {}", log.display()))?;
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    let mut reminded = started;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(Duration::from_millis(20));
        if reminded.elapsed() > REMINDER {
            reminded = Instant::now();
            say(&format!(
                "{name}, for {}",
                human_duration(started.elapsed())
            ));
        }
    };
    Ok(Ended {
        success: status.success(),
        output: String::from_utf8_lossy(&fs::read(&log)?).into_owned(),
        elapsed: started.elapsed(),
    })
}

/// Runs a program as a step: one line if it passes, all of its output if it fails.
pub(crate) fn program(name: &str, command: &mut Command) -> anyhow::Result<bool> {
    let ended = run_quietly(name, command)?;
    report(name, ended.elapsed, ended.success, &ended.output)?;
    Ok(ended.success)
}

/// Runs a function as a step. It returns what is wrong, or nothing.
pub(crate) fn function(
    name: &str,
    body: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<bool> {
    let started = Instant::now();
    let complaint = body().unwrap_or_else(|error| format!("{error:#}\n"));
    report(name, started.elapsed(), complaint.is_empty(), &complaint)?;
    Ok(complaint.is_empty())
}

/// The line of a step, and its output if it failed.
pub(crate) fn report(
    name: &str,
    elapsed: Duration,
    passed: bool,
    output: &str,
) -> anyhow::Result<()> {
    let verdict = if passed { "ok" } else { "FAILED" };
    print(&format!(
        "{name:<16} {verdict:<6} {}\n",
        human_duration(elapsed)
    ))?;
    if !passed {
        print(output)?;
        if !output.ends_with('\n') {
            print("\n")?;
        }
    }
    Ok(())
}

fn log_path(name: &str) -> anyhow::Result<PathBuf> {
    let directory = workspace::path("target/xtask");
    fs::create_dir_all(&directory)
        .with_context(|| format!("could not create {}", directory.display()))?;
    Ok(directory.join(format!("{}.log", name.replace(' ', "-"))))
}
