//! The binary under the name `kaoto`, as the original operator's image starts it: `/kaoto run --leader-election`.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::{
    args::{ClusterArgs, LogArgs, ProcessArgs, System},
    commands::run,
    exit::{self, ExitStatus},
    settings,
};

/// Operator for the Kaoto editor.
#[derive(Debug, Parser)]
#[command(name = "kaoto", about, max_term_width = 100)]
struct Kaoto {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the operator
    Run {
        #[command(flatten)]
        process: ProcessArgs,
        #[command(flatten)]
        cluster: ClusterArgs,
    },
}

pub(crate) fn main(arguments: &[OsString]) -> ExitStatus {
    let kaoto = match Kaoto::try_parse_from(arguments) {
        Ok(kaoto) => kaoto,
        // Parity: the original ends with 1 on any failure, a wrong flag included.
        Err(error) => return one_for_failure(exit::usage(&error)),
    };
    match kaoto.command {
        // Parity: without a subcommand the original prints nothing and ends well.
        None => ExitStatus::Success,
        Some(Command::Run { process, cluster }) => {
            let result = settings::run(vec![System::Kaoto], process, &kaoto.log, cluster)
                .and_then(|settings| run::run(&settings));
            one_for_failure(exit::conclude(result))
        }
    }
}

fn one_for_failure(status: ExitStatus) -> ExitStatus {
    match status {
        ExitStatus::Failure => ExitStatus::Difference,
        other => other,
    }
}
