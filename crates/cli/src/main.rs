//! The single binary: operators, offline rendering, plan and apply, packaging.
//!
//! The file name decides what it is: under the name of an original operator's program it behaves as that one, `opencenter` has the
//! commands about clusters at its top, `kubectl-mainstay` is a kubectl plugin, everything else is `mainstay`.

mod args;
mod commands;
mod exit;
mod input;
mod program;
mod settings;
mod systems;

use std::{ffi::OsString, path::Path, process::ExitCode};

use clap::FromArgMatches;
use mainstay_terminal::printer;

use crate::{args::Cli, exit::ExitStatus};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = file_name(&arguments);
    let status = match name {
        "opencenter" => mainstay_opencenter_cli::main(&arguments),
        "kubectl-mainstay" => mainstay(&arguments, "kubectl mainstay"),
        _ => match program::system_of(name) {
            Some(system) => program::main(system, &arguments),
            None => mainstay(&arguments, "mainstay"),
        },
    };
    status.into()
}

/// File name of the program without its extension.
fn file_name(arguments: &[OsString]) -> &str {
    let path = arguments.first().map(Path::new);
    path.and_then(Path::file_stem)
        .and_then(|name| name.to_str())
        .unwrap_or("mainstay")
}

fn mainstay(arguments: &[OsString], name: &'static str) -> ExitStatus {
    let command = args::command().bin_name(name);
    let matches = match command.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return exit::usage(&error),
    };
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => commands::dispatch(cli, &matches, name),
        Err(error) => exit::usage(&error),
    }
}
