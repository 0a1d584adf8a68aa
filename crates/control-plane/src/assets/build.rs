//! Building the programs from their Go modules.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Error, Program, Versions, human_duration, names, versions::version_number};
use crate::{FileError, Report, process::tail, sources};

/// How often a build that takes long says that it is still at it.
const REMINDER: Duration = Duration::from_secs(30);

/// Builds every program into `directory`.
///
/// One after the other: `go build` uses every core by itself, and the programs of one module share most packages.
pub(super) fn all(directory: &Path, versions: &Versions, report: Report<'_>) -> Result<(), Error> {
    let started = Instant::now();
    for (index, program) in Program::ALL.into_iter().enumerate() {
        let step = format!(
            "building {} ({} of {})",
            program.name(),
            index + 1,
            Program::ALL.len()
        );
        report(&format!(
            "{step}, {} so far",
            human_duration(started.elapsed())
        ));
        one(program, directory, versions, &|elapsed| {
            report(&format!("{step}, for {}", human_duration(elapsed)));
        })?;
    }
    report(&format!(
        "built the control plane in {}",
        human_duration(started.elapsed())
    ));
    Ok(())
}

fn one(
    program: Program,
    directory: &Path,
    versions: &Versions,
    remind: &dyn Fn(Duration),
) -> Result<(), Error> {
    let build = GoBuild {
        name: program.name(),
        package: program.package(),
        module: program.module(versions.release),
        linker_flags: &versions.linker_flags(program),
        wanted_go: &versions.go,
    };
    build.run(directory, remind)
}

/// One call of `go build`.
pub(crate) struct GoBuild<'a> {
    /// File name of the program.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// The module below `control-plane/` that pins the version.
    pub(crate) module: &'static str,
    pub(crate) linker_flags: &'a str,
    /// The version of Go to ask for if there is none.
    pub(crate) wanted_go: &'a str,
}

impl GoBuild<'_> {
    /// Builds into `directory`, and calls `remind` from time to time if it takes long.
    pub(crate) fn run(&self, directory: &Path, remind: &dyn Fn(Duration)) -> Result<(), Error> {
        let output = directory.join(format!("{}.output", self.name));
        let output_file = File::create(&output).map_err(FileError::of("create", &output))?;
        let output_copy = output_file
            .try_clone()
            .map_err(FileError::of("open", &output))?;
        let mut child = Command::new("go")
            .args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly"])
            .args(["-ldflags", self.linker_flags, "-o"])
            .arg(directory.join(self.name))
            .arg(self.package)
            .current_dir(sources::go_module(self.module))
            .stdin(Stdio::null())
            .stdout(output_file)
            .stderr(output_copy)
            .spawn()
            .map_err(|source| no_go(self.wanted_go, source))?;
        let started = Instant::now();
        let mut reminded = started;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => thread::sleep(Duration::from_millis(50)),
                Err(source) => return Err(no_go(self.wanted_go, source)),
            }
            if reminded.elapsed() >= REMINDER {
                reminded = Instant::now();
                remind(started.elapsed());
            }
        };
        if !status.success() {
            return Err(Error::Build {
                program: self.name,
                status,
                output: tail(&output, 30),
            });
        }
        fs::remove_file(&output).map_err(FileError::of("remove", &output))?;
        Ok(())
    }
}

/// Finds out before the first build whether Go will do.
pub(super) fn check_go(versions: &Versions) -> Result<(), Error> {
    let output = Command::new("go")
        .args(["env", "GOVERSION"])
        // In a module, so that a Go which fetches newer versions of itself answers for the one it will use.
        .current_dir(sources::go_module("etcd"))
        .stdin(Stdio::null())
        .output()
        .map_err(|source| no_go(&versions.go, source))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.trim().trim_start_matches("go");
    if output.status.success() && version_number(version) >= version_number(&versions.go) {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(Error::OldGo {
        wanted: versions.go.clone(),
        said: format!("{} {}", said.trim(), errors.trim())
            .trim()
            .to_owned(),
    })
}

pub(crate) fn no_go(wanted: &str, source: std::io::Error) -> Error {
    Error::NoGo {
        wanted: wanted.to_owned(),
        programs: names(&Program::ALL),
        source,
    }
}
