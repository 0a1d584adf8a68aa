//! The words of this workspace. Compiles in seconds, so that each of them says something at once on a fresh machine.

mod bench;
mod check;
mod debian;
mod demo;
mod generate;
mod parity;
mod planes;
mod printer;
mod product;
mod step;
mod test;
mod workspace;

use std::{ffi::OsString, process::ExitCode};

use mainstay_control_plane::command;

const HELP: &str = "\
The words of this workspace.

Usage: cargo xtask WORD [ARGUMENT]...

  demo           build Mainstay, run it on a local control plane with an example of each system
  test           every check and every test, on local control planes
  check          format, lints, documentation, banned crates, generated files
  generate       write the files that are generated from the code
  bench          measure the release build on a local control plane
  control-plane  a real Kubernetes API on loopback, without containers: up, down, env, status

`cargo xtask WORD --help` says more.
";

/// What a word answers: 0 for yes, 1 for no.
type Answer = anyhow::Result<bool>;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let word = arguments.next().unwrap_or_else(|| OsString::from("--help"));
    let rest: Vec<OsString> = arguments.collect();
    let answer = match word.to_str() {
        Some("control-plane") => return command::main(rest, &planes::launcher()),
        Some("demo") => demo::run(rest),
        Some("test") => test::run(rest),
        Some("check") => check::run(rest),
        Some("generate") => generate::run(rest),
        Some("bench") => bench::run(rest),
        Some("help" | "-h" | "--help") => printer::print(HELP).map(|()| true),
        _ => Err(anyhow::anyhow!(
            "unknown word `{}`\n\nhint: see `cargo xtask --help`",
            word.display()
        )),
    };
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            printer::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
