//! The single binary: operators, offline rendering, plan and apply, packaging.
//!
//! The file name decides what it is: `kaoto`, `clowder` and `manager` behave as the original operators' binaries, `opencenter` has the commands
//! about clusters at its top, `kubectl-mainstay` is a kubectl plugin, everything else is `mainstay`.

mod admission;
mod args;
mod clowder_name;
mod commands;
mod exit;
mod input;
mod kaoto_name;
mod own_kinds;
mod settings;

use std::{ffi::OsString, path::Path, process::ExitCode};

use clap::{CommandFactory, FromArgMatches};
use mainstay_terminal::printer;

use crate::{args::Cli, exit::ExitStatus};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let status = match program(&arguments) {
        "kaoto" => kaoto_name::main(&arguments),
        "clowder" | "manager" => clowder_name::main(&arguments),
        "opencenter" => mainstay_opencenter_cli::main(&arguments),
        "kubectl-mainstay" => mainstay(&arguments, "kubectl mainstay"),
        _ => mainstay(&arguments, "mainstay"),
    };
    status.into()
}

/// File name of the program without its extension.
fn program(arguments: &[OsString]) -> &str {
    let path = arguments.first().map(Path::new);
    path.and_then(Path::file_stem)
        .and_then(|name| name.to_str())
        .unwrap_or("mainstay")
}

fn mainstay(arguments: &[OsString], name: &'static str) -> ExitStatus {
    let matches = match Cli::command()
        .bin_name(name)
        .try_get_matches_from(arguments)
    {
        Ok(matches) => matches,
        Err(error) => return exit::usage(&error),
    };
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => commands::dispatch(cli, name),
        Err(error) => exit::usage(&error),
    }
}
