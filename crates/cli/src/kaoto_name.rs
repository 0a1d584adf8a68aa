//! The binary under the name `kaoto`, as the original operator's image starts it: `/kaoto run --leader-election`.

use std::ffi::OsString;

use clap::{Arg, Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    args::{ClowderProcessArgs, ClusterArgs, LogArgs, ProcessArgs, System},
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
        clowder: ClowderProcessArgs,
        #[command(flatten)]
        cluster: ClusterArgs,
    },
}

/// The command line. Flags about Clowder are accepted, so that one set of flags suits the whole program, and not shown.
fn command() -> clap::Command {
    let of_clowder = ClowderProcessArgs::augment_args(clap::Command::new("clowder"));
    let is_of_clowder = move |argument: &Arg| {
        let mut all = of_clowder.get_arguments();
        all.any(|one| one.get_id() == argument.get_id())
    };
    Kaoto::command().mut_subcommand("run", |run| {
        run.mut_args(|argument| {
            let hide = is_of_clowder(&argument);
            argument.hide(hide)
        })
    })
}

fn parse(arguments: &[OsString]) -> Result<Kaoto, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    Kaoto::from_arg_matches(&matches)
}

pub(crate) fn main(arguments: &[OsString]) -> ExitStatus {
    let kaoto = match parse(arguments) {
        Ok(kaoto) => kaoto,
        // Parity: the original ends with 1 on any failure, a wrong flag included.
        Err(error) => return one_for_failure(exit::usage(&error)),
    };
    match kaoto.command {
        // Parity: without a subcommand the original prints nothing and ends well.
        None => ExitStatus::Success,
        Some(Command::Run {
            process,
            clowder,
            cluster,
        }) => {
            let systems = vec![System::Kaoto];
            let result = settings::run(systems, process, clowder, &kaoto.log, cluster)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_shows_no_flag_of_clowder_and_they_are_accepted_all_the_same() {
        let mut command = command();
        let help = command
            .find_subcommand_mut("run")
            .unwrap()
            .render_long_help();
        let help = help.to_string().to_lowercase();
        assert!(help.contains("--leader-election"), "{help}");
        assert!(
            !help.contains("clowder") && !help.contains("--resolve"),
            "{help}"
        );
        let arguments = ["kaoto", "run", "--clowder-webhook-address=0"].map(OsString::from);
        assert!(parse(&arguments).is_ok());
    }
}
